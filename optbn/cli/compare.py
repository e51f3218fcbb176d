"""`optbn compare`: every distance between two graphs."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def compare(
    truth: Annotated[str, typer.Argument(help="A network or structure file, or the name of a bundled network.")],
    estimate: Annotated[str, typer.Argument(help="Another one over the same variables.")],
    sid: Annotated[bool, typer.Option(help="Also the structural intervention distance.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say how far one graph is from another: SHD, skeleton, v-structures, interventions.

    Example: optbn compare alarm learned.bif
    """
    from dataclasses import asdict

    from optbn.evaluate.distances import Retrieval
    from optbn.evaluate.distances import compare as distances

    found = distances(_graph(truth), _graph(estimate), sid=sid)
    if as_json:
        print(json.dumps(asdict(found)))
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
        pairs = found.variables * (found.variables - 1)
        print(f"SID            {found.sid} of {pairs} intervention effects wrong")


def _graph(name_or_path: str) -> object:
    from pathlib import Path

    from optbn.network.catalog import catalog, find_network
    from optbn.network.structure import read_structure

    if name_or_path not in catalog() and Path(name_or_path).is_file():
        return read_structure(name_or_path)
    return find_network(name_or_path)
