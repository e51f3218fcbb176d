"""`optbn edges`: what the best network loses without each of its arcs, and with those that it does not have."""

from __future__ import annotations

import json
import math
from typing import Any

import optbn
from optbn.base.numbers import counted
from optbn.cli.options import Values, with_options
from optbn.cli.progress import bars
from optbn.cli.reading import DataArgument, with_reading
from optbn.cli.texts import score_name, settings
from optbn.scores import load_score


@with_options("edges")
@with_reading
def edges(how: dict[str, Any], data: DataArgument, options: Values) -> None:
    """Show how much each arc matters: the score lost without it, with it reversed, or without the adjacency.

    Example: optbn edges data.csv --score bdeu --max-parents 3
    """
    from optbn.learning.restrictions import named

    method = load_score(options.score, **settings(options.setting))
    with bars("count") as show:
        found = optbn.edges(
            data,
            **options.in_time("edges") | {"score": method},
            reading=how | {"missing": options.missing},
            progress=show,
        )
    rows = found.rows()
    if options.as_json:
        finite = [{key: _plain(value) for key, value in row.items()} for row in rows]
        answer = {"score": found.score, "proved": found.proved, "restrictions": found.restrictions, "arcs": finite}
        print(json.dumps(answer))
        return
    present = [row for row in rows if row["present"]]
    absent = [row for row in rows if not row["present"]][: options.most]
    by = "" if found.proved else ", says the search"
    print(
        f"{named(found.restrictions)}{by}: {score_name(method)} score {found.score:.6f} nats, "
        f"{counted(len(present), 'arc')}; {_proved(rows)}."
    )
    _table(
        "Arcs, and the nats lost without them",
        ("arc", "without it", "turned", "not adjacent"),
        [(_arc(r), _nats(r, "loss"), _nats(r, "turned"), _nats(r, "without_adjacency")) for r in present],
    )
    if absent:
        _table(
            f"The {len(absent)} nearest other arcs, and the nats lost with them",
            ("arc", "with it"),
            [(_arc(r), _nats(r, "loss")) for r in absent],
        )


def _proved(rows: list[dict[str, Any]]) -> str:
    """What is proved of the losses."""
    open_ = sum(not row["proved"] and not math.isnan(row["loss"]) for row in rows)
    late = sum(math.isnan(row["loss"]) for row in rows)
    words = ["losses with a * are not proved"] if open_ else []
    words += [f"there was no time for {late:,} of {len(rows):,} losses"] if late else []
    return ", ".join(words) or "every loss below is proved"


def _arc(row: dict[str, Any]) -> str:
    return f"{row['from']} -> {row['to']}"


def _nats(row: dict[str, Any], column: str) -> str:
    value = row[column]
    if math.isnan(value):
        return "no time"
    if math.isinf(value):
        return "impossible"
    return f"{value:.3f}{'' if row['proved'] else ' *'}"


def _plain(value: Any) -> Any:
    """JSON has no nan and no infinity."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _table(title: str, head: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    widths = [max(len(line[i]) for line in (head, *rows)) for i in range(len(head))]
    print(f"\n{title}")
    for line in (head, *rows):
        cells = [
            line[0].ljust(widths[0]),
            *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)),
        ]
        print("  " + "  ".join(cells))
