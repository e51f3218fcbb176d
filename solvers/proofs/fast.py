"""The compiled checker of proofs: the same rules as `reference`, for proofs of any size.

Numbers that 64 bits do not hold are left to the reference.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from solvers.errors import CheckFailed
from solvers.proofs import reference
from solvers.proofs.format import read_proof
from solvers.proofs.kernels import tree, varint
from solvers.table import ScoreTable

LARGEST_DENOMINATOR = 1 << 8  # table sums are below 2^51, and the checker adds in 64 bits
MESSAGES = {
    tree.ENDS_EARLY: "the proof ends before its tree does",
    tree.GOES_ON: "the proof goes on after the end of its tree",
    tree.UNKNOWN_RECORD: "node {} of the proof is followed by a record of an unknown kind",
    tree.UNKNOWN_ROW: "node {} of the proof uses a row before it is defined",
    tree.BAD_ROW: "after node {} the proof defines a row that is not a valid one",
    tree.WRONG_SUBSET: "after node {} the proof defines a subset row that an acyclic graph violates",
    tree.NEGATIVE: "node {} of the proof makes a multiplier negative",
    tree.OPEN_LEAF: "node {} of the proof is a leaf, but its bound is too high",
    tree.BAD_BRANCH: "node {} of the proof branches on an unknown variable",
}


def check_proof(table: ScoreTable, path: str | Path) -> tuple[int, tuple[int, ...]]:
    """(score in units, rows) of the graph that the file proves to be optimal; CheckFailed if it does not."""
    proof = read_proof(table, path)
    target = _score_of_graph(table, proof.choice)
    stream = np.empty(len(proof.body), dtype=np.int64)
    count = varint.decode(np.frombuffer(proof.body, dtype=np.uint8), stream)
    if count < 0:
        raise CheckFailed("the proof has a number that is cut off or too large")
    scale = proof.denominator
    if scale > LARGEST_DENOMINATOR:
        return reference.check_proof(table, path)
    verdict, nodes = tree.check_tree(
        table.offsets, table.masks, table.units * scale, target * scale + scale - 1, stream[:count]
    )
    if verdict == tree.TOO_LARGE:
        return reference.check_proof(table, path)
    if verdict != tree.FINE:
        raise CheckFailed(MESSAGES[verdict].format(nodes))
    if nodes != proof.records:
        raise CheckFailed("the proof goes on after the end of its tree")
    return target, proof.choice


def _score_of_graph(table: ScoreTable, choice: tuple[int, ...]) -> int:
    """The units of the graph in the file, if it is a graph of the table without cycles."""
    rows = np.array(choice, dtype=np.int64)
    if len(rows) != table.n or (rows < table.offsets[:-1]).any() or (rows >= table.offsets[1:]).any():
        raise CheckFailed("the graph of the proof is not one family of the table per variable")
    chosen = np.ascontiguousarray(table.masks[rows])
    placed = np.zeros(table.words, dtype=np.uint64)
    if tree.grow_from(placed, np.arange(table.n), table.n, np.arange(table.n + 1), chosen):
        raise CheckFailed("the graph of the proof has a cycle")
    return table.total_units(choice)
