"""Networks with counted probabilities as plain JSON values, and back; `optbn.classifiers.saved` says what they are.

What was read is checked before it is walked: the compiled walk believes what it is given.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from optbn.base.errors import DataError
from optbn.classifiers import record as records
from optbn.classifiers.a2de import PairParents
from optbn.classifiers.aode import SuperParents
from optbn.classifiers.forest import Forest, StoredTree
from optbn.classifiers.member import Member
from optbn.data.discretise.transformer import Column


def networks_record(
    member: Member | SuperParents | PairParents,
) -> records.Network | records.SuperParents | records.PairParents:
    """One network, or those of an average."""
    if isinstance(member, Member):
        return network_record(member)
    if isinstance(member, SuperParents):
        return _average_record(member)
    return records.PairParents(
        columns=[column_record(column) for column in member.columns],
        single=_average_record(member.single),
        pairs=list(member.pairs),
        members=[network_record(each) for each in member.members],
        weights=member.weights.tolist(),
        frequent=[f.tolist() for f in member.frequent],
        general=member.general.tolist(),
    )


def network_record(member: Member) -> records.Network:
    """One network."""
    return records.Network(
        columns=[column_record(column) for column in member.columns],
        prior=member.prior.tolist(),
        parents=[(i, list(p)) for i, p in member.parents.items()],
        trees=[_tree(member.forest, t) for t in range(len(member.parents))],
    )


def _average_record(member: SuperParents) -> records.SuperParents:
    return records.SuperParents(
        columns=[column_record(column) for column in member.columns],
        naive=network_record(member.naive),
        members=[network_record(each) for each in member.members],
        frequent=[f.tolist() for f in member.frequent],
    )


def columns_of(record: Any) -> tuple[Column, ...]:
    """The columns of any member."""
    columns = tuple(_read_column(column) for column in record.columns)
    expect(len(columns) > 0, "a member without columns")
    return columns


def networks_of(
    record: records.Network | records.SuperParents | records.PairParents, classes: int
) -> Member | SuperParents | PairParents:
    """The network or average that was written, or a DataError that says what does not fit."""
    if isinstance(record, records.Network):
        return network_of(record, classes)
    if isinstance(record, records.PairParents):
        return _read_pairs(record, classes)
    return _read_average(record, classes)


def network_of(record: records.Network, classes: int) -> Member:
    """The network that was written, likewise."""
    return _read_network(record, columns_of(record), classes)


def _read_average(record: records.SuperParents, classes: int) -> SuperParents:
    columns = columns_of(record)
    naive = _read_network(record.naive, columns, classes)
    members = tuple(_read_network(each, columns, classes) for each in record.members)
    sizes = [column.n_levels for column in columns]
    expect(len(members) == len(columns), "as many networks as columns are expected")
    expect([len(each) for each in record.frequent] == sizes, "the frequent values do not fit the columns")
    return SuperParents(columns, naive.prior, naive, members, tuple(np.array(f) for f in record.frequent))


def column_record(column: Column) -> records.Attribute:
    cuts = None if column.cuts is None else column.cuts.tolist()
    return records.Attribute(column.name, cuts, column.levels, column.missing)


def _read_column(record: records.Attribute) -> Column:
    name = record.name
    if (record.cuts is None) == (record.levels is None):
        raise DataError(f"column {name!r} needs either cuts or levels")
    cuts = None if record.cuts is None else np.array(record.cuts, dtype=np.float64)
    levels = record.levels
    if cuts is not None:
        expect(bool(np.isfinite(cuts).all() and (np.diff(cuts) > 0).all()), f"the cuts of {name!r} do not ascend")
        expect(record.missing in (None, len(cuts) + 1), f"the code of missing values of {name!r}")
    if levels is not None:
        expect(len(set(levels)) == len(levels), f"the levels of {name!r} are not different ones")
        expect(record.missing is None or 0 <= record.missing <= len(levels), f"the code of missing values of {name!r}")
    return Column(name, cuts, levels, record.missing)


def _read_pairs(record: records.PairParents, classes: int) -> PairParents:
    columns, single = columns_of(record), _read_average(record.single, classes)
    sizes = [column.n_levels for column in columns]
    expect([c.n_levels for c in single.columns] == sizes, "its single parents have other columns")
    members = tuple(_read_network(each, columns, classes) for each in record.members)
    frequent = tuple(np.array(f, dtype=np.bool_) for f in record.frequent)
    weights = np.array(record.weights, dtype=np.float64)
    expect(len(record.pairs) == len(members) == len(frequent) == len(weights), "as many networks as pairs are expected")
    expect(bool((np.isfinite(weights) & (weights >= 0)).all()), "the weights of its pairs")
    for (p, q), table in zip(record.pairs, frequent, strict=True):
        expect(p < q < len(sizes) and table.shape == (sizes[p], sizes[q]), f"the pair {p}, {q}")
    general = np.array(record.general, dtype=np.int64).reshape(-1, 4)
    for i, x, j, z in general:
        expect(i < len(sizes) and j < len(sizes) and x < sizes[i] and z < sizes[j], "a value that is subsumed")
    return PairParents(single, tuple(record.pairs), members, weights, frequent, general)


def _read_network(record: records.Network, columns: tuple[Column, ...], classes: int) -> Member:
    sizes = [column.n_levels for column in columns]
    parents = {i: tuple(p) for i, p in record.parents}
    expect(len(parents) == len(record.parents) == len(record.trees), "as many trees as attributes are expected")
    for i, questions in parents.items():
        family = {i, *questions}
        within = all(0 <= at < len(columns) for at in family)
        expect(within and len(family) == 1 + len(questions), f"attribute {i} with the parents {list(questions)}")
    prior = np.array(record.prior, dtype=np.float64)
    expect(len(prior) == classes and bool(np.isfinite(prior).all()), "one logarithm per class is expected")
    for (i, questions), tree in zip(parents.items(), record.trees, strict=True):
        _check_tree(tree, i, sizes[i], 1 + len(questions))
    return Member(columns, prior, parents, _forest(parents, record.trees, sizes))


def _check_tree(record: records.Tree, attribute: int, size: int, depth: int) -> None:
    """Refuse what is not a tree, breadth first, of at most that depth: the compiled walk believes what it is given."""
    fanout, branch = np.array(record.fanout, dtype=np.int64), np.array(record.branch, dtype=np.int64)
    nodes = len(fanout)
    first = 1 + np.concatenate([[0], np.cumsum(fanout)])
    where = f"the tree of attribute {attribute}"
    expect(nodes == len(branch) == len(record.values) > 0 and first[-1] == nodes, f"{where} does not add up")
    inner = np.flatnonzero(fanout)
    expect(bool((first[inner] > inner).all()), f"{where} has a node before its parent")
    same = np.repeat(np.arange(nodes), fanout)  # the parent of node 1, 2, ..
    expect(bool((np.diff(branch[1:])[np.diff(same) == 0] > 0).all()), f"{where} has branches that do not ascend")
    level = np.zeros(nodes, dtype=np.int64)
    for node in range(1, nodes):
        level[node] = level[same[node - 1]] + 1
    expect(int(level.max()) <= depth, f"{where} is deeper than its questions")
    expect(all(len(row) == size for row in record.values), f"{where} has a row of another length than {size}")
    expect(all(v is None or np.isfinite(v) for row in record.values for v in row), f"{where} has an infinite value")


def expect(fine: bool, what: str) -> None:
    if not fine:
        raise DataError(what)


def _tree(forest: Forest, t: int) -> records.Tree:
    children, branch, values = forest.tree(t)
    finite = np.isfinite(values)
    rows = values.tolist() if finite.all() else np.where(finite, values, None).tolist()  # type: ignore[call-overload]
    return records.Tree((children[:, 1] - children[:, 0]).tolist(), branch.tolist(), rows)


def _forest(parents: dict[int, tuple[int, ...]], trees: list[records.Tree], sizes: list[int]) -> Forest:
    stored = []
    for i, record in zip(parents, trees, strict=True):
        first = (1 + np.concatenate([[0], np.cumsum(record.fanout)])).astype(np.int32)
        values = np.array(record.values, dtype=np.float64)
        values[np.isnan(values)] = -np.inf
        stored.append(StoredTree(first, np.array(record.branch, dtype=np.int32), values.reshape(-1, sizes[i])))
    return Forest.of(parents, stored, [tree.values for tree in stored])
