"""The checker of proofs to read and believe: pure Python, exact integers, no code of any solver.

The rules are in README.md of this folder, in the same order. A node's families are per variable a list of (parents as
an int, adjusted score); children share nothing with their parent, so there is nothing to undo.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from optbn_solvers.base.errors import CheckFailed, OutOfTime
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.proofs.format import BRANCH, CLUSTER, FILTER, LEAF, SUBSET, Late, never, numbers, read_proof

LARGEST_SUBSET = 12

Families = list[list[tuple[int, int]]]
Worth = dict[int, dict[int, int]]  # of a subset row: member -> pattern of parents within the row -> coefficient


@dataclass(frozen=True)
class Row:
    """A valid inequality on the set `within`; `worth` is None for a cluster."""

    within: int
    worth: Worth | None
    rhs: int


@dataclass(frozen=True)
class Node:
    """Alive families with their adjusted scores, multipliers that are not 0, and what they add to the bound."""

    families: Families
    multipliers: dict[int, int]
    constant: int


def check_proof(table: ScoreTable, path: str | Path, late: Late = never) -> tuple[int, tuple[int, ...]]:
    """(score in units, rows) of the graph that the file proves to be optimal; CheckFailed if it does not."""
    proof = read_proof(table, path)
    target = score_of_graph(table, rows_of(table), proof.choice)
    check_numbers(table, target, proof.body, proof.records, proof.denominator, late)
    return target, proof.choice


def check_numbers(table: ScoreTable, target: int, body: bytes, records: int, scale: int, late: Late = never) -> None:
    """CheckFailed unless the numbers of `body` prove that no graph has more than `target` units.

    They are a tree of `records` nodes with multipliers in 1/`scale` units. Graphs have whole units, so what does not
    reach the next one is no better.
    """
    rows, stream = rows_of(table), numbers(body)
    families = [[(rows[row][0], rows[row][1] * scale) for row in table.rows(v)] for v in range(table.n)]
    try:
        nodes = check_tree(families, target * scale + scale - 1, stream, late)
    except StopIteration:
        raise CheckFailed("the proof ends before its tree does") from None
    if nodes != records or next(stream, None) is not None:
        raise CheckFailed("the proof goes on after the end of its tree")


def rows_of(table: ScoreTable) -> list[tuple[int, int]]:
    """(parents as an int, units) of each row of the table."""
    masks = [sum(word << 64 * i for i, word in enumerate(words)) for words in table.masks.tolist()]
    return list(zip(masks, table.units.tolist(), strict=True))


def score_of_graph(table: ScoreTable, rows: list[tuple[int, int]], choice: tuple[int, ...]) -> int:
    """The units of the graph in the file, if it is a graph of the table without cycles."""
    if len(choice) != table.n or any(row not in table.rows(v) for v, row in enumerate(choice)):
        raise CheckFailed("the graph of the proof is not one family of the table per variable")
    left = set(range(table.n))
    while ready := {v for v in left if not rows[choice[v]][0] & sum(1 << u for u in left)}:
        left -= ready
    if left:
        raise CheckFailed("the graph of the proof has a cycle")
    return sum(rows[row][1] for row in choice)


def check_tree(families: Families, target: int, stream: Iterator[int], late: Late = never) -> int:
    """Read the tree and check that all its leaves are closed; the number of nodes. OutOfTime once it is late."""
    defined: list[Row] = []
    open_nodes: list[Node | None] = [Node(families, {}, 0)]  # None: below a node that is closed
    count = 0
    while open_nodes:
        if late():
            raise OutOfTime
        kind = next(stream)
        if kind in (CLUSTER, SUBSET):
            defined.append(read_row(kind, len(families), stream))
            continue
        if kind not in (LEAF, FILTER, BRANCH):
            raise CheckFailed(f"the proof has a record of the unknown kind {kind}")
        node = open_nodes.pop()
        count += 1
        changes = [(next(stream), next(stream)) for _ in range(how_many(stream))]
        for number, _ in changes:
            existing(number, defined)
        if node is not None:
            node = changed(node, changes, defined, late)
            if closed(node, target):
                node = None
            else:
                node = Node(supported(node.families, late), node.multipliers, node.constant)
                if closed(node, target):
                    node = None
        if kind == LEAF:
            if node is not None:
                raise CheckFailed(
                    f"node {count} of the proof is a leaf, but its bound is {bound(node) - target} too high"
                )
            continue
        if node is not None:
            node = Node(improving(node, target), node.multipliers, node.constant)
        if kind == FILTER:
            open_nodes.append(node)
            continue
        v, number, disjoint_first = next(stream), next(stream), next(stream)
        within = existing(number, defined).within
        if not 0 <= v < len(families) or disjoint_first not in (0, 1):
            raise CheckFailed(f"node {count} of the proof branches on the unknown variable {v}")
        for disjoint in (not disjoint_first, bool(disjoint_first)):  # the last is taken first
            open_nodes.append(None if node is None else side(node, v, within, disjoint))
    return count


def how_many(stream: Iterator[int]) -> int:
    """A count."""
    count = next(stream)
    if count < 0:
        raise CheckFailed(f"the proof has the count {count}")
    return count


def existing(number: int, defined: list[Row]) -> Row:
    """The row of that number."""
    if not 0 <= number < len(defined):
        raise CheckFailed(f"the proof uses row {number} before it is defined")
    return defined[number]


def read_row(kind: int, n: int, stream: Iterator[int]) -> Row:
    """A definition; a subset row is proved at once."""
    members = [next(stream) for _ in range(how_many(stream))]
    if not members or len(set(members)) < len(members) or not all(0 <= v < n for v in members):
        raise CheckFailed(f"the proof has a row on {members}, which is not a set of variables")
    within = sum(1 << v for v in members)
    if kind == CLUSTER:
        return Row(within, None, 1)
    m = len(members)
    if m > LARGEST_SUBSET:
        raise CheckFailed(f"the proof has a subset row on {m} variables; at most {LARGEST_SUBSET} can be checked")
    rhs = next(stream)
    worth: Worth = {v: {} for v in members}
    best = [[0] * (1 << m) for _ in members]  # best[i][U]: the largest coefficient with parents within U
    for _ in range(how_many(stream)):
        child, pattern, coefficient = next(stream), next(stream), next(stream)
        if not (0 <= child < m and 0 <= pattern < 1 << m and not pattern >> child & 1 and coefficient > 0):
            raise CheckFailed("the proof has a subset row with an impossible coefficient")
        parents = sum(1 << u for i, u in enumerate(members) if pattern >> i & 1)
        if parents in worth[members[child]]:
            raise CheckFailed("the proof has a subset row with two coefficients for one family")
        worth[members[child]][parents] = coefficient
        best[child][pattern] = coefficient
    for values in best:
        for i in range(m):
            for among in range(1 << m):
                if among >> i & 1:
                    values[among] = max(values[among], values[among ^ 1 << i])
    most = [0] * (1 << m)  # most[U]: the largest left side over the acyclic graphs on U
    for among in range(1, 1 << m):
        most[among] = max(most[among ^ 1 << i] + best[i][among ^ 1 << i] for i in range(m) if among >> i & 1)
    if most[-1] > rhs:
        raise CheckFailed(f"the proof has a subset row <= {rhs}, but an acyclic graph reaches {most[-1]}")
    return Row(within, worth, rhs)


def changed(node: Node, changes: list[tuple[int, int]], defined: list[Row], late: Late = never) -> Node:
    """The node with other multipliers."""
    families = list(node.families)
    multipliers, constant = dict(node.multipliers), node.constant
    for number, change in changes:
        if late():
            raise OutOfTime
        row = defined[number]
        multipliers[number] = multipliers.get(number, 0) + change
        constant += change * row.rhs if row.worth is not None else -change
        if multipliers[number] < 0:
            raise CheckFailed("the proof makes a multiplier negative")
        for v in range(len(families)):
            if row.within >> v & 1:
                if row.worth is None:
                    families[v] = [(mask, s if mask & row.within else s + change) for mask, s in families[v]]
                else:
                    worth = row.worth[v]
                    families[v] = [(mask, s - change * worth.get(mask & row.within, 0)) for mask, s in families[v]]
    return Node(families, multipliers, constant)


def bound(node: Node) -> int:
    """No graph of alive families scores more (each variable has one)."""
    return node.constant + sum(max(s for _, s in families) for families in node.families)


def closed(node: Node, target: int) -> bool:
    """No graph of alive families scores more than the target."""
    return not all(node.families) or bound(node) <= target


def supported(families: Families, late: Late = never) -> Families:
    """The families that can be in an acyclic choice."""
    kept = []
    for v, candidates in enumerate(families):
        if late():
            raise OutOfTime
        placed, grown = 0, True
        while grown:
            grown = False
            for u, others in enumerate(families):
                if u != v and not placed >> u & 1 and any(not mask & ~placed for mask, _ in others):
                    placed |= 1 << u
                    grown = True
        kept.append([(mask, s) for mask, s in candidates if not mask & ~placed])
    return kept


def improving(node: Node, target: int) -> Families:
    """The families that can be in a graph better than the target."""
    spare = bound(node) - target
    kept = []
    for families in node.families:
        least = max(s for _, s in families) - spare
        kept.append([(mask, s) for mask, s in families if s > least])
    return kept


def side(node: Node, v: int, within: int, disjoint: bool) -> Node:
    """One child of a branch."""
    families = list(node.families)
    families[v] = [(mask, s) for mask, s in families[v] if (mask & within == 0) == disjoint]
    return Node(families, node.multipliers, node.constant)
