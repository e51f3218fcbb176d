"""Fitted classifiers as JSON: everything needed to predict, nothing that runs when it is read.

    {"format": "optbn-classifier", "version": 1, "classifier": "skdb", "settings": {..}, "target": .., "classes": [..],
     "features": [..] or null, "weights": [..], "power": .., "curves": null or [{"points": [..], "values": [..]}, ..],
     "members": [MEMBER, ..]}
    MEMBER = {"kind": "network", "columns": [..], "prior": [..], "parents": [[i, [j, ..]], ..], "trees": [TREE, ..]}
             | {"kind": "super_parents", "columns": [..], "naive": MEMBER, "members": [MEMBER, ..], "frequent": [..]}
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

import numpy as np

from optbn.base.errors import DataError, OptbnError
from optbn.classifiers.aode import SuperParents
from optbn.classifiers.calibrate import Curves
from optbn.classifiers.forest import Forest
from optbn.classifiers.member import Member
from optbn.data.discretise.transformer import Column

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
            "power": classifier.power_,
            "curves": None if classifier.curves_ is None else classifier.curves_.to_record(),
            "members": [_member(member) for member in classifier.members_],
        }
    )


def from_json(content: bytes, source: str = "input") -> Any:
    """The classifier that was written; `source` is what errors call the content."""
    import msgspec

    from optbn.classifiers import load_classifier
    from optbn.classifiers.record import Classifier, Head

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
        _expect(len(set(classes)) == len(classes) > 0, "its classes are not different ones")
        _expect(len(record.weights) == len(record.members) > 0, "its members and their weights differ in number")
        _expect(
            bool(np.isfinite(made.weights_).all()) and min(record.weights) >= 0 < sum(record.weights), "its weights"
        )
        made.power_ = record.power
        _expect(0.0 < record.power < np.inf, "its power is not positive")
        if record.curves is not None:
            made.curves_ = Curves.from_record(record.curves, len(classes))
        a = len(made.members_[0].columns)
        _expect(all(len(member.columns) == a for member in made.members_), "its members have different columns")
        made.n_features_in_ = a
        if record.features is not None:
            _expect(len(record.features) == a, f"{len(record.features)} names of features, {a} columns")
            made.feature_names_in_ = np.array(record.features, dtype=object)
    except OptbnError as error:
        raise DataError(f"{source}: damaged, {error}") from None
    return made


def save_classifier(classifier: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier, whole or not at all."""
    from optbn.base.files import saving

    content = to_json(classifier)
    with saving(path) as partial:
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


def _read_column(record: Any) -> Column:
    name = record.name
    if (record.cuts is None) == (record.levels is None):
        raise DataError(f"column {name!r} needs either cuts or levels")
    cuts = None if record.cuts is None else np.array(record.cuts, dtype=np.float64)
    levels = None if record.levels is None else tuple(record.levels)
    if cuts is not None:
        _expect(bool(np.isfinite(cuts).all() and (np.diff(cuts) > 0).all()), f"the cuts of {name!r} do not ascend")
        _expect(record.missing in (None, len(cuts) + 1), f"the code of missing values of {name!r}")
    if levels is not None:
        _expect(len(set(levels)) == len(levels), f"the levels of {name!r} are not different ones")
        _expect(record.missing is None or 0 <= record.missing <= len(levels), f"the code of missing values of {name!r}")
    return Column(name, cuts, levels, record.missing)


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
    from optbn.classifiers.trees.member import TreeMember

    if isinstance(member, TreeMember):
        from optbn.classifiers.trees.saved import to_record

        return to_record(member, columns)
    from optbn.classifiers.soft.member import Mixture

    if isinstance(member, Mixture):
        from optbn.classifiers.soft.saved import to_record as mixture_record

        return mixture_record(member, columns, _member)
    import msgspec

    from optbn.network.formats import encode

    network = msgspec.json.decode(encode(member.bayesian_network, "json"))
    return {"kind": "bayesian_network", "columns": columns, "target": member.target, "network": network}


def _read_member(record: Any, classes: int) -> Any:
    from optbn.classifiers.record import DecisionTree, Mixture, Network
    from optbn.classifiers.record import SuperParents as SuperParentsRecord

    columns = tuple(_read_column(column) for column in record.columns)
    _expect(len(columns) > 0, "a member without columns")
    if isinstance(record, Network):
        return _read_network(record, columns, classes)
    if isinstance(record, SuperParentsRecord):
        naive = _read_network(record.naive, columns, classes)
        members = tuple(_read_network(each, columns, classes) for each in record.members)
        sizes = [column.n_levels for column in columns]
        _expect(len(members) == len(columns), "as many networks as columns are expected")
        _expect([len(each) for each in record.frequent] == sizes, "the frequent values do not fit the columns")
        return SuperParents(columns, naive.prior, naive, members, tuple(np.array(f) for f in record.frequent))
    if isinstance(record, DecisionTree):
        from optbn.classifiers.trees.saved import from_record

        return from_record(record, columns, classes)
    if isinstance(record, Mixture):
        from optbn.classifiers.soft.saved import from_record as mixture_of

        return mixture_of(record, columns, classes, lambda network: _read_member(network, classes))
    from optbn.classifiers.optimal import Optimum
    from optbn.data.dataset import Categorical
    from optbn.network.formats import decode

    network = decode(bytes(record.network), "json", "its network")
    wanted = {record.target: classes, **{column.name: len(column.labels) for column in columns}}
    for name, size in wanted.items():
        domain = network.domain(name) if name in network.names else None
        _expect(isinstance(domain, Categorical) and len(domain.levels) == size, f"its network and {name!r} do not fit")
    for column in columns:
        domain = network.domain(column.name)
        _expect(
            isinstance(domain, Categorical) and domain.levels == column.labels,
            f"its network has other levels of {column.name!r}",
        )
    _expect(len(wanted) == len(network.names) == len(columns) + 1, "its network is over other variables")
    return Optimum(columns, record.target, network)


def _read_network(record: Any, columns: tuple[Column, ...], classes: int) -> Member:
    sizes = [column.n_levels for column in columns]
    parents = {i: tuple(p) for i, p in record.parents}
    _expect(len(parents) == len(record.parents) == len(record.trees), "as many trees as attributes are expected")
    for i, asked in parents.items():
        family = {i, *asked}
        within = all(0 <= at < len(columns) for at in family)
        _expect(within and len(family) == 1 + len(asked), f"attribute {i} with the parents {list(asked)}")
    prior = np.array(record.prior, dtype=np.float64)
    _expect(len(prior) == classes and bool(np.isfinite(prior).all()), "one logarithm per class is expected")
    for (i, asked), tree in zip(parents.items(), record.trees, strict=True):
        _check_tree(tree, i, sizes[i], 1 + len(asked))
    return Member(columns, prior, parents, _forest(parents, record.trees, sizes))


def _check_tree(record: Any, attribute: int, size: int, depth: int) -> None:
    """Refuse what is not a tree, breadth first, of at most that depth: the compiled walk believes what it is given."""
    fanout, branch = np.array(record.fanout, dtype=np.int64), np.array(record.branch, dtype=np.int64)
    nodes = len(fanout)
    first = 1 + np.concatenate([[0], np.cumsum(fanout)])
    where = f"the tree of attribute {attribute}"
    _expect(nodes == len(branch) == len(record.values) > 0 and first[-1] == nodes, f"{where} does not add up")
    inner = np.flatnonzero(fanout)
    _expect(bool((first[inner] > inner).all()), f"{where} has a node before its parent")
    same = np.repeat(np.arange(nodes), fanout)  # the parent of node 1, 2, ..
    _expect(bool((np.diff(branch[1:])[np.diff(same) == 0] > 0).all()), f"{where} has branches that do not ascend")
    level = np.zeros(nodes, dtype=np.int64)
    for node in range(1, nodes):
        level[node] = level[same[node - 1]] + 1
    _expect(int(level.max()) <= depth, f"{where} is deeper than its questions")
    _expect(all(len(row) == size for row in record.values), f"{where} has a row of another length than {size}")
    _expect(all(v is None or np.isfinite(v) for row in record.values for v in row), f"{where} has an infinite value")


def _expect(fine: bool, what: str) -> None:
    if not fine:
        raise DataError(what)


def _tree(forest: Forest, t: int) -> dict[str, Any]:
    children, branch, values = forest.tree(t)
    finite = np.isfinite(values)
    rows = values.tolist() if finite.all() else np.where(finite, values, None).tolist()  # type: ignore[call-overload]
    return {"fanout": (children[:, 1] - children[:, 0]).tolist(), "branch": branch.tolist(), "values": rows}


def _forest(parents: dict[int, tuple[int, ...]], trees: list[Any], sizes: list[int]) -> Forest:
    from optbn.classifiers.forest import StoredTree

    stored = []
    for i, record in zip(parents, trees, strict=True):
        first = (1 + np.concatenate([[0], np.cumsum(record.fanout)])).astype(np.int32)
        values = np.array(record.values, dtype=np.float64)
        values[np.isnan(values)] = -np.inf
        stored.append(StoredTree(first, np.array(record.branch, dtype=np.int32), values.reshape(-1, sizes[i])))
    return Forest.of(parents, stored, [tree.values for tree in stored])
