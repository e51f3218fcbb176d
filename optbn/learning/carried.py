"""The proof that a page carries: families, graph and evidence as plain values, which its script goes through again.

    {"names": [..], "exponent": 35, "families": [[[[parents], units], ..] per variable], "graph": [[parents] ..],
     "evidence": the JSON of `optbn_solvers.base.evidence_json`, trees as the numbers of their records, unpacked}

Units are of 2^-exponent, variables their place among the names. Whole numbers that a script would round are texts.
Only what the script can check is carried, and only if it is small: pages are sent by mail.
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import TYPE_CHECKING, Any

import msgspec

from optbn_solvers.base.evidence_json import written
from optbn_solvers.base.solution import Evidence, Exhausted, Parts, Proof
from optbn_solvers.base.standing import Standing, standing

if TYPE_CHECKING:
    from optbn.network.structure import Structure
    from optbn_solvers import ScoreTable, Solution

LARGEST = 2_000_000  # bytes
LARGEST_CLAIM = 20  # variables whose optimum the script finds by a recursion of its own (web/proof.js)
EXACT = 1 << 53


def carried(table: ScoreTable, solution: Solution, structure: Structure) -> dict[str, Any] | None:
    """The proof that the structure is the best one of the table; None where a page cannot check it, or not carry it."""
    if standing(solution) is not Standing.PROVED or solution.constraints or solution.table_digest != table.digest:
        return None
    choice, evidence = solution.choice, solution.evidence
    if choice is None or not _checkable(evidence, table.n):
        return None
    graph = table.graph(choice)
    if {(u, v) for v, parents in graph.items() for u in parents} != set(structure.arcs):
        return None
    units = table.units.tolist()
    found = {
        "names": list(table.names),
        "exponent": table.exponent,
        "families": [[[list(table.parents(row)), units[row]] for row in table.rows(v)] for v in range(table.n)],
        "graph": [list(table.parents(row)) for row in choice],
        "evidence": _plain(msgspec.to_builtins(written(evidence)) if evidence is not None else NOTHING),
    }
    return found if len(json.dumps(found, separators=(",", ":"))) <= LARGEST else None


NOTHING = {"kind": "rows", "stages": [], "denominator": 1}  # every variable has its best family


def _checkable(evidence: Evidence | None, n: int) -> bool:
    """Whether the script knows this kind of evidence."""
    if isinstance(evidence, Parts):
        return all(_checkable(part.evidence, len(part.members)) for part in evidence.parts)
    return not isinstance(evidence, Proof) and (not isinstance(evidence, Exhausted) or n <= LARGEST_CLAIM)


def _plain(value: Any) -> Any:
    """JSON values in which no number is rounded, and no tree is compressed."""
    if isinstance(value, dict):
        if value.get("kind") == "tree":
            numbers = base64.b64encode(zlib.decompress(base64.b64decode(value["body"]))).decode()
            return {"kind": "tree", "numbers": numbers, "nodes": value["nodes"], "denominator": value["denominator"]}
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, int) and abs(value) >= EXACT else value
