"""Writing a proof while it grows, and turning the row multipliers of a closed root into one.

Numbers are encoded and compressed as they come, and kept in memory (a `Tree` for the solution to carry) or in a file
beside the final one: only when the graph is known do header and numbers become the proof. A proof that outgrows its
limit, or what readers unpack, is given up: `append` returns False from then on, and `finish` writes nothing.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import zlib
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.atomic import replacing
from optbn_solvers.base.solution import ClusterRow, Proof, RowBound, SubsetRow, Tree
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.proofs.format import CLUSTER, FILTER, LARGEST_BODY, LEAF, SUBSET, header_line
from optbn_solvers.proofs.kernels import varint

DEFAULT_LIMIT = 1 << 30  # bytes of a file, compressed
CARRIED = 1 << 22  # bytes of a tree that a solution carries along


class TreeWriter:
    """One proof under way, kept in memory or written to `out`; a context manager that leaves no half file behind."""

    def __init__(self, limit: int, denominator: int = 1, out: BinaryIO | None = None) -> None:
        self.limit, self.denominator = limit, denominator
        self.out = io.BytesIO() if out is None else out
        self.packer = zlib.compressobj(6)
        self.size = self.unpacked = 0
        self.given_up = False

    def append(self, numbers: NDArray[np.int64]) -> bool:
        """Add numbers of records (solvers/optbn_solvers/proofs/README.md); False once the proof was given up."""
        if not self.given_up:
            room = np.empty(varint.LONGEST * len(numbers), dtype=np.uint8)
            body = room[: varint.encode(numbers, room)].tobytes()
            self.unpacked += len(body)
            self._write(self.packer.compress(body))
        return not self.given_up

    def finish(self, choice: Sequence[int], records: int) -> Tree | Proof | None:
        """The finished proof that `choice` is optimal, a tree of `nodes`; None if it was given up."""
        self._write(self.packer.flush())
        if self.given_up:
            return None
        assert isinstance(self.out, io.BytesIO)
        return Tree(self.out.getvalue(), records, self.denominator)

    def _write(self, packed: bytes) -> None:
        self.size += len(packed)
        if self.size > self.limit or self.unpacked >= LARGEST_BODY:
            self.given_up = True
        else:
            self.out.write(packed)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.out.close()


class ProofWriter(TreeWriter):
    """The same as a file."""

    def __init__(self, table: ScoreTable, path: str | Path, limit: int = DEFAULT_LIMIT, denominator: int = 1) -> None:
        self.table, self.path = table, Path(path)
        self.part = self.path.with_name(self.path.name + ".part")
        super().__init__(limit, denominator, open(self.part, "wb"))  # noqa: SIM115 (closed by __exit__)

    def finish(self, choice: Sequence[int], records: int) -> Proof | None:
        """The finished file."""
        self._write(self.packer.flush())
        self.out.close()
        if self.given_up:
            return None
        digest = hashlib.sha256()
        whole = self.path.with_name(self.path.name + ".new")
        with open(whole, "wb") as out:
            out.write(header_line(self.table, tuple(int(row) for row in choice), records, self.denominator))
            with open(self.part, "rb") as body:
                shutil.copyfileobj(body, out)
        with open(whole, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
        os.replace(whole, self.path)
        return Proof(str(self.path), digest.hexdigest())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        self.part.unlink(missing_ok=True)


class Records:
    """The beginning of a proof made of rows: definitions and filters, one after the other."""

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._known: dict[object, int] = {}
        self._multipliers: dict[int, int] = {}
        self.nodes = 0

    @property
    def defined(self) -> int:
        """Rows defined so far."""
        return len(self._known)

    def number(self, row: ClusterRow | SubsetRow) -> int:
        """The number of a row; defines it when it is new."""
        statement = (row.members, row.coefficients, row.rhs) if isinstance(row, SubsetRow) else row.members
        if statement not in self._known:
            self._known[statement] = len(self._known)
            self._numbers += _definition(row)
        return self._known[statement]

    def filter(self, rows: Sequence[ClusterRow | SubsetRow], kind: int = FILTER) -> None:
        """A node with exactly these rows' multipliers: a FILTER, or the LEAF that ends the proof."""
        self.filter_by([(self.number(row), row.multiplier) for row in rows], kind)

    def filter_by(self, rows: Sequence[tuple[int, int]], kind: int = FILTER) -> None:
        """The same of rows by number, with their multipliers."""
        now: dict[int, int] = {}
        for number, multiplier in rows:
            now[number] = now.get(number, 0) + multiplier
        changes = {r: now.get(r, 0) - self._multipliers.get(r, 0) for r in now | self._multipliers}
        changes = {r: change for r, change in changes.items() if change}
        self._numbers += [kind, len(changes)]
        for r, change in changes.items():
            self._numbers += [r, change]
        self._multipliers = now
        self.nodes += 1

    def numbers(self) -> NDArray[np.int64]:
        """The numbers of the records so far."""
        return np.array(self._numbers, dtype=np.int64)


def write_rows(table: ScoreTable, path: str | Path, choice: Sequence[int], evidence: RowBound) -> Proof:
    """The proof that `choice` is optimal by the stages of row multipliers alone; the last stage must close.

    Rows that only constraints make valid have no record: there must be none.
    """
    records = Records()
    stages = [tuple(row for row in stage if isinstance(row, ClusterRow | SubsetRow)) for stage in evidence.stages]
    for rows in stages[:-1]:
        records.filter(rows)
    records.filter(stages[-1] if stages else (), LEAF)
    with ProofWriter(table, path, denominator=evidence.denominator) as writer:
        writer.append(records.numbers())
        proof = writer.finish(choice, records.nodes)
    assert proof is not None
    return proof


def write_tree(table: ScoreTable, path: str | Path, choice: Sequence[int], tree: Tree) -> Proof:
    """The tree that a solution carries as a file of its own."""
    head = header_line(table, tuple(int(row) for row in choice), tree.nodes, tree.denominator)
    with replacing(path) as file:
        file.write(head + tree.body)
    return Proof(str(path), hashlib.sha256(head + tree.body).hexdigest())


def _definition(row: ClusterRow | SubsetRow) -> list[int]:
    """A CLUSTER or SUBSET record."""
    if isinstance(row, ClusterRow):
        return [CLUSTER, len(row.members), *row.members]
    place = {v: i for i, v in enumerate(row.members)}
    numbers = [SUBSET, len(row.members), *row.members, row.rhs, len(row.coefficients)]
    for child, parents, coefficient in row.coefficients:
        numbers += [place[child], sum(1 << place[u] for u in parents), coefficient]
    return numbers
