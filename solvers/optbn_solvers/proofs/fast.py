"""The compiled checker of proofs: the same rules as `reference`, for proofs of any size.

Numbers that 64 bits do not hold are left to the reference.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.errors import CheckFailed, OutOfTime
from optbn_solvers.base.solution import Tree
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.proofs import reference
from optbn_solvers.proofs.format import Late, never, read_proof, unpacked
from optbn_solvers.proofs.kernels import rows, support, tree, varint
from optbn_solvers.proofs.kernels.room import coefficients_of_subset_rows

SLICE = 1 << 24  # families looked at between looks at the clock: some hundredths of a second
LARGEST_DENOMINATOR = 1 << 8  # table sums are below 2^51, and the checker adds in 64 bits
ROOM, ROOM_PER_BYTE = 1 << 23, 32  # coefficients of subset rows: 64 MB, and more for each byte of a proof
GROWS = {
    tree.MORE_ROWS: ("rows", "within"),
    tree.MORE_MEMBERS: ("members",),
    tree.MORE_COEFFICIENTS: ("coefficients",),
    tree.MORE_LEVELS: ("levels",),
    tree.MORE_PLACES: ("offsets",),
    tree.MORE_FAMILIES: ("masks", "values"),
}
MESSAGES = {
    rows.ENDS_EARLY: "the proof ends before its tree does",
    rows.GOES_ON: "the proof goes on after the end of its tree",
    rows.UNKNOWN_RECORD: "node {} of the proof is followed by a record of an unknown kind",
    rows.UNKNOWN_ROW: "node {} of the proof uses a row before it is defined",
    rows.BAD_ROW: "after node {} the proof defines a row that is not a valid one",
    rows.WRONG_SUBSET: "after node {} the proof defines a subset row that an acyclic graph violates",
    rows.NEGATIVE: "node {} of the proof makes a multiplier negative",
    rows.OPEN_LEAF: "node {} of the proof is a leaf, but its bound is too high",
    rows.TOO_DEEP: "the nodes above node {} of the proof have too many families together",
    rows.BAD_BRANCH: "node {} of the proof branches on an unknown variable",
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

    They are a tree of `records` nodes with multipliers in 1/`scale` units. OutOfTime once it is `late`.
    """
    stream = np.frombuffer(body, dtype=np.uint8)
    count = varint.count(stream)
    if count == varint.CUT_OFF:
        raise CheckFailed("the proof ends in the middle of a number")
    verdict, nodes = rows.TOO_LARGE, 0
    goal = target * scale + scale - 1
    if count != varint.TOO_LARGE and coefficients_of_subset_rows(stream, count) > ROOM + ROOM_PER_BYTE * len(body):
        raise CheckFailed(f"the proof has far more and larger subset rows than a tree of {len(body):,} bytes can need")
    if count != varint.TOO_LARGE and scale <= LARGEST_DENOMINATOR and abs(goal) <= rows.HEAVIEST:
        verdict, nodes = _walked(table, goal, stream, count, scale, late)
    if verdict == rows.TOO_LARGE:
        reference.check_numbers(table, target, body, records, scale, late)
        return
    if verdict != rows.FINE:
        raise CheckFailed(MESSAGES[verdict].format(nodes))
    if nodes != records:
        raise CheckFailed("the proof goes on after the end of its tree")


def _walked(
    table: ScoreTable, goal: int, stream: NDArray[np.uint8], count: int, scale: int, late: Late
) -> tuple[int, int]:
    """(FINE or what is wrong, nodes that were read) of a tree of `count` numbers, slice by slice."""
    n, size, words = table.n, len(table), table.words
    now = np.zeros(12, dtype=np.int64)
    now[[rows.LEFT, rows.KIND]] = count, rows.NONE
    room: dict[str, NDArray[Any]] = {
        "rows": np.zeros((8, 6), dtype=np.int64),
        "within": np.zeros((8, words), dtype=np.uint64),
        "members": np.zeros(8 * n, dtype=np.int64),
        "coefficients": np.zeros(rows.LARGEST_SUBSET << rows.LARGEST_SUBSET, dtype=np.int64),
        "levels": np.zeros((8, 8), dtype=np.int64),
        "offsets": np.zeros((8, n + 1), dtype=np.int64),
        "masks": np.concatenate([table.masks, np.zeros_like(table.masks)]),
        "values": np.concatenate([table.units * scale, np.zeros_like(table.units)]),
    }
    room["offsets"][0] = table.offsets
    best = np.zeros((rows.LARGEST_SUBSET + 1, 1 << rows.LARGEST_SUBSET), dtype=np.int64)
    scratch = np.zeros((n + 1, words), dtype=np.uint64), np.zeros((2, n), dtype=np.int64), best
    verdict = tree.PAUSED
    while verdict == tree.PAUSED or verdict in GROWS:
        for name in GROWS.get(verdict, ()):
            room[name] = np.concatenate([room[name], np.zeros_like(room[name])])
        if verdict == tree.PAUSED:
            if late():
                raise OutOfTime
            now[rows.WORK] = 0
        defined = room["rows"], room["within"], room["members"], room["coefficients"]
        arena = room["offsets"], room["masks"], room["values"]
        verdict = tree.check_tree(now, stream, goal, size, SLICE, defined, room["levels"], arena, scratch)
    return verdict, int(now[rows.NODES])


def _score_of_graph(table: ScoreTable, choice: tuple[int, ...]) -> int:
    """The units of the graph in the file, if it is a graph of the table without cycles."""
    chosen = np.array(choice, dtype=np.int64)
    if len(chosen) != table.n or (chosen < table.offsets[:-1]).any() or (chosen >= table.offsets[1:]).any():
        raise CheckFailed("the graph of the proof is not one family of the table per variable")
    masks = np.ascontiguousarray(table.masks[chosen])
    placed = np.zeros(table.words, dtype=np.uint64)
    if support.grow_from(placed, np.arange(table.n), table.n, np.arange(table.n + 1), masks):
        raise CheckFailed("the graph of the proof has a cycle")
    return table.total_units(choice)
