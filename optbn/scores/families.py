"""Scoring given families: for those who bring their own candidates.

Families are sorted by predictor set, so that a set listed for many children is counted once, and go to the score in
the same blocks as a full Phase I: the scores are the same to the last bit. Nothing is pruned and the order is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import DataError, LimitError, OptbnError, UnsupportedError
from optbn.base.memory import parse_memory, readable
from optbn.base.registry import unknown
from optbn.base.threads import check_jobs, spread
from optbn.data.anything import DataLike, as_dataset
from optbn.scores import load_score
from optbn.scores.kernels.sets import binomials, sets_between
from optbn.scores.left_out import too_dear
from optbn.scores.protocol import BoundScore, LocalScore
from optbn.scores.scoring import bind, check_data
from optbn_solvers.base.files import READERS, read_rows
from optbn_solvers.base.files.rows import Rows, member_lists

if TYPE_CHECKING:
    from optbn.scores.parent_sets import ParentSets

BYTES_PER_FAMILY = 160  # work space of a block: masks, floors, scores and a score's own lists
BLOCK_SECONDS = 1.0  # how long a block should take: short for Ctrl-C, long for sharing within a block
FIRST_BLOCK = 4096  # sets, before anything is known about the speed


@dataclass(frozen=True, eq=False)
class Families:
    """Children and parent sets over named variables: int64[m] and uint64[m, W]."""

    names: tuple[str, ...]
    children: NDArray[np.int64]
    masks: NDArray[np.uint64]

    @classmethod
    def build(cls, names: Sequence[str], families: Iterable[tuple[str, Iterable[str]]]) -> Families:
        """From (child, parents) pairs of names."""
        index = {name: v for v, name in enumerate(names)}
        words = max(1, -(-len(names) // 64))
        children: list[int] = []
        masks = bytearray()
        known: dict[tuple[str, ...], tuple[int, bytes]] = {}  # parent sets recur
        for child, parents in families:
            key = tuple(parents)
            if key not in known:
                known[key] = _mask(key, index, words, names)
            mask, packed = known[key]
            v = index.get(child, -1)
            if v < 0:
                raise unknown("variable", child, names)
            if mask >> v & 1:
                raise DataError(f"{child!r} is listed as a parent of itself")
            children.append(v)
            masks += packed
        return cls(
            tuple(names),
            np.array(children, dtype=np.int64),
            np.frombuffer(bytes(masks), dtype="<u8").astype(np.uint64).reshape(len(children), words),
        )

    @classmethod
    def allowed(cls, names: Sequence[str], rules: ParentSets, memory: int) -> Families:
        """Every candidate that the rules allow, by child and size."""
        words = max(1, -(-rules.n // 64))
        total = sum(rules.count(size) for size in range(rules.largest + 1))
        need = bytes_of_listed(total, rules.n, rules.largest)
        if need > memory // 2:
            raise LimitError(
                f"to list {total:,} families takes {readable(need)}, and {readable(memory)} of memory may be used: "
                "allow fewer parents, or raise the memory"
            )
        children = np.empty(total, dtype=np.int64)
        masks = np.zeros((total, words), dtype=np.uint64)
        choose = binomials(rules.n, rules.largest)
        end = 0
        for v in range(rules.n):
            must = np.flatnonzero(rules.required[v])
            free = np.flatnonzero(rules.allowed[v] & ~rules.required[v])
            for more in range(int(rules.max_parents[v]) - len(must) + 1):
                begin, end = end, end + int(choose[len(free), more])
                children[begin:end] = v
                for u in must.tolist():
                    masks[begin:end, u // 64] |= np.uint64(1 << u % 64)
                rows = np.arange(begin, end)
                for place in sets_between(len(free), more, 0, end - begin, choose).T:
                    masks[rows, free[place] // 64] |= np.uint64(1) << (free[place] % 64).astype(np.uint64)
        return cls(tuple(names), children, masks)

    def without_dear(self, bound: BoundScore) -> Families:
        """Those that the score does not leave out."""
        if not hasattr(bound, "too_dear"):
            return self
        kept = np.ones(len(self), dtype=np.bool_)
        for block in _blocks(self, FIRST_BLOCK):
            kept[block.rows] = ~too_dear(bound, block.sets)[block.at]
        return Families(self.names, self.children[kept], self.masks[kept])

    @classmethod
    def read(cls, path: str | PathLike[str], names: Sequence[str]) -> Families:
        """From a file of lines "child: parent, parent" ("#" comments), or a score file whose scores are ignored."""
        if Path(path).suffix.lower().removeprefix(".") in READERS:
            return cls.of(read_rows(Path(path)), names)
        line = 0

        def pairs() -> Iterator[tuple[str, list[str]]]:
            nonlocal line
            with open(path, encoding="utf-8-sig") as file:
                for line, text in enumerate(file, 1):  # noqa: B007  messages want the number
                    text = text.strip()
                    if not text or text.startswith("#"):
                        continue
                    child, colon, parents = text.partition(":")
                    if not colon:
                        raise DataError(f"expected 'child: parent, parent', found {text!r}")
                    yield child.strip(), [name.strip() for name in parents.split(",")] if parents.strip() else []

        try:
            return cls.build(names, pairs())
        except OptbnError as error:
            raise type(error)(f"{path}, line {line}: {error}") from None
        except UnicodeDecodeError:
            raise DataError(f"{path}, line {line + 1}: not valid UTF-8") from None

    @classmethod
    def of(cls, rows: Rows, names: Sequence[str]) -> Families:
        """The families of a score file, its variables matched to `names` by name."""
        index = {name: v for v, name in enumerate(names)}
        for name in rows.names:
            if name not in index:
                raise unknown("variable", name, names)
        place = np.array([index[name] for name in rows.names], dtype=np.int64)
        members, offsets = member_lists(rows.masks, len(rows.names))
        masks = np.zeros((len(rows), max(1, -(-len(names) // 64))), dtype=np.uint64)
        owner = np.repeat(np.arange(len(rows)), np.diff(offsets))
        at = place[members]
        np.bitwise_or.at(masks, (owner, at // 64), np.uint64(1) << (at % 64).astype(np.uint64))
        return cls(tuple(names), place[rows.children], masks)

    def __len__(self) -> int:
        return len(self.children)


def bytes_of_listed(families: int, n: int, largest: int) -> int:
    """The bytes that this many families of at most `largest` of n variables take while they are listed and scored."""
    return families * (32 + 8 * -(-n // 64) + 12 * largest)


@dataclass(frozen=True, eq=False)
class FamilyScores:
    """Families with their scores, float64[m], in the order they were given."""

    families: Families
    scores: NDArray[np.float64]
    bound: BoundScore

    def fitted(self, row: int) -> Any:
        """The local structure behind one score (the optimal tree, or the table)."""
        return self.bound.fitted(int(self.families.children[row]), self.parents(row))

    def parents(self, row: int) -> tuple[int, ...]:
        """The parents of one family, ascending."""
        members, _ = member_lists(self.families.masks[row : row + 1], len(self.families.names))
        return tuple(members.tolist())

    def rows(self) -> Rows:
        """As the rows of a score file."""
        return Rows(self.families.names, self.families.children, self.families.masks, self.scores)

    def __len__(self) -> int:
        return len(self.scores)


def score_families(
    data: DataLike,
    families: Families | Iterable[tuple[str, Iterable[str]]],
    score: str | LocalScore = "pcartp",
    *,
    jobs: int | None = None,
    memory: int | str | None = None,
    progress: Callable[[int, int], None] | None = None,
    **settings: Any,
) -> FamilyScores:
    """The scores of the given families, (child, parents) pairs of names or a `Families`.

    `progress` is called with (families done, families in all).
    """
    data = as_dataset(data, missing="value")
    check_data(data)
    if not isinstance(families, Families):
        families = Families.build(data.names, families)
    elif families.names != data.names:
        raise DataError("the families are over other variables than the data")
    method = load_score(score, caller=score_families, **settings)
    limit, threads = parse_memory(memory), check_jobs(jobs)
    bound = bind(method, data, limit)
    return FamilyScores(families, scores_of(bound, families, threads, limit, progress), bound)


def scores_of(
    bound: BoundScore,
    families: Families,
    jobs: int,
    memory: int,
    progress: Callable[[int, int], None] | None = None,
    enough: Callable[[], bool] | None = None,
) -> NDArray[np.float64]:
    """The scores of the families, in their order; nan where `enough` said so before they were begun."""
    scores = np.full(len(families), np.nan)
    done = 0
    most = max(1, memory // 4 // jobs // (BYTES_PER_FAMILY * len(families.names)))

    def blocks() -> Iterator[_Block]:
        for block in _blocks(families, most, getattr(bound, "seconds", None)):
            if enough is not None and block.sets.shape[1] and enough():
                return
            yield block

    for rows, values in spread(blocks(), lambda block: _score(bound, block), jobs):
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            found = FamilyScores(families, scores, bound)
            row = int(rows[bad[0]])
            parents = ", ".join(families.names[u] for u in found.parents(row))
            raise OptbnError(
                f"the score of "
                f"{families.names[families.children[row]]!r} with parents {{{parents}}} is {values[bad[0]]}; "
                "scores must be finite numbers"
            )
        scores[rows] = values
        done += len(rows)
        if progress is not None:
            progress(done, len(families))
    return scores


def score(
    data: DataLike,
    child: str,
    parents: Iterable[str] = (),
    score: str | LocalScore = "pcartp",
    **settings: Any,
) -> float:
    """The score of one family."""
    if isinstance(parents, str):
        raise UnsupportedError(f"parents is {parents!r}, expected a list of names: [{parents!r}]")
    return float(score_families(data, [(child, parents)], score, jobs=1, **settings).scores[0])


@dataclass(frozen=True, eq=False)
class _Block:
    """Distinct predictor sets of one size, and the families on them: family `rows[i]` is (sets[at[i]], children[i])."""

    sets: NDArray[np.int32]
    rows: NDArray[np.int64]
    at: NDArray[np.int64]
    children: NDArray[np.int64]
    n: int


def _score(bound: BoundScore, block: _Block) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    wanted = np.zeros((len(block.sets), block.n), dtype=np.bool_)
    wanted[block.at, block.children] = True
    return block.rows, bound.block(block.sets, wanted, None)[block.at, block.children]


def _blocks(
    families: Families, most: int, seconds: Callable[[NDArray[np.int32]], NDArray[np.float64]] | None = None
) -> Iterator[_Block]:
    """The families by size, then by predictor set in lexicographic order, in blocks of a bounded number of sets.

    A block has at most FIRST_BLOCK sets, and takes BLOCK_SECONDS as far as the score knows what sets take; see
    pipeline.py for why blocks exist at all.
    """
    n = len(families.names)
    members, offsets = member_lists(families.masks, n)
    sizes = np.diff(offsets)
    for size in np.unique(sizes).tolist():
        rows = np.flatnonzero(sizes == size)
        sets = members[offsets[rows][:, None] + np.arange(size)].astype(np.int32).reshape(len(rows), size)
        order = np.lexsort(sets.T[::-1]) if size else np.arange(len(rows))
        rows, sets = rows[order], sets[order]
        fresh = np.ones(len(rows), dtype=np.bool_)
        fresh[1:] = (sets[1:] != sets[:-1]).any(axis=1)
        number = np.cumsum(fresh) - 1
        count = int(number[-1]) + 1
        step = min(most, FIRST_BLOCK)
        distinct = sets[fresh]
        last = 0
        while last < count:
            first, last = last, min(last + step, count)
            if seconds is not None:
                expected = np.cumsum(seconds(distinct[first:last]))
                last = first + 1 + min(last - first - 1, int(np.searchsorted(expected, BLOCK_SECONDS)))
            lo, hi = np.searchsorted(number, [first, last])
            yield _Block(distinct[first:last], rows[lo:hi], number[lo:hi] - first, families.children[rows[lo:hi]], n)


def _mask(parents: tuple[str, ...], index: dict[str, int], words: int, names: Sequence[str]) -> tuple[int, bytes]:
    """A parent set as an integer and as the bytes of its words."""
    mask = 0
    for name in parents:
        if name not in index:
            raise unknown("variable", name, names)
        bit = 1 << index[name]
        if mask & bit:
            raise DataError(f"the parent {name!r} is listed twice")
        mask |= bit
    return mask, mask.to_bytes(8 * words, "little")
