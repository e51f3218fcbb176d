"""Several graphs of one score table as text: the k best, one per equivalence class, or a credible set."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import numpy as np

from optbn_solvers.base.errors import CheckFailed
from optbn_solvers.base.solution_json import choice_of, constraints_of
from optbn_solvers.front.posterior import posterior
from optbn_solvers.verify.several import Several

if TYPE_CHECKING:
    from optbn_solvers.base.table import ScoreTable
    from optbn_solvers.front.near import Near

FORMAT: Literal["optbn-graphs-1"] = "optbn-graphs-1"
MOST_OF_ALL = 14  # variables for sums over all graphs, 3^n


class _Arc(msgspec.Struct):
    parent: str
    child: str
    share: float
    probability: float = 0.0


class _Graph(msgspec.Struct):
    score: float
    parents: dict[str, list[str]]


class Graphs(msgspec.Struct, kw_only=True):
    """The file.

    The probability of an arc is over all graphs of the table where that can be computed (few variables, no
    constraints), and `mass` is the part that these graphs have; else it is over these graphs, and `mass` is None. What
    has a default is for people, and not checked.
    """

    format: Literal["optbn-graphs-1"] = FORMAT
    table: str
    variables: list[str]
    constraints: dict[str, Any]
    per_class: bool
    within: Annotated[float, msgspec.Meta(ge=1)] | None
    complete: bool
    count: int = 0
    mass: float | None = None
    probabilities_over: str = ""
    arcs: list[_Arc]
    graphs: list[_Graph]


def described(
    near: Near, per_class: bool, within: float | None, constraints: Mapping[str, Any], only_listed: bool = False
) -> Graphs:
    """Everything about the graphs."""
    table, names = near.table, near.table.names
    shares, chances, mass, over = near.shares(), near.probabilities(), None, "these graphs"
    if table.n <= MOST_OF_ALL and not constraints:
        everything = posterior(table, "graphs", only_listed=only_listed)
        chances, over = everything.arcs, "all graphs of the listed parent sets" if only_listed else "all graphs"
        mass = None if per_class else min(1.0, float(np.exp(near.log_mass - everything.log_total)))
    arcs = [
        _Arc(names[u], names[v], float(shares[u, v]), float(chances[u, v])) for u, v in np.argwhere(shares > 0).tolist()
    ]
    return Graphs(
        table=table.digest,
        variables=list(names),
        constraints=dict(constraints),
        per_class=per_class,
        within=within,
        complete=near.complete,
        count=len(near.choices),
        mass=mass,
        probabilities_over=over,
        arcs=sorted(arcs, key=lambda arc: (-arc.share, arc.parent, arc.child)),
        graphs=[
            _Graph(score, {child: list(parents) for child, parents in table.graph(choice).items()})
            for score, choice in zip(near.scores, near.choices, strict=True)
        ],
    )


def are_graphs(text: bytes) -> bool:
    """Whether an answer is of several graphs."""
    try:
        fields = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return isinstance(fields, dict) and fields.get("format") == FORMAT


def several_of(table: ScoreTable, text: bytes) -> Several:
    """What a file of several graphs says, for the checker; CheckFailed where it is not about the table."""
    try:
        file = msgspec.json.decode(text, type=Graphs)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CheckFailed(f"not a file of graphs: {error}") from None
    if tuple(file.variables) != table.names:
        raise CheckFailed("the graphs are about other variables than the score table, or in another order")
    if file.table != table.digest:
        raise CheckFailed(
            "the graphs belong to another score table: one with other scores, or whose left-out parent sets were "
            "scored again with --data; verify them against scores of all sets (optbn score --keep-dominated)"
        )
    number = {name: v for v, name in enumerate(table.names)}
    if strangers := [name for arc in file.arcs for name in (arc.parent, arc.child) if name not in number]:
        raise CheckFailed(f"the arcs name {strangers[0]!r}, which is not a variable of the table")
    return Several(
        choices=tuple(choice_of(table, graph.parents) for graph in file.graphs),
        scores=tuple(graph.score for graph in file.graphs),
        per_class=file.per_class,
        window=None if file.within is None else math.log(file.within),
        complete=file.complete,
        shares={(number[arc.parent], number[arc.child]): arc.share for arc in file.arcs},
        constraints=constraints_of(table, file.constraints),
    )


def in_words(found: Graphs) -> list[str]:
    """A few lines for people."""
    one, many = ("class of graphs", "classes of graphs") if found.per_class else ("graph", "graphs")
    kind = one if found.count == 1 else many
    scores = [graph.score for graph in found.graphs]
    whole = "" if found.complete else ", and there may be more"
    lines = [f"{found.count} {kind}{whole}, scores {scores[0]:.6f} to {scores[-1]:.6f}"]
    if found.mass is not None:
        lines.append(f"together they have {found.mass:.2%} of the probability of all graphs of the table")
    shares = [arc.share for arc in found.arcs]
    possible = len(found.variables) * (len(found.variables) - 1)
    everywhere, mostly = sum(s == 1.0 for s in shares), sum(0.5 <= s < 1.0 for s in shares)
    lines.append(
        f"possible arcs: {everywhere} in all of them, {mostly} in at least half, "
        f"{len(shares) - everywhere - mostly} in fewer, {possible - len(shares)} in none"
    )
    return lines


def as_adjacency(found: Graphs) -> str:
    """Per graph a line with its score and a line per variable; a blank line between graphs."""
    blocks = []
    for graph in found.graphs:
        lines = [f"# {graph.score!r}"]
        lines += [f"{child}: {', '.join(parents)}".rstrip() for child, parents in graph.parents.items()]
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)
