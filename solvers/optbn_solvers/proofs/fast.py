"""The compiled checker of proofs: the same rules as `reference`, for proofs of any size.

Numbers that 64 bits do not hold are left to the reference.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from optbn_solvers.base.errors import CheckFailed, OutOfTime
from optbn_solvers.base.solution import Tree
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.proofs import reference
from optbn_solvers.proofs.format import Late, never, read_proof, unpacked
from optbn_solvers.proofs.kernels import tree, varint
from optbn_solvers.proofs.kernels.room import coefficients_of_subset_rows

FIRST_WORK, MORE, ANY_WORK = 1 << 27, 2, 1 << 60  # families looked at: some tenths of a second at first
LARGEST_DENOMINATOR = 1 << 8  # table sums are below 2^51, and the checker adds in 64 bits
ROOM, ROOM_PER_BYTE = 1 << 23, 32  # coefficients of subset rows: 64 MB, and so many more for each byte of a proof
MESSAGES = {
    tree.ENDS_EARLY: "the proof ends before its tree does",
    tree.GOES_ON: "the proof goes on after the end of its tree",
    tree.UNKNOWN_RECORD: "node {} of the proof is followed by a record of an unknown kind",
    tree.UNKNOWN_ROW: "node {} of the proof uses a row before it is defined",
    tree.BAD_ROW: "after node {} the proof defines a row that is not a valid one",
    tree.WRONG_SUBSET: "after node {} the proof defines a subset row that an acyclic graph violates",
    tree.NEGATIVE: "node {} of the proof makes a multiplier negative",
    tree.OPEN_LEAF: "node {} of the proof is a leaf, but its bound is too high",
    tree.TOO_DEEP: "the nodes above node {} of the proof have too many families together",
    tree.BAD_BRANCH: "node {} of the proof branches on an unknown variable",
}


def check_proof(table: ScoreTable, path: str | Path, late: Late = never) -> tuple[int, tuple[int, ...]]:
    """(score in units, rows) of the graph that the file proves to be optimal; CheckFailed if it does not."""
    proof = read_proof(table, path)
    target = _score_of_graph(table, proof.choice)
    check_numbers(table, target, proof.body, proof.records, proof.denominator, late)
    return target, proof.choice


def check_carried(table: ScoreTable, target: int, carried: Tree, late: Late = never) -> None:
    """CheckFailed unless the tree in a solution proves that no graph has more than `target` units."""
    if not all(isinstance(number, int) and number >= 1 for number in (carried.nodes, carried.denominator)):
        raise CheckFailed("a tree in the evidence has no nodes, or a denominator that is not a whole number >= 1")
    body = unpacked(carried.body, "a tree in the evidence")
    check_numbers(table, target, body, carried.nodes, carried.denominator, late)


def check_numbers(table: ScoreTable, target: int, body: bytes, records: int, scale: int, late: Late = never) -> None:
    """CheckFailed unless the numbers of `body` prove that no graph has more than `target` units.

    They are a tree of `records` nodes with multipliers in 1/`scale` units. The check is begun anew with more and more
    work that it may do, and OutOfTime raised in between, once it is `late`.
    """
    stream = np.frombuffer(body, dtype=np.uint8)
    count = varint.count(stream)
    if count == varint.CUT_OFF:
        raise CheckFailed("the proof ends in the middle of a number")
    verdict, nodes = tree.TOO_LARGE, 0
    goal = target * scale + scale - 1
    if count != varint.TOO_LARGE and coefficients_of_subset_rows(stream, count) > ROOM + ROOM_PER_BYTE * len(body):
        raise CheckFailed(f"the proof has far more and larger subset rows than a tree of {len(body):,} bytes can need")
    if count != varint.TOO_LARGE and scale <= LARGEST_DENOMINATOR and abs(goal) <= tree.HEAVIEST:
        verdict, nodes, most = tree.TOO_LONG, 0, FIRST_WORK if late is not never else ANY_WORK
        while verdict == tree.TOO_LONG:
            if late():
                raise OutOfTime
            arrays = table.offsets, table.masks, table.units * scale
            verdict, nodes = tree.check_tree(*arrays, goal, stream, count, most)
            most *= MORE
    if verdict == tree.TOO_LARGE:
        reference.check_numbers(table, target, body, records, scale, late)
        return
    if verdict != tree.FINE:
        raise CheckFailed(MESSAGES[verdict].format(nodes))
    if nodes != records:
        raise CheckFailed("the proof goes on after the end of its tree")


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
