"""`optbn compare`: every distance between two graphs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import optbn
from optbn.base.errors import DataError
from optbn.cli.reading import lines

if TYPE_CHECKING:
    from optbn.evaluate.density import Estimate
    from optbn.evaluate.distances import Comparison, Confusion, Retrieval
    from optbn.evaluate.graphs import Graph


def compare(
    truth: Annotated[str, typer.Argument(help="A graph or network file, or the name of a bundled network.")],
    estimate: Annotated[str, typer.Argument(help="Another graph over the same variables.")],
    sid: Annotated[bool, typer.Option(help="Also compute the structural intervention distance.")] = True,
    known: Annotated[
        Path | None, typer.Option(help="A file with two names per line: the pairs for which the truth is known.")
    ] = None,
    divergence: Annotated[
        bool,
        typer.Option("--divergence", help="Also compute the divergence (KL) of the second network from the first."),
    ] = False,
    data: Annotated[Path | None, typer.Option(help="Score both graphs on the rows of this file.")] = None,
    score: Annotated[str, typer.Option(help="The score for --data; bdeu:10 is bdeu with sample size 10.")] = "bdeu",
    held_out: Annotated[
        Path | None, typer.Option(help="Predict the rows of this file, with parameters fitted to --data.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure how far one graph is from another: SHD, skeleton, v-structures, interventions.

    Graphs may be DAGs, classes (CPDAG, PDAG) or undirected. Files: optbn's, those of networks, GraphML, DOT, Tetrad's
    text, a csv matrix (1 in row u, column v for u -> v, in both places for u - v), a list of edges (a -> b, a -- b).

    Example: optbn compare alarm learned.bif
    """
    from optbn.evaluate.files import read_graph

    if held_out is not None and data is None:
        raise DataError("--held-out needs --data, the rows to fit parameters to")
    pairs = None if known is None else _pairs(known)
    first, second = read_graph(truth), read_graph(estimate)
    found = optbn.compare(first, second, sid=sid, known=pairs)
    nats = _divergence(truth, estimate) if divergence else None
    worth = {} if data is None else _worth([first, second], data, score, held_out)
    if as_json:
        print(json.dumps(asdict(found) | ({} if nats is None else {"divergence": asdict(nats)}) | worth))
        return
    for line in _lines(found, None if pairs is None else len(pairs)):
        print(line)
    if nats is not None:
        exact = "exact" if nats.error == 0.0 else f"± {nats.error:.2g}, from a sample"
        print(f"divergence     {nats.value:.6g} nats ({exact})")
    if worth:
        a, b = worth["scores"]
        print(
            f"score ({score}) {a:.6f} and {b:.6f}: the second is {abs(b - a):.6f} nats {'below' if b < a else 'above'}"
        )
    if held_out is not None:
        a, b = worth["held_out"]
        print(f"held out       {a:.6f} and {b:.6f} nats a row")


def _lines(found: Comparison, pairs: int | None) -> Iterator[str]:
    """The comparison for people."""

    def retrieval(name: str, r: Retrieval) -> str:
        return f"{name:<14} precision {r.precision:.3f}  recall {r.recall:.3f}  F1 {r.f1:.3f}"

    def fate(name: str, c: Confusion) -> str:
        half = f", {c.undirected} with a direction in one only" if c.undirected else ""
        return f"{name:<14} {c.correct} correct, {c.reversed} reversed{half}, {c.missing} missing, {c.extra} extra"

    counts = f"{found.true_arcs} in the first, {found.estimated_arcs} in the second"
    if found.kinds != ("DAG", "DAG"):
        counts = f"{found.true_arcs} in the first ({found.kinds[0]}), "
        counts += f"{found.estimated_arcs} in the second ({found.kinds[1]})"
    yield f"{found.variables} variables; {'arcs' if found.kinds == ('DAG', 'DAG') else 'edges'}: {counts}"
    levels = {"DAGs": found.shd_dag, "CPDAGs": found.shd_cpdag, "skeletons": found.shd_skeleton}
    words = [f"{value} between the {level}" for level, value in levels.items() if value is not None]
    yield f"SHD            {', '.join(words)} (a reversed arc counts once)"
    if found.arcs is not None:
        yield fate("arcs", found.arcs)
    elif found.cpdag_arcs is not None:
        yield fate("edges", found.cpdag_arcs)
    yield retrieval("skeleton", found.skeleton)
    if found.arrowheads is not None:
        yield retrieval("arrowheads", found.arrowheads)
    elif found.cpdag_arrowheads is not None:
        yield retrieval("arrowheads", found.cpdag_arrowheads) + "  (of the classes)"
    if found.v_structures is not None:
        yield retrieval("v-structures", found.v_structures)
    yield f"balanced score {found.balanced_score:.3f} (1 is the truth, 0 the empty graph)"
    ordered = found.variables * (found.variables - 1)
    if found.sid is not None:
        yield f"SID            {found.sid} of {ordered} intervention effects wrong"
    if (bounds := found.sid_bounds) is not None and (found.sid is None or bounds.low < bounds.high):
        reached = "" if bounds.exact else ", bounds that need not be reached"
        which = "of the second's class" if found.sid is not None else "of the second"
        yield f"SID            {bounds.low} to {bounds.high} over the DAGs {which}{reached}"
    if pairs is not None:
        wrong = {"DAGs": found.partial_dag, "CPDAGs": found.partial_cpdag}
        words = [f"{value} of {pairs} wrong in the {level}" for level, value in wrong.items() if value is not None]
        yield f"known pairs    {', '.join(words) if words else 'an undirected graph does not say'}"


def _worth(graphs: list[Graph], data: Path, score: str, held_out: Path | None) -> dict[str, list[float]]:
    """Scores of both graphs, and the log-likelihood of rows they have not seen."""
    from optbn.experiments.learning import method
    from optbn.experiments.worth import held_out as predicted
    from optbn.experiments.worth import score_of

    rows = optbn.read(data)
    name, settings = method(score)
    found = {"scores": [score_of(graph, rows, name, settings) for graph in graphs]}
    if held_out is not None:
        fresh = optbn.read(held_out, rows.schema)
        found["held_out"] = [predicted(graph, rows, fresh).value for graph in graphs]
    return found


def _pairs(path: Path) -> list[tuple[str, str]]:
    """Pairs of names, separated by a comma or blanks; blank lines and comments are skipped."""
    pairs: dict[tuple[str, str], None] = {}
    for i, line in lines(path):
        names = [name.strip() for name in line.split(",")] if "," in line else line.split()
        if len(names) != 2:
            raise DataError(f"{path}, line {i}: expected two names, got {line!r}")
        pairs[min(names), max(names)] = None
    return list(pairs)


def _divergence(truth: str, estimate: str) -> Estimate:
    from optbn.evaluate.density import divergence

    return divergence(optbn.load_network(truth), optbn.load_network(estimate))
