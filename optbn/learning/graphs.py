"""Several graphs of one score table as text: the k best, one per equivalence class, or a credible set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from optbn_solvers.front.posterior import posterior

if TYPE_CHECKING:
    from optbn_solvers.front.near import Near

MOST_OF_ALL = 14  # variables for sums over all graphs, 3^n


def described(
    near: Near, per_class: bool, within: float | None, constraints: Mapping[str, Any], only_listed: bool = False
) -> dict[str, Any]:
    """Everything about the graphs, as plain values.

    The probability of an arc is over all graphs of the table where that can be computed (few variables, no
    constraints), and `mass` is the part that these graphs have; else it is over these graphs, and `mass` is None.
    """
    table, names = near.table, near.table.names
    shares, chances, mass, over = near.shares(), near.probabilities(), None, "these graphs"
    if table.n <= MOST_OF_ALL and not constraints:
        everything = posterior(table, "graphs", only_listed=only_listed)
        chances, over = everything.arcs, "all graphs of the listed parent sets" if only_listed else "all graphs"
        mass = None if per_class else min(1.0, float(np.exp(near.log_mass - everything.log_total)))
    arcs = [
        {"parent": names[u], "child": names[v], "share": float(shares[u, v]), "probability": float(chances[u, v])}
        for u, v in np.argwhere(shares > 0).tolist()
    ]
    return {
        "format": "optbn-graphs-1",
        "table": table.digest,
        "variables": list(names),
        "constraints": dict(constraints),
        "per_class": per_class,
        "within": within,
        "complete": near.complete,
        "count": len(near.choices),
        "mass": mass,
        "probabilities_over": over,
        "arcs": sorted(arcs, key=lambda arc: (-arc["share"], arc["parent"], arc["child"])),
        "graphs": [
            {"score": score, "parents": {child: list(parents) for child, parents in table.graph(choice).items()}}
            for score, choice in zip(near.scores, near.choices, strict=True)
        ],
    }


def in_words(found: Mapping[str, Any]) -> list[str]:
    """A few lines for people."""
    one, many = ("class of graphs", "classes of graphs") if found["per_class"] else ("graph", "graphs")
    kind = one if found["count"] == 1 else many
    scores = [graph["score"] for graph in found["graphs"]]
    whole = "" if found["complete"] else ", and there may be more"
    lines = [f"{found['count']} {kind}{whole}, scores {scores[0]:.6f} to {scores[-1]:.6f}"]
    if found["mass"] is not None:
        lines.append(f"together they have {found['mass']:.2%} of the probability of all graphs of the table")
    shares = [arc["share"] for arc in found["arcs"]]
    possible = len(found["variables"]) * (len(found["variables"]) - 1)
    everywhere, mostly = sum(s == 1.0 for s in shares), sum(0.5 <= s < 1.0 for s in shares)
    lines.append(
        f"possible arcs: {everywhere} in all of them, {mostly} in at least half, "
        f"{len(shares) - everywhere - mostly} in fewer, {possible - len(shares)} in none"
    )
    return lines


def as_adjacency(found: Mapping[str, Any]) -> str:
    """Per graph a line with its score and a line per variable; a blank line between graphs."""
    blocks = []
    for graph in found["graphs"]:
        lines = [f"# {graph['score']!r}"]
        lines += [f"{child}: {', '.join(parents)}".rstrip() for child, parents in graph["parents"].items()]
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)
