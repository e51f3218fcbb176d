"""Fitted classifiers as JSON: everything needed to predict, nothing that runs when it is read.

    {"format": "optbn-classifier", "version": 1, "classifier": "skdb", "settings": {..}, "target": .., "classes": [..],
     "features": [..] or null, "weights": [..], "power": .., "curves": null or [{"points": [..], "values": [..]}, ..],
     "members": [MEMBER, ..]}
    MEMBER = {"kind": "network", "columns": [..], "prior": [..], "parents": [[i, [j, ..]], ..], "trees": [TREE, ..]}
             | {"kind": "super_parents", "columns": [..], "naive": MEMBER, "members": [MEMBER, ..], "frequent": [..]}
             | {"kind": "pair_parents", "columns": [..], "single": MEMBER, "pairs": [[p, q], ..],
                "members": [MEMBER, ..], "weights": [..], "frequent": [..], "general": [[i, x_i, j, x_j], ..]}
             | {"kind": "bayesian_network", "columns": [..], "target": .., "network": {..}}
             | {"kind": "decision_tree", ..}, see `optbn.classifiers.trees.saved`
             | {"kind": "mixture", ..}, see `optbn.classifiers.soft.saved`
    TREE = {"fanout": [children of each node, breadth first], "branch": [..], "values": [[log P, ..], ..]}

null among the values is the logarithm of 0. Floats are written with their shortest exact decimals, so a classifier that
was read predicts the same bits. Objects among the settings are written as their text and come back as that.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from sklearn.utils.validation import check_is_fitted

from optbn.base.errors import DataError, OptbnError
from optbn.base.files import saving
from optbn.classifiers import CLASSIFIERS, load_classifier
from optbn.classifiers import record as records
from optbn.classifiers.a2de import PairParents
from optbn.classifiers.aode import SuperParents
from optbn.classifiers.calibrate import Curves
from optbn.classifiers.member import Member
from optbn.classifiers.optimal import Optimum
from optbn.classifiers.record import Classifier, Head
from optbn.classifiers.saved_networks import (
    column_record,
    columns_of,
    expect,
    network_of,
    network_record,
    networks_of,
    networks_record,
)
from optbn.classifiers.soft.member import Mixture
from optbn.classifiers.soft.saved import from_record as mixture_of
from optbn.classifiers.soft.saved import to_record as mixture_record
from optbn.classifiers.trees.member import TreeMember
from optbn.classifiers.trees.saved import from_record, to_record
from optbn.data.dataset import Categorical
from optbn.network.formats import decode, encode

FORMAT, VERSION = "optbn-classifier", 1


def to_json(classifier: Any) -> bytes:
    """The bytes of a fitted classifier."""
    check_is_fitted(classifier)
    kind = type(classifier)
    name = next((n for n, at in CLASSIFIERS.items() if at == f"{kind.__module__}:{kind.__name__}"), None)
    if name is None:
        raise DataError(f"{kind.__name__} is none of optbn's classifiers, so it has no JSON")
    settings = {key: _plain(value) for key, value in classifier.get_params(deep=False).items()}
    features = getattr(classifier, "feature_names_in_", None)
    return msgspec.json.encode(
        Classifier(
            format=FORMAT,
            version=VERSION,
            classifier=name,
            settings=settings,
            target=classifier.target_,
            classes=[c.item() if isinstance(c, np.generic) else c for c in classifier.classes_],
            features=None if features is None else [str(f) for f in features],
            weights=classifier.weights_.tolist(),
            power=classifier.power_,
            curves=_curves(classifier.curves_),
            members=[_member(member) for member in classifier.members_],
        )
    )


def from_json(content: bytes, source: str = "input") -> Any:
    """The classifier that was written; `source` is what errors call the content."""
    try:
        head = msgspec.json.decode(content, type=Head)
        if head.format != FORMAT:
            raise DataError(f"{source}: is not a classifier written by optbn (its format is not {FORMAT!r})")
        if head.version != VERSION:
            raise DataError(f"{source}: version {head.version!r}; this optbn reads version {VERSION}")
        record = msgspec.json.decode(content, type=Classifier)
    except msgspec.ValidationError as error:
        what = "damaged" if FORMAT.encode() in content else "is not a classifier written by optbn"
        raise DataError(f"{source}: {what}, {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"{source}: {error}; expected a classifier written by optbn") from None
    try:
        made = load_classifier(record.classifier, **record.settings)
        classes = record.classes
        made.classes_ = np.array(classes, dtype=object if any(isinstance(c, str) for c in classes) else None)
        made.target_ = record.target
        made.members_ = [_read_member(member, len(classes)) for member in record.members]
        made.weights_ = np.array(record.weights, dtype=np.float64)
        expect(len(set(classes)) == len(classes) > 0, "its classes are not different ones")
        expect(len(record.weights) == len(record.members) > 0, "its members and their weights differ in number")
        expect(bool(np.isfinite(made.weights_).all()) and min(record.weights) >= 0 < sum(record.weights), "its weights")
        made.power_ = record.power
        expect(0.0 < record.power < np.inf, "its power is not positive")
        if record.curves is not None:
            made.curves_ = Curves.from_record(record.curves, len(classes))
        a = len(made.members_[0].columns)
        expect(all(len(member.columns) == a for member in made.members_), "its members have different columns")
        made.n_features_in_ = a
        if record.features is not None:
            expect(len(record.features) == a, f"{len(record.features)} names of features, {a} columns")
            made.feature_names_in_ = np.array(record.features, dtype=object)
    except OptbnError as error:
        raise DataError(f"{source}: damaged, {error}") from None
    return made


def save_classifier(classifier: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier, whole or not at all."""
    content = to_json(classifier)
    with saving(path) as partial:
        Path(partial).write_bytes(content)


def read_classifier(path: str | os.PathLike[str]) -> Any:
    """Read a classifier from the file at `path`, which `save_classifier` wrote."""
    return from_json(Path(path).read_bytes(), str(path))


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return value.item() if isinstance(value, np.generic) else repr(value)


def _curves(curves: Curves | None) -> list[records.Curve] | None:
    if curves is None:
        return None
    return [records.Curve(x.tolist(), y.tolist()) for x, y in zip(curves.points, curves.values, strict=True)]


def _member(member: Any) -> Any:
    columns = [column_record(column) for column in member.columns]
    if isinstance(member, Member | SuperParents | PairParents):
        return networks_record(member)

    if isinstance(member, TreeMember):
        return to_record(member, columns)

    if isinstance(member, Mixture):
        return mixture_record(member, columns, network_record)

    network = msgspec.json.format(encode(member.bayesian_network, "json"), indent=-1)
    return records.Optimum(columns, member.target, msgspec.Raw(network))


def _read_member(record: Any, classes: int) -> Any:
    if isinstance(record, records.Network | records.SuperParents | records.PairParents):
        return networks_of(record, classes)
    columns = columns_of(record)
    if isinstance(record, records.DecisionTree):
        return from_record(record, columns, classes)
    if isinstance(record, records.Mixture):
        return mixture_of(record, columns, classes, lambda network: network_of(network, classes))

    network = decode(bytes(record.network), "json", "its network")
    wanted = {record.target: classes, **{column.name: len(column.labels) for column in columns}}
    for name, size in wanted.items():
        domain = network.domain(name) if name in network.names else None
        expect(isinstance(domain, Categorical) and len(domain.levels) == size, f"its network and {name!r} do not fit")
    for column in columns:
        domain = network.domain(column.name)
        expect(
            isinstance(domain, Categorical) and domain.levels == column.labels,
            f"its network has other levels of {column.name!r}",
        )
    expect(len(wanted) == len(network.names) == len(columns) + 1, "its network is over other variables")
    return Optimum(columns, record.target, network)
