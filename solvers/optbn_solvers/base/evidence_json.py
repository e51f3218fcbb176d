"""Evidence as JSON: the classes of base.solution as tagged structures, and back."""

from __future__ import annotations

import msgspec

from optbn_solvers.base.solution import (
    BoundRow,
    ClauseRow,
    ClusterRow,
    Evidence,
    Exhausted,
    LimitRow,
    Part,
    Parts,
    Proof,
    RowBound,
    SubsetRow,
    Tree,
)
from optbn_solvers.base.solution import Literal as RowLiteral


class _Cluster(msgspec.Struct, tag_field="row", tag="cluster"):
    members: tuple[int, ...]
    multiplier: int


class _Subset(msgspec.Struct, tag_field="row", tag="subset"):
    members: tuple[int, ...]
    coefficients: tuple[tuple[int, tuple[int, ...], int], ...]
    rhs: int
    multiplier: int


class _Literal(msgspec.Struct):
    child: int
    others: tuple[int, ...]
    meets: bool


class _Clause(msgspec.Struct, tag_field="row", tag="clause"):
    literals: tuple[_Literal, ...]
    multiplier: int


class _Limit(msgspec.Struct, tag_field="row", tag="limit"):
    parents: tuple[int, ...]
    rhs: int
    multiplier: int


_AnyRow = _Cluster | _Subset | _Clause | _Limit


class _Rows(msgspec.Struct, tag_field="kind", tag="rows"):
    stages: tuple[tuple[_AnyRow, ...], ...]
    denominator: int = 1


class _Proof(msgspec.Struct, tag_field="kind", tag="proof"):
    path: str
    sha256: str


class _Tree(msgspec.Struct, tag_field="kind", tag="tree"):
    body: bytes
    nodes: int
    denominator: int = 1


class _Exhausted(msgspec.Struct, tag_field="kind", tag="exhausted"):
    method: str
    tolerance: float = 0.0
    rows: _Rows | None = None


class _Part(msgspec.Struct):
    members: tuple[int, ...]
    bound: int
    evidence: _Rows | _Proof | _Tree | _Exhausted


class _Parts(msgspec.Struct, tag_field="kind", tag="parts"):
    parts: tuple[_Part, ...]


AnyEvidence = _Rows | _Proof | _Tree | _Exhausted | _Parts


def written(evidence: Evidence) -> AnyEvidence:
    """Evidence as structures that JSON can hold."""
    if isinstance(evidence, Parts):
        return _Parts(tuple(_Part(p.members, p.bound, _written_part(p.evidence)) for p in evidence.parts))
    return _written_part(evidence)


def _written_part(evidence: RowBound | Proof | Tree | Exhausted) -> _Rows | _Proof | _Tree | _Exhausted:
    if isinstance(evidence, Proof):
        return _Proof(evidence.path, evidence.sha256)
    if isinstance(evidence, Tree):
        return _Tree(evidence.body, evidence.nodes, evidence.denominator)
    if isinstance(evidence, Exhausted):
        rows = None if evidence.rows is None else _written_rows(evidence.rows)
        return _Exhausted(evidence.method, evidence.tolerance, rows)
    return _written_rows(evidence)


def _written_rows(evidence: RowBound) -> _Rows:
    return _Rows(tuple(tuple(map(_written_row, stage)) for stage in evidence.stages), evidence.denominator)


def _written_row(row: BoundRow) -> _AnyRow:
    match row:
        case ClusterRow():
            return _Cluster(row.members, row.multiplier)
        case SubsetRow():
            return _Subset(row.members, row.coefficients, row.rhs, row.multiplier)
        case ClauseRow():
            return _Clause(tuple(_Literal(x.child, x.others, x.meets) for x in row.literals), row.multiplier)
        case LimitRow():
            return _Limit(row.parents, row.rhs, row.multiplier)


def _read_row(row: _AnyRow) -> BoundRow:
    match row:
        case _Cluster():
            return ClusterRow(row.members, row.multiplier)
        case _Subset():
            return SubsetRow(row.members, row.coefficients, row.rhs, row.multiplier)
        case _Clause():
            return ClauseRow(tuple(RowLiteral(x.child, x.others, x.meets) for x in row.literals), row.multiplier)
        case _Limit():
            return LimitRow(row.parents, row.rhs, row.multiplier)


def read(evidence: AnyEvidence) -> Evidence:
    """The evidence again."""
    if isinstance(evidence, _Parts):
        return Parts(tuple(Part(p.members, p.bound, _read_part(p.evidence)) for p in evidence.parts))
    return _read_part(evidence)


def _read_part(evidence: _Rows | _Proof | _Tree | _Exhausted) -> RowBound | Proof | Tree | Exhausted:
    if isinstance(evidence, _Proof):
        return Proof(evidence.path, evidence.sha256)
    if isinstance(evidence, _Tree):
        return Tree(evidence.body, evidence.nodes, evidence.denominator)
    if isinstance(evidence, _Exhausted):
        return Exhausted(
            evidence.method, evidence.tolerance, None if evidence.rows is None else _read_rows(evidence.rows)
        )
    return _read_rows(evidence)


def _read_rows(evidence: _Rows) -> RowBound:
    return RowBound(tuple(tuple(map(_read_row, stage)) for stage in evidence.stages), evidence.denominator)
