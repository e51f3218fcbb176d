"""What a classifier's JSON is: written from these types and checked against them (`saved` says what they hold)."""

from __future__ import annotations

from typing import Annotated

import msgspec

Code = Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)]
CodeOrNone = Annotated[int, msgspec.Meta(ge=-1, lt=1 << 31)]


class Head(msgspec.Struct):
    format: str = ""
    version: int = 0


class Record(msgspec.Struct, forbid_unknown_fields=True):
    pass


class Attribute(Record):
    name: str
    cuts: list[float] | None
    levels: tuple[str, ...] | None
    missing: int | None


class Tree(Record):
    fanout: list[Code]
    branch: list[Code]
    values: list[list[float | None]]


class Network(Record, tag_field="kind", tag="network"):
    columns: list[Attribute]
    prior: list[float]
    parents: list[tuple[int, list[int]]]
    trees: list[Tree]


class SuperParents(Record, tag_field="kind", tag="super_parents"):
    columns: list[Attribute]
    naive: Network
    members: list[Network]
    frequent: list[list[bool]]


class PairParents(Record, tag_field="kind", tag="pair_parents"):
    columns: list[Attribute]
    single: SuperParents
    pairs: list[tuple[Code, Code]]
    members: list[Network]
    weights: list[float]
    frequent: list[list[list[bool]]]
    general: list[tuple[Code, Code, Code, Code]]


class Optimum(Record, tag_field="kind", tag="bayesian_network"):
    columns: list[Attribute]
    target: str
    network: msgspec.Raw


class DecisionTree(Record, tag_field="kind", tag="decision_tree"):
    columns: list[Attribute]
    attribute: list[CodeOrNone]
    cut: list[float | None]
    fanout: list[Code]
    branch: list[Code]
    counts: list[list[float]]
    totals: list[float]
    probabilities: list[list[float]]
    inside: list[list[float]]


class Scale(Record):
    points: list[float]
    ranks: list[float]
    cells: list[Code]
    coarse: list[Code]


class SoftNetwork(Record):
    knots: list[list[float]]
    parents: list[tuple[int, list[int]]]
    scores: list[list[float]]


class PlacedTree(Record):
    attribute: list[CodeOrNone]
    cut: list[float | None]
    fanout: list[Code]
    branch: list[Code]
    probabilities: list[list[float]]


class Mixture(Record, tag_field="kind", tag="mixture"):
    columns: list[Attribute]
    scales: list[Scale]
    shares: list[float]
    networks: list[SoftNetwork]
    trees: list[PlacedTree]
    counted: list[Network]


class Curve(Record):
    points: list[float]
    values: list[float]


class Classifier(Record, kw_only=True):
    format: str
    version: int
    classifier: str
    settings: dict[str, str | bool | int | float | None]
    target: str
    classes: list[str | bool | int | float]
    features: list[str] | None
    weights: list[float]
    power: float = 1.0
    curves: list[Curve] | None = None
    members: list[Network | SuperParents | PairParents | Optimum | DecisionTree | Mixture]
