"""`optbn compare`: every distance between two graphs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optbn.cli.reading import lines

if TYPE_CHECKING:
    from optbn.evaluate.density import Estimate


def compare(
    truth: Annotated[str, typer.Argument(help="A network or structure file, or the name of a bundled network.")],
    estimate: Annotated[str, typer.Argument(help="Another one over the same variables.")],
    sid: Annotated[bool, typer.Option(help="Also the structural intervention distance.")] = True,
    known: Annotated[
        Path | None, typer.Option(help="A file with two names a line: the pairs of which the truth is known.")
    ] = None,
    divergence: Annotated[
        bool, typer.Option("--divergence", help="Also the divergence (KL) of the second network from the first.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say how far one graph is from another: SHD, skeleton, v-structures, interventions.

    Example: optbn compare alarm learned.bif
    """
    from dataclasses import asdict

    from optbn.evaluate.distances import Retrieval
    from optbn.evaluate.distances import compare as distances

    pairs = None if known is None else _pairs(known)
    found = distances(_graph(truth), _graph(estimate), sid=sid, known=pairs)
    nats = _divergence(truth, estimate) if divergence else None
    if as_json:
        print(json.dumps(asdict(found) | ({} if nats is None else {"divergence": asdict(nats)})))
        return

    def retrieval(name: str, r: Retrieval) -> str:
        return f"{name:<14} precision {r.precision:.3f}  recall {r.recall:.3f}  F1 {r.f1:.3f}"

    arcs = found.arcs
    print(f"{found.variables} variables; arcs: {found.true_arcs} in the first, {found.estimated_arcs} in the second")
    print(f"SHD            {found.shd_dag} between the DAGs, {found.shd_cpdag} between their CPDAGs")
    print(
        f"arcs           {arcs.correct} correct, {arcs.reversed} reversed, {arcs.missing} missing, {arcs.extra} extra"
    )
    print(retrieval("skeleton", found.skeleton))
    print(retrieval("v-structures", found.v_structures))
    if found.sid is not None:
        ordered = found.variables * (found.variables - 1)
        print(f"SID            {found.sid} of {ordered} intervention effects wrong")
    if pairs is not None:
        print(
            f"known pairs    {found.partial_dag} of {len(pairs)} wrong in the DAGs, {found.partial_cpdag} in the CPDAGs"
        )
    if nats is not None:
        exact = "exact" if nats.error == 0.0 else f"± {nats.error:.2g}, from a sample"
        print(f"divergence     {nats.value:.6g} nats ({exact})")


def _pairs(path: Path) -> list[tuple[str, str]]:
    """Pairs of names, separated by a comma or blanks; blank lines and comments are skipped."""
    from optbn.base.errors import DataError

    pairs: dict[tuple[str, str], None] = {}
    for i, line in lines(path):
        names = [name.strip() for name in line.split(",")] if "," in line else line.split()
        if len(names) != 2:
            raise DataError(f"{path}, line {i}: expected two names, got {line!r}")
        pairs[min(names), max(names)] = None
    return list(pairs)


def _divergence(truth: str, estimate: str) -> Estimate:
    from optbn.evaluate.density import divergence
    from optbn.network.catalog import load_network

    return divergence(load_network(truth), load_network(estimate))


def _graph(name_or_path: str) -> object:
    from optbn.network.catalog import catalog, load_network
    from optbn.network.structure import read_structure

    if name_or_path not in catalog() and Path(name_or_path).is_file():
        return read_structure(name_or_path)
    return load_network(name_or_path)
