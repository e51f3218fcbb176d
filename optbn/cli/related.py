"""`optbn related`: graphs and probabilities of related data sets, alike as far as a price says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

import optbn
from optbn.base.numbers import counted
from optbn.cli.options import Values, with_options
from optbn.cli.reading import DataArgument, reading, with_reading
from optbn.cli.texts import settings
from optbn.cli.writing import check_network_file, write_each
from optbn.scores import load_score
from optbn_solvers.base.standing import Standing, standing

if TYPE_CHECKING:
    from optbn.learning.differing import DifferingNetworks


@with_options("related")
@with_reading
def related(how: dict[str, Any], data: DataArgument, options: Values) -> None:
    """Find a graph for each of several related data sets; each arc that differs between them costs a price.

    For one graph with probabilities of each data set's own: optbn learn and optbn fit --domain.

    Example: optbn related data.csv --domain town --price 3 -o towns.json
    """
    from optbn.data.anything import as_dataset

    if options.output is not None:
        check_network_file(options.output, data)
    method = load_score(options.score, **settings(options.setting))
    with reading() as progress:
        rows = as_dataset(data, how.pop("schema"), options.missing, {**how, "progress": progress})
    found = optbn.learn_differing(
        rows, options.domain, price=options.price, **options.keywords("related") | {"score": method}
    )
    word = standing(found.solution)
    if options.as_json:
        print(json.dumps(_as_json(found, word)))
    else:
        _print(found, word, options.score, options.max_parents)
    if options.output is not None:
        for line in write_each(list(found.networks), list(found.networks.values()), options.output):
            print(line)
    if word != Standing.PROVED:
        raise typer.Exit(3)


def _as_json(found: DifferingNetworks, word: str) -> dict[str, Any]:
    return {
        "score": found.solution.score,
        "bound": found.solution.bound,
        "proof": word,
        "price": found.price,
        "common": [list(arc) for arc in found.common.arcs],
        "differences": [
            {"domain": level, "arc": list(arc), "present": present}
            for (level, arc), present in found.differences.items()
        ],
    }


def _print(found: DifferingNetworks, word: str, score: str, max_parents: int) -> None:
    domains, differences = len(found.structures), len(found.differences)
    print(f"{counted(domains, 'data set')}, {counted(len(found.common.names), 'variable')}")
    print(
        f"{score} scores less {counted(differences, 'difference')} at {found.price:g} nats each: "
        f"{found.solution.score:.6f} nats."
    )
    proof = "proved optimal, checked independently" if word == "proved" else f"{word}, not proved"
    parents = f"at most {counted(max_parents, 'parent')} per variable in all of them together"
    print(f"Best graphs with {parents}, and no arc turned round between them: {proof}.")
    print("\narcs of the common graph" + ("" if found.common.arcs else ": none"))
    for parent, child in found.common.arcs:
        without = [
            level for (level, arc), present in found.differences.items() if arc == (parent, child) and not present
        ]
        print(f"  {parent} -> {child}" + (f"  (not in {', '.join(without)})" if without else ""))
    more = sorted({arc for (_, arc), present in found.differences.items() if present})
    if more:
        print("\narcs of some data sets only")
    for parent, child in more:
        within = [level for (level, arc), present in found.differences.items() if arc == (parent, child) and present]
        print(f"  {parent} -> {child}  (in {', '.join(within)})")
