"""Listed families: children and parent sets by name, from pairs, rules, a file of lines, or a score file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import DataError, LimitError, OptbnError
from optbn.base.memory import readable
from optbn.base.registry import unknown
from optbn.scores.family_blocks import FIRST_BLOCK, blocks_of
from optbn.scores.kernels.sets import binomials, sets_between
from optbn.scores.left_out import too_dear
from optbn.scores.protocol import BoundScore
from optbn_solvers.base.files import READERS, read_rows
from optbn_solvers.base.files.rows import Rows, member_lists

if TYPE_CHECKING:
    from optbn.scores.parent_sets import ParentSets


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
        for block in blocks_of(self, FIRST_BLOCK):
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
