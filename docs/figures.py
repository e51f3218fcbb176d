"""Puts the measured figures of results/ into the tables of docs/choosing.md: `python docs/figures.py`.

Each table stands between <!-- figures: NAME --> and <!-- end -->, and is made anew from the reports in results/, so no
figure in it was typed by hand.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "choosing.md"


def table_below(report: str, *headings: str) -> list[list[str]]:
    """The rows (header first) of the first table below the headings, each searched for after the one before."""
    text = (ROOT / "results" / report / "README.md").read_text(encoding="utf-8")
    for heading in headings:
        text = text[text.index(heading) :]
    lines = text[text.index("|") :].splitlines()
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return [rows[0], *rows[2:]]


def markdown(rows: list[list[str]]) -> str:
    head, *body = rows
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def recovery() -> str:
    """How far the learned graph is from the true one, by score, at a few sample sizes."""
    out = [["network", "rows", "pcart", "pcartp", "ft", "ftp"]]
    for network in ("alarm", "insurance", "water"):
        head, *rows = table_below("recovery", "## Structural Hamming distance between DAGs", f"### {network}")
        at = [head.index(score) for score in out[0][2:]]
        out += [[network, row[0], *(row[i] for i in at)] for row in rows if row[0] in ("200", "1600", "6400")]
    return markdown(out)


def scoring() -> str:
    """What scoring costs."""
    rows = table_below("phase1", "# phase1")
    wanted = (
        "alarm, N = 5,000, bdeu, D = 3",
        "alarm, N = 5,000, bic, D = 3",
        "alarm, N = 5,000, ft, D = 4",
        "alarm, N = 1,600, pcart, D = 4",
        "insurance, N = 1,600, pcart, D = 4",
        "mixed12, N = 1,600, pcart, D = 4",
        "mixed12, N = 1,600, ft, D = 4",
        "parkinsons, N = 5,875, pcart, D = 4",
    )
    found = {row[0]: row for row in rows}
    out = [["data, rows, score, most parents", "CPU", "families"]]
    for name in wanted:
        families = re.search(r"([\d,]+) families", found[name][4])
        out.append([name, found[name][1], families[1] if families else ""])
    return markdown(out)


def hyper() -> str:
    """Recovery and divergence by alpha and by the number of halvings."""
    keys = ["SHD between DAGs", "SHD between CPDAGs", "divergence, nats per row"]
    out = [["setting", *keys]]
    for name, headings in (("alpha", ("## One at a time", "\n| alpha")), ("s", ("Over the", "\n| s |"))):
        rows = table_below("hyper", *headings)[1:]
        out += [[f"{name} = {row[0]}", *(cell.split(" ")[0] for cell in row[1:4])] for row in rows]
    return markdown(out)


def solvers() -> str:
    """Seconds to a checked optimum, by solver."""
    told = table_below("ilp", "# ilp")[1:]
    ilp = {row[0]: row[1] + ("" if "gap 0" in row[4] else ", not proved") for row in told}
    cp = {row[0].removesuffix(": solve"): row[1] for row in table_below("cp", "# cp")[1:] if row[0].endswith(": solve")}
    dp = {row[0].removeprefix("dp: "): row[1] for row in table_below("phase2", "# phase2")[1:] if row[0][:2] == "dp"}
    names = [name for name in dict.fromkeys([*ilp, *cp, *dp]) if re.fullmatch(r"[\w]+", name)]
    return markdown(
        [["instance", "ilp", "cp", "dp"], *([n, ilp.get(n, ""), cp.get(n, ""), dp.get(n, "")] for n in names)]
    )


def smoothers() -> str:
    """Excess divergence over the best smoother, learned structures."""
    return markdown(table_below("smoothing-density", "## Which smoother when", "### optimal structures"))


def cuts() -> str:
    """Where trees should cut real columns."""
    head, *rows = table_below("cuts", "# Where")
    wanted = ["D", "cuts", "s", "nats a row", "median", "better-same-worse", "p", "CPU s"]
    return markdown([wanted, *([row[head.index(name)] for name in wanted] for row in rows)])


TABLES = {
    "cuts": cuts,
    "recovery": recovery,
    "hyper": hyper,
    "scoring": scoring,
    "solvers": solvers,
    "smoothers": smoothers,
}


def filled(page: str) -> str:
    """The page with its tables made anew."""
    for name, make in TABLES.items():
        pattern = re.compile(rf"(<!-- figures: {name} -->\n).*?(\n<!-- end -->)", re.S)
        page, found = pattern.subn(lambda match, make=make: match[1] + make() + match[2], page)
        assert found == 1, name
    return page


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
