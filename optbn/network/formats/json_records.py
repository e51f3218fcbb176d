"""The records of optbn's own JSON (see json.py), as msgspec reads and writes them."""

from __future__ import annotations

import math

import msgspec

from optbn.data.support import Support


class _Record(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A record without unknown fields; what has its default is not written."""


class VariableRecord(_Record):
    """A variable: levels, or the range of a real one and what is known of its numbers."""

    name: str
    levels: list[str] | None = None
    ordered: bool = False
    range: tuple[float, float] | None = None
    absent: bool = False
    whole: bool | None = None
    unit: str = ""
    declared: bool = False


class CategoricalRecord(_Record, tag_field="kind", tag="categorical"):
    """Categorical leaves."""

    rows: list[list[float]]
    runs: list[list[int]] | None = None


class NormalRecord(_Record, tag_field="kind", tag="normal"):
    """Normal leaves, beside the probabilities of no number if there are such."""

    mean: list[float]
    sd: list[float]
    absent: list[float] | None = None
    least: float | None = None
    most: float | None = None
    whole: bool = False
    declared: bool = False

    @property
    def support(self) -> Support:
        """Where the numbers can lie."""
        least, most = -math.inf if self.least is None else self.least, math.inf if self.most is None else self.most
        return Support(least, most, self.whole, self.declared)


class StudentRecord(_Record, tag_field="kind", tag="student"):
    """Student-t leaves, likewise."""

    location: list[float]
    scale: list[float]
    dof: list[float]
    absent: list[float] | None = None


LeavesRecord = CategoricalRecord | NormalRecord | StudentRecord


class NodeRecord(_Record):
    """A split of a tree, or the number of a leaf."""

    parent: str | None = None
    below: float | None = None
    levels: list[str] | None = None
    has_number: bool = False
    left: int = 0
    right: int = 0
    leaf: int | None = None


class TableRecord(_Record, tag_field="kind", tag="table"):
    """A table."""

    parents: list[str]
    rows: list[list[float]]


class TreeRecord(_Record, tag_field="kind", tag="tree"):
    """A tree."""

    parents: list[str]
    nodes: list[NodeRecord]
    leaves: LeavesRecord


class BinnedRecord(_Record, tag_field="kind", tag="binned"):
    """A table over bins."""

    parents: list[str]
    cuts: list[list[float]]
    leaves: LeavesRecord


class NetworkRecord(_Record):
    """The whole file."""

    format: str
    version: int
    variables: list[VariableRecord]
    cpds: list[TableRecord | TreeRecord | BinnedRecord]
    name: str = ""
    properties: dict[str, list[str]] = {}
    precision: dict[str, list[float]] = {}
