"""`optbn gap`: how far a graph is from the best one for some data, and whether they agree with it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

import optbn
from optbn.base.numbers import counted
from optbn.cli.options import Values, with_options
from optbn.cli.reading import DataArgument, with_reading
from optbn.cli.texts import score_name, settings
from optbn.scores import load_score

if TYPE_CHECKING:
    from optbn.evaluate.markov import MarkovCheck

GRAPH = typer.Argument(help="A graph or network file (see optbn compare), or the name of a bundled network.")
LEVEL = 0.05


@with_options("gap")
@with_reading
def gap(how: dict[str, Any], data: DataArgument, graph: Annotated[str, GRAPH], options: Values) -> None:
    """Show how much worse a graph scores than the best one, where it loses, and whether the data contradict it.

    Example: optbn gap data.csv theirs.dot --score bdeu
    """
    from optbn.learning.restrictions import named

    method = load_score(options.score, **settings(options.setting))
    found = optbn.gap(
        data, graph, **options.in_time("gap") | {"score": method}, reading=how | {"missing": options.missing}
    )
    rows = found.families()
    if options.as_json:
        print(json.dumps({
            "gap": found.nats, "score": found.score, "best": found.best_score, "proved": found.proved, "families": rows,
            "restrictions": found.restrictions,
            "arcs": found.graph.arcs, "best_arcs": found.best.arcs, "check": _as_json(found.check),
        }))  # fmt: skip
        return
    by, arcs = score_name(method), counted(found.graph.n_arcs, "arc")
    print(f"The graph has {arcs} and scores {found.score:.6f} nats ({by}), {_compared(found.nats)}.")
    only, proof = ("", "proved") if found.proved else (" found", "not proved")
    print(f"{named(found.restrictions)}{only}: {found.best_score:.6f} nats ({proof}).")
    if rows:
        print(f"\nThe nats lost at each of the {len(rows)} variables that have other parents there\n")
        width = max(len(row["variable"]) for row in rows)
        for row in rows[: options.most]:
            mine, its = (", ".join(row[key]) or "nothing" for key in ("parents", "best_parents"))
            print(f"  {row['variable']:<{width}}  {row['loss']:10.3f}  {mine}  (best: {its})")
        if len(rows) > options.most:
            print(f"  and {len(rows) - options.most} more (--most)")
    if found.check is not None:
        _print_check(found.check, options.most)


def _compared(nats: float) -> str:
    if abs(nats) < 1e-9:
        return "as much as the best network"
    return f"{abs(nats):.6f} nats {'below' if nats > 0 else 'above'} the best network"


def _print_check(check: MarkovCheck, most: int) -> None:
    rejected = check.rejected(LEVEL)
    print(
        f"\n{len(check.tests)} independences that the graph implies were tested: {check.share_below(LEVEL):.1%} of the "
        f"p-values are below {LEVEL} (about {LEVEL:.0%} where it holds)."
    )
    if check.silent:
        print(f"{check.silent} more cannot be tested with these rows.")
    if check.skipped:
        print(f"{check.skipped} more were not tested: no time was left.")
    print(f"That they are uniform, as they would be, has the p-value {check.uniformity:.3g}, were they independent.")
    if not rejected:
        print("None is rejected: the data do not contradict the graph.")
        return
    print(f"The data contradict {len(rejected)}, with at most {LEVEL:.0%} of them expected to be false alarms:\n")
    for test in rejected[:most]:
        given = f" given {', '.join(test.given)}" if test.given else ""
        print(f"  {test.one} independent of {test.other}{given}: p = {test.p:.2g}")
    if len(rejected) > most:
        print(f"  and {len(rejected) - most} more (--most)")


def _as_json(check: MarkovCheck | None) -> dict[str, Any] | None:
    if check is None:
        return None
    return {
        "tests": [test._asdict() for test in check.tests],
        "untestable": check.silent,
        "no_time": check.skipped,
        "uniformity": check.uniformity,
        "rejected": len(check.rejected(LEVEL)),
    }
