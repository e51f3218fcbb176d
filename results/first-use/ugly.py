"""Ten real tables written the way people have them; of each `describe`, and `learn` to a page about its last column.

    OPTBN_DATA=... python results/first-use/ugly.py [SECONDS] > results/first-use/dialogue.txt

Needs the tables of $OPTBN_DATA/datasets. Each is written in another way: decimal commas, thousands, UTF-16, an index
column, -999 for what is missing, a total in the last line. Rows are at most 5,000.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

Rows = list[list[str]]
MOST_ROWS = 5_000


def cells(name: str, missing: str, number: Callable[[float], str]) -> Rows:
    """A header and rows of texts."""
    table = pyarrow.parquet.read_table(Path(os.environ["OPTBN_DATA"]) / "datasets" / f"{name}.parquet")
    columns = []
    for column in table.slice(0, MOST_ROWS).columns:
        real = pa.types.is_floating(column.type)
        texts = [number(value) if real and value is not None else value for value in column.to_pylist()]
        columns.append([missing if text is None else str(text) for text in texts])
    return [list(table.column_names), *map(list, zip(*columns, strict=True))]


def comma(x: float) -> str:
    return f"{x:.3f}".replace(".", ",")


def european(x: float) -> str:
    return f"{x:,.2f}".replace(",", "_").replace(".", ",").replace("_", ".")


def pandas(x: float) -> str:
    return repr(float(x))


def plain(x: float) -> str:
    return str(int(x)) if x == int(x) else repr(x)


def joined(rows: Rows, delimiter: str = ",") -> str:
    return "".join(delimiter.join(f'"{c}"' if delimiter in c else c for c in row) + "\n" for row in rows)


def indexed(rows: Rows) -> Rows:
    return [["", *rows[0]], *([str(i), *row] for i, row in enumerate(rows[1:]))]


def with_total(rows: Rows) -> Rows:
    return [*rows, ["Total", *("1" for _ in rows[0][1:])]]


FILES: dict[str, Callable[[], bytes]] = {
    "adult": lambda: joined(cells("adult", "?", lambda x: f"{x:,.0f}")).encode(),
    "hepatitis": lambda: joined(indexed(cells("hepatitis", "", pandas))).encode(),
    "soybean": lambda: joined(cells("soybean", "NA", plain), "\t").encode("utf-16"),
    "german": lambda: ("sep=;\n" + joined(cells("german", "-", comma), ";")).encode("cp1252"),
    "labor": lambda: joined(cells("labor", "n/a", comma), ";").encode(),
    "mushroom": lambda: joined(indexed(cells("mushroom", "", plain)), "|").encode("utf-8-sig"),
    "diabetes-442": lambda: joined(cells("diabetes-442", "-999", european), ";").encode(),
    "vote": lambda: joined(cells("vote", "#N/A", plain)).encode(),
    "wine": lambda: joined(with_total(cells("wine", "", plain))).encode(),
    "zoo": lambda: joined(
        [[c + " " * (i == 0) for i, c in enumerate(row)] for row in cells("zoo", "", plain)]
    ).encode(),
}


def main(seconds: str) -> None:
    """Print commands, what they say, and how long they take."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in FILES.items():
            (Path(folder) / f"{name}.csv").write_bytes(content())
            target = cells(name, "", plain)[0][-1]
            learn = ["learn", f"{name}.csv", "--time-limit", seconds, "--target", target, "--report", f"{name}.html"]
            for arguments in (["describe", f"{name}.csv"], learn):
                start = time.monotonic()
                done = subprocess.run(
                    [sys.executable, "-m", "optbn", *arguments], cwd=folder, capture_output=True, text=True, check=False
                )
                took = time.monotonic() - start
                said = f"$ optbn {' '.join(arguments)}\n{done.stderr}{done.stdout}"
                sys.stdout.write(f"{said}[exit {done.returncode}, {took:.1f} s]\n\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "60")
