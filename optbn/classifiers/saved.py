"""Fitted classifiers as JSON: everything needed to predict, nothing that runs when it is read.

    {"format": "optbn-classifier", "version": 1, "classifier": "skdb", "settings": {..}, "target": .., "classes": [..],
     "features": [..] or null, "weights": [..], "members": [MEMBER, ..]}
    MEMBER = {"kind": "network", "columns": [..], "prior": [..], "parents": [[i, [j, ..]], ..], "trees": [TREE, ..]}
             | {"kind": "super_parents", "columns": [..], "naive": MEMBER, "members": [MEMBER, ..], "frequent": [..]}
             | {"kind": "bayesian_network", "columns": [..], "target": .., "network": {..}}
    TREE = {"fanout": [children of each node, breadth first], "branch": [..], "values": [[log P, ..], ..]}

null among the values is the logarithm of 0. Floats are written with their shortest exact decimals, so a classifier that
was read predicts the same bits. Objects among the settings are written as their text and come back as that.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from optbn.classifiers.aode import SuperParents
from optbn.classifiers.forest import Forest
from optbn.classifiers.member import Member
from optbn.data.discretise.transformer import Column
from optbn.errors import DataError

FORMAT, VERSION = "optbn-classifier", 1


def to_json(classifier: Any) -> bytes:
    """The bytes of a fitted classifier."""
    import msgspec
    from sklearn.utils.validation import check_is_fitted

    from optbn.classifiers import CLASSIFIERS

    check_is_fitted(classifier)
    kind = type(classifier)
    name = next((n for n, at in CLASSIFIERS.items() if at == f"{kind.__module__}:{kind.__name__}"), None)
    if name is None:
        raise DataError(f"{kind.__name__} is none of optbn's classifiers, so it has no JSON")
    settings = {key: _plain(value) for key, value in classifier.get_params(deep=False).items()}
    features = getattr(classifier, "feature_names_in_", None)
    return msgspec.json.encode(
        {
            "format": FORMAT,
            "version": VERSION,
            "classifier": name,
            "settings": settings,
            "target": classifier.target_,
            "classes": [c.item() if isinstance(c, np.generic) else c for c in classifier.classes_],
            "features": None if features is None else [str(f) for f in features],
            "weights": classifier.weights_.tolist(),
            "members": [_member(member) for member in classifier.members_],
        }
    )


def from_json(content: bytes, source: str = "input") -> Any:
    """The classifier that was written; `source` is what errors call the content."""
    import msgspec

    from optbn.classifiers import load_classifier

    try:
        record = msgspec.json.decode(content)
    except msgspec.DecodeError as error:
        raise DataError(f"{source}: {error}; expected a classifier written by optbn") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise DataError(f"{source}: is not a classifier written by optbn (its format is not {FORMAT!r})")
    if record.get("version") != VERSION:
        raise DataError(f"{source}: version {record.get('version')!r}; this optbn reads version {VERSION}")
    try:
        made = load_classifier(record["classifier"], **record["settings"])
        classes = record["classes"]
        made.classes_ = np.array(classes, dtype=object if any(isinstance(c, str) for c in classes) else None)
        made.target_ = record["target"]
        made.members_ = [_read_member(member) for member in record["members"]]
        made.weights_ = np.array(record["weights"], dtype=np.float64)
        made.n_features_in_ = len(made.members_[0].columns)
        if record["features"] is not None:
            made.feature_names_in_ = np.array(record["features"], dtype=object)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise DataError(f"{source}: damaged, {type(error).__name__} {error}") from None
    return made


def save_classifier(classifier: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier, whole or not at all."""
    from optbn.network.files import replacing

    content = to_json(classifier)
    with replacing(path) as partial:
        Path(partial).write_bytes(content)


def read_classifier(path: str | os.PathLike[str]) -> Any:
    """Read a classifier that `save_classifier` wrote."""
    return from_json(Path(path).read_bytes(), str(path))


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return value.item() if isinstance(value, np.generic) else repr(value)


def _column(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "cuts": None if column.cuts is None else column.cuts.tolist(),
        "levels": column.levels,
        "missing": column.missing,
    }


def _read_column(record: dict[str, Any]) -> Column:
    cuts = None if record["cuts"] is None else np.array(record["cuts"], dtype=np.float64)
    levels = None if record["levels"] is None else tuple(record["levels"])
    return Column(record["name"], cuts, levels, record["missing"])


def _member(member: Any) -> dict[str, Any]:
    columns = [_column(column) for column in member.columns]
    if isinstance(member, Member):
        return {
            "kind": "network",
            "columns": columns,
            "prior": member.prior.tolist(),
            "parents": [[i, list(p)] for i, p in member.parents.items()],
            "trees": [_tree(member.forest, t) for t in range(len(member.parents))],
        }
    if isinstance(member, SuperParents):
        return {
            "kind": "super_parents",
            "columns": columns,
            "naive": _member(member.naive),
            "members": [_member(each) for each in member.members],
            "frequent": [f.tolist() for f in member.frequent],
        }
    import msgspec

    from optbn.network.formats import encode

    network = msgspec.json.decode(encode(member.bayesian_network, "json"))
    return {"kind": "bayesian_network", "columns": columns, "target": member.target, "network": network}


def _read_member(record: dict[str, Any]) -> Any:
    columns = tuple(_read_column(column) for column in record["columns"])
    if record["kind"] == "network":
        parents = {i: tuple(p) for i, p in record["parents"]}
        forest = _forest(parents, record["trees"], [column.n_levels for column in columns])
        return Member(columns, np.array(record["prior"], dtype=np.float64), parents, forest)
    if record["kind"] == "super_parents":
        naive = _read_member(record["naive"])
        members = tuple(_read_member(each) for each in record["members"])
        return SuperParents(columns, naive.prior, naive, members, tuple(np.array(f) for f in record["frequent"]))
    import msgspec

    from optbn.classifiers.optimal import Optimum
    from optbn.network.formats import decode

    network = decode(msgspec.json.encode(record["network"]), "json")
    return Optimum(columns, record["target"], network)


def _tree(forest: Forest, t: int) -> dict[str, Any]:
    children, branch, values = forest.tree(t)
    finite = np.isfinite(values)
    rows = values.tolist() if finite.all() else np.where(finite, values, None).tolist()  # type: ignore[call-overload]
    return {"fanout": (children[:, 1] - children[:, 0]).tolist(), "branch": branch.tolist(), "values": rows}


def _forest(parents: dict[int, tuple[int, ...]], trees: list[dict[str, Any]], sizes: list[int]) -> Forest:
    from optbn.classifiers.forest import StoredTree

    stored = []
    for i, record in zip(parents, trees, strict=True):
        fanout = np.array(record["fanout"], dtype=np.int32)
        first = (1 + np.concatenate([[0], np.cumsum(fanout)])).astype(np.int32)
        values = np.array(record["values"], dtype=np.float64)
        values[np.isnan(values)] = -np.inf
        stored.append(StoredTree(first, np.array(record["branch"], dtype=np.int32), values.reshape(-1, sizes[i])))
    return Forest.of(parents, stored, [tree.values for tree in stored])
