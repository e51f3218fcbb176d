"""Predicting with a saved classifier where there is only Python and numpy: this file and the model are all it takes.

    from portable import Model
    Model("model.json").predict_proba({"age": [39, None], "job": ["nurse", "cook"]})

Columns are lists or arrays by name; None and NaN are missing values. It is some ten times slower than optbn, compiles
nothing and imports nothing else, so it may be copied out of the package. OptimalBN, which answers by inference in a
network, is not among what it reads.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Array = Any
TRUTH = (("false", "true"), ("False", "True"), ("FALSE", "TRUE"), ("0", "1"))
"""Truth values in any of these spellings are the same."""


class Model:
    """classes and features are those of training, in their order."""

    def __init__(self, path: str | Path) -> None:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
        if record.get("format") != "optbn-classifier" or record.get("version") != 1:
            raise ValueError(f"{path}: is not a classifier of version 1 written by optbn")
        self.classes: list[Any] = record["classes"]
        self.columns = record["members"][0]["columns"]
        self.features = [column["name"] for column in self.columns]
        self._record = record

    def predict_proba(self, columns: Mapping[str, Sequence[Any]]) -> Array:
        """float64[n, classes]."""
        absent = [name for name in self.features if name not in columns]
        if absent:
            raise ValueError(f"the column {absent[0]!r} is not there")
        values = [_values(columns[name]) for name in self.features]
        weighted = zip(self._record["weights"], self._record["members"], strict=True)
        p = _normalised(sum(weight * _posterior(member, values, len(self.classes)) for weight, member in weighted))
        return _calibrated(_normalised(p ** self._record.get("power", 1.0)), self._record.get("curves"))

    def predict(self, columns: Mapping[str, Sequence[Any]]) -> list[Any]:
        """The most probable class of each row."""
        return [self.classes[k] for k in self.predict_proba(columns).argmax(axis=1)]


def _normalised(p: Array) -> Array:
    return p / p.sum(axis=1, keepdims=True)


def _calibrated(p: Array, curves: Any) -> Array:
    if not curves:
        return p
    found = [
        np.interp(p[:, c if len(curves) > 1 else 1], each["points"], each["values"]) for c, each in enumerate(curves)
    ]
    return np.stack([1.0 - found[0], found[0]], axis=1) if len(found) == 1 else _normalised(np.stack(found, axis=1))


def _softmax(logs: Array) -> Array:
    top = logs.max(axis=1, keepdims=True)
    logs = np.where(np.isfinite(top), logs, 0.0)
    return _normalised(np.exp(logs - logs.max(axis=1, keepdims=True)))


def _values(column: Sequence[Any]) -> list[Any]:
    """What was given, None where it is missing."""
    return [None if v is None or v != v else v.item() if hasattr(v, "item") else v for v in column]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    return str(value)


def _numbers(values: list[Any]) -> Array:
    truth = {text: float(i) for pair in TRUTH[:3] for i, text in enumerate(pair)}
    return np.array([np.nan if v is None else truth.get(v) or float(truth.get(v, v)) for v in values], dtype=float)


def _cut(column: Any, numbers: Array) -> Array:
    missing = -1 if column["missing"] is None else column["missing"]
    return np.where(np.isnan(numbers), missing, np.searchsorted(column["cuts"], numbers, side="left"))


def _codes(column: Any, values: list[Any]) -> Array:
    """The code of each value, -1 where nothing is known."""
    if column["cuts"] is not None:
        return _cut(column, _numbers(values))
    missing = -1 if column["missing"] is None else column["missing"]
    known = {level: code for code, level in enumerate(column["levels"])}
    for own in TRUTH[:3]:
        if known.keys() <= set(own):
            known = {text: known[o] for pair in TRUTH for o, text in zip(own, pair, strict=True) if o in known}
            break
    return np.array([missing if v is None else known.get(_text(v), missing) for v in values], dtype=int)


def _as_numbers(columns: Sequence[Any], values: Sequence[list[Any]]) -> Array:
    """float64[a, n]: numbers as they are, levels as numbers, NaN where nothing is known."""
    found = []
    for column, each in zip(columns, values, strict=True):
        known = _numbers(each) if column["levels"] is None else _codes(column, each)
        found.append(known if column["levels"] is None else np.where(known < 0, np.nan, known))
    return np.array(found, dtype=float)


def _posterior(member: Any, values: Sequence[list[Any]], classes: int) -> Array:
    kind, columns = member["kind"], member["columns"]
    if kind == "mixture":
        return _mixture(member, values, classes)
    if kind == "decision_tree":
        return _walk(member, _as_numbers(columns, values), [c["missing"] is not None for c in columns],
                     [c["levels"] is not None for c in columns])  # fmt: skip
    codes = [_codes(column, each) for column, each in zip(columns, values, strict=True)]
    logs = {"network": _log_joint, "super_parents": _super_parents, "pair_parents": _pair_parents}.get(kind)
    if logs is None:
        raise ValueError(f"a member of kind {kind!r} needs optbn itself")
    return _softmax(logs(member, codes, classes))


class _Branches:
    """Which child a node has on a branch; children are breadth first and ascend by branch."""

    def __init__(self, fanout: Sequence[int], branch: Sequence[int]) -> None:
        self.width = max(branch) + 2
        self.first = 1 + np.cumsum(fanout) - fanout
        self.fanout = np.array(fanout)
        self.keys = np.repeat(np.arange(len(fanout)), fanout) * self.width + np.array(branch[1:], dtype=int)

    def child(self, node: Array, value: Array) -> Array:
        """-1 where there is none."""
        if not len(self.keys):
            return np.full(len(node), -1)
        key = node * self.width + np.minimum(value, self.width - 1)
        at = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
        return np.where((self.keys[at] == key) & (value >= 0), at + 1, -1)


def _log_joint(network: Any, codes: Sequence[Array], classes: int) -> Array:
    n = len(codes[0])
    out = np.tile(np.array(network["prior"]), (n, 1))
    for (attribute, questions), tree in zip(network["parents"], network["trees"], strict=True):
        branches = _Branches(tree["fanout"], tree["branch"])
        values = np.array([[-np.inf if v is None else v for v in row] for row in tree["values"]], dtype=float)
        x = codes[attribute]
        for y in range(classes):
            node, alive = np.zeros(n, dtype=int), np.ones(n, dtype=bool)
            for value in (np.full(n, y), *(codes[p] for p in questions)):
                below = branches.child(node, value)
                alive &= below >= 0
                node = np.where(alive, below, node)
            out[:, y] += np.where(x >= 0, values[node, np.maximum(x, 0)], 0.0)
    return out


def _together(terms: Iterable[tuple[Array, Array]], otherwise: Array) -> Array:
    """Per row, the logarithm of the sum over the (rows, logs) that have the row; `otherwise` where none has it."""
    total = np.full_like(otherwise, -np.inf)
    for rows, logs in terms:
        total = np.where(rows[:, None], np.logaddexp(total, logs), total)
    return np.where(np.isneginf(total).all(axis=1)[:, None], otherwise, total)


def _super_parents(member: Any, codes: Sequence[Array], classes: int) -> Array:
    terms = (
        (np.append(np.array(frequent, dtype=bool), False)[codes[i]] & (codes[i] >= 0), _log_joint(one, codes, classes))
        for i, (one, frequent) in enumerate(zip(member["members"], member["frequent"], strict=True))
    )
    return _together(terms, _log_joint(member["naive"], codes, classes))


def _pair_parents(member: Any, codes: Sequence[Array], classes: int) -> Array:
    resolved = [each.copy() for each in codes]
    for i, x, j, z in member["general"]:
        resolved[i][(codes[i] == x) & (codes[j] == z)] = -1
    terms = []
    tables = zip(member["pairs"], member["members"], member["weights"], member["frequent"], strict=True)
    for (p, q), network, weight, frequent in tables:
        if weight > 0:
            known = (resolved[p] >= 0) & (resolved[q] >= 0)
            rows = known & np.array(frequent, dtype=bool)[resolved[p], resolved[q]]
            terms.append((rows, _log_joint(network, resolved, classes) + np.log(weight)))
    return _together(terms, _super_parents(member["single"], resolved, classes))


def _walk(tree: Any, values: Array, third: Sequence[bool], nominal: Sequence[bool]) -> Array:
    """What a decision tree says; rows with unknown values go down all branches by the rows these had."""
    branches = _Branches(tree["fanout"], tree["branch"])
    attribute, answers = np.array(tree["attribute"]), np.array(tree["probabilities"])
    cut = np.array([np.inf if c is None else c for c in tree["cut"]])
    totals = np.array(tree.get("totals", [1.0] * len(attribute)))
    is_nominal, has_third = np.array(nominal), np.array(third)
    out = np.zeros((values.shape[1], answers.shape[1]))
    rows, node, share = np.arange(values.shape[1]), np.zeros(values.shape[1], dtype=int), np.ones(values.shape[1])
    while len(rows):
        a = attribute[node]
        leaf = a < 0
        v = values[np.maximum(a, 0), rows]
        unknown = np.isnan(v) & ~leaf & (is_nominal[a] | ~has_third[a])
        numeric = np.where(np.isnan(v), 2, np.where(v <= cut[node], 0, 1))
        branch = np.where(is_nominal[a], np.where(np.isnan(v), -1, v), numeric).astype(int)
        below = np.where(leaf | unknown, -1, branches.child(node, branch))
        ends = (below < 0) & ~unknown
        np.add.at(out, rows[ends], share[ends, None] * answers[node[ends]])
        onward = [(rows[below >= 0], below[below >= 0], share[below >= 0])]
        for u in np.unique(node[unknown]):
            here = unknown & (node == u)
            children = branches.first[u] + np.arange(branches.fanout[u])
            for child, part in zip(children, totals[children] / totals[children].sum(), strict=True):
                onward.append((rows[here], np.full(here.sum(), child), share[here] * part))
        rows, node, share = (np.concatenate(parts) for parts in zip(*onward, strict=True))
    return out


def _mixture(member: Any, values: Sequence[list[Any]], classes: int) -> Array:
    columns, places = member["columns"], []
    text = [column["levels"] is not None for column in columns]
    for column, scale, each in zip(columns, member["scales"], _as_numbers(columns, values), strict=True):
        if column["levels"] is not None:
            cells = np.array([*scale["cells"], max(scale["cells"], default=-1) + 1])
            known = np.isfinite(each) & (each != column["missing"])  # None is no number
            places.append(cells[np.where(known, each, len(cells) - 1).astype(int)].astype(float))
        elif scale["points"]:
            places.append(np.interp(each, scale["points"], scale["ranks"]))
        else:
            places.append(np.zeros(len(each)))
    at = np.array(places)
    parts = [_softmax(_soft(network, member["scales"], at, classes)) for network in member["networks"]]
    parts += [_walk(tree, at, [not t for t in text], text) for tree in member["trees"]]
    for network in member["counted"]:
        coded = [
            _cut(c, p) if c["cuts"] is not None else p.astype(int) for c, p in zip(network["columns"], at, strict=True)
        ]
        parts.append(_softmax(_log_joint(network, coded, classes)))
    return _normalised(sum(share * part for share, part in zip(member["shares"], parts, strict=True)))


def _soft(network: Any, scales: Sequence[Any], places: Array, classes: int) -> Array:
    """Scores of soft cells: a value has up to two, a pair up to four."""
    scores = np.array(network["scores"])
    mains, pairs = [], []  # (cells and shares, how many cells) of each attribute
    for knots, scale, place in zip(network["knots"], scales, places, strict=True):
        if knots:
            known = np.nan_to_num(place)
            low = np.clip(np.searchsorted(knots, known, side="right") - 1, 0, max(len(knots) - 2, 0))
            high = np.minimum(low + 1, len(knots) - 1)
            width = np.where(high > low, np.array(knots)[high] - np.array(knots)[low], 1.0)
            share = np.where(high > low, np.clip((known - np.array(knots)[low]) / width, 0.0, 1.0), 0.0)
            share = np.where(np.isnan(place), 0.0, share.astype(np.float32))
            own = [(np.where(np.isnan(place), len(knots), low), 1.0 - share), (high, share)]
            mains.append((own, len(knots) + 1))
            pairs.append(mains[-1])
        else:
            cell, one = place.astype(int), np.ones(len(place))
            mains.append(([(cell, one)], max(scale["cells"], default=-1) + 2))
            pairs.append(([(np.array(scale["coarse"])[cell], one)], max(scale["coarse"]) + 1))
    total = np.tile(scores[:, 0], (places.shape[1], 1))
    start = 1
    for own, count in mains:
        for cell, share in own:
            total += share[:, None] * scores[:, start + cell].T
        start += count
    for i, parents in network["parents"]:
        for p in parents:
            (first, height), (second, width) = pairs[i], pairs[p]
            for c, a in first:
                for d, b in second:
                    total += (a * b)[:, None] * scores[:, start + c * width + d].T
            start += height * width
    if classes == 1:
        return np.zeros((len(total), 1))
    return np.column_stack([np.zeros(len(total)), total]) if classes == 2 else total


def main() -> None:
    """python portable.py MODEL.json ROWS.csv: the predicted class and the probabilities of all, as csv."""
    model = Model(sys.argv[1])
    with open(sys.argv[2], newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns = {name: [row[name] or None for row in rows] for name in model.features}
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["class", *(f"P({c})" for c in model.classes)])
    for row in model.predict_proba(columns):
        out.writerow([model.classes[row.argmax()], *(f"{p:.6g}" for p in row)])


if __name__ == "__main__":
    main()
