"""optbn's own JSON: the one format that holds every kind of CPD in full.

    {"format": "optbn-network", "version": 1, "name": .., "properties": {..}, "precision": {variable: [rows, ..]},
     "variables": [{"name": .., "levels": [..], "ordered": false} | {"name": .., "range": [low, high]}, ..],
     "cpds": [{"kind": "table", "parents": [..], "rows": [[p, ..], ..]}
              {"kind": "tree", "parents": [..], "nodes": [{"parent": .., "below": x, "left": i, "right": j}
                    | {"parent": .., "levels": [..], "left": i, "right": j} | {"leaf": k}, ..], "leaves": LEAVES}
              {"kind": "binned", "parents": [..], "cuts": [[..], ..], "leaves": LEAVES}, ..]}
    LEAVES = {"kind": "categorical", "rows": [[p, ..], ..]} | {"kind": "normal", "mean": [..], "sd": [..]}
             | {"kind": "student", "location": [..], "scale": [..], "dof": [..]}

Rows go through the configurations of the parents, the last parent fastest; cpds[i] belongs to variables[i]. `precision`
(if known) says how many rows each cell's distribution is worth, see `BayesianNetwork`. Floats are written with their
shortest exact decimals, so reading gives back the same bits.
"""

from __future__ import annotations

import math
import re
from typing import Any

import msgspec
import numpy as np

from optbn.base.errors import DataError, NetworkError
from optbn.data.dataset import Categorical, Domain, Real
from optbn.network.cpds import CPD, BinnedTableCPD, TableCPD, TreeCPD
from optbn.network.formats.json_records import (
    BinnedRecord,
    CategoricalRecord,
    LeavesRecord,
    NetworkRecord,
    NodeRecord,
    NormalRecord,
    StudentRecord,
    TableRecord,
    TreeRecord,
    VariableRecord,
)
from optbn.network.leaves import CategoricalLeaves, Leaves, MixedLeaves, NormalLeaves, StudentLeaves
from optbn.network.network import BayesianNetwork
from optbn.network.structure import FORMAT as STRUCTURE
from optbn.network.tree import Split, Tree

FORMAT, VERSION = "optbn-network", 1


class _Kind(msgspec.Struct):
    format: str = ""


def read(content: bytes, source: str, rescale: bool = False) -> BayesianNetwork:
    """The network in a JSON file. `rescale` has nothing to do: this format is exact."""
    try:
        kind = msgspec.json.decode(content, type=_Kind).format
        if kind == STRUCTURE:
            raise NetworkError(f"{source}: a structure without parameters; optbn fit gives it some")
        if not kind:
            raise NetworkError(f"{source}: JSON, but no network that optbn wrote (it has no 'format')")
        if kind != FORMAT:
            raise NetworkError(f"{source}: expected the format {FORMAT!r}, found {kind!r}")
        file = msgspec.json.decode(content, type=NetworkRecord)
    except msgspec.ValidationError as error:
        raise NetworkError(f"{source}: {error}") from None
    except msgspec.DecodeError as error:
        raise NetworkError(f"{source}:{_place(content, str(error))}: expected JSON ({error})") from None
    except (UnicodeDecodeError, RecursionError) as error:
        raise NetworkError(f"{source}:1:1: expected JSON ({error})") from None
    if file.version != VERSION:
        raise NetworkError(f"{source}: written by a newer optbn (version {file.version}, this one reads {VERSION})")
    names = tuple(v.name for v in file.variables)
    if len(file.cpds) != len(names):
        raise NetworkError(f"{source}: {len(names)} variables but {len(file.cpds)} cpds")
    try:
        domains = tuple(_domain(v) for v in file.variables)
        known = dict(zip(names, domains, strict=True))
        cpds = []
        for name, domain, record in zip(names, domains, file.cpds, strict=True):
            try:
                cpds.append(_cpd(record, domain, known))
            except (NetworkError, DataError) as error:
                raise NetworkError(f"variable {name!r}: {error}") from None
        properties = {key: tuple(texts) for key, texts in file.properties.items()}
        precision = {key: np.array(rows, dtype=np.float64) for key, rows in file.precision.items()}
        return BayesianNetwork(names, domains, tuple(cpds), file.name, properties, precision)
    except (NetworkError, DataError) as error:
        raise NetworkError(f"{source}: {error}") from None


def _place(content: bytes, message: str) -> str:
    """ "line:column" of msgspec's byte position."""
    found = re.search(r"byte (\d+)", message)
    at = min(int(found[1]), len(content)) if found else len(content)
    line, column = content.count(b"\n", 0, at) + 1, at - content.rfind(b"\n", 0, at)
    return f"{line}:{column}"


def _domain(variable: VariableRecord) -> Domain:
    if (variable.levels is None) == (variable.range is None):
        raise NetworkError(f"variable {variable.name!r} needs either levels or a range")
    if variable.levels is not None:
        if not variable.levels:
            raise NetworkError(f"variable {variable.name!r} has no levels")
        return Categorical(tuple(variable.levels), variable.ordered)
    form = {key: getattr(variable, key) for key in ("absent", "whole", "unit", "declared")}
    return Real(*variable.range, **form)  # type: ignore[misc]


def _cpd(record: TableRecord | TreeRecord | BinnedRecord, domain: Domain, known: dict[str, Domain]) -> CPD:
    parents = tuple(record.parents)
    for parent in parents:
        if parent not in known:
            raise NetworkError(f"parent {parent!r} is not a variable")
    domains = tuple(known[p] for p in parents)
    if isinstance(record, TableRecord):
        rows = _matrix(record.rows)
        sizes = [len(d.levels) if isinstance(d, Categorical) else 1 for d in domains]
        if len(rows) != np.prod(sizes, dtype=object):
            raise NetworkError(f"{len(rows)} rows, expected {np.prod(sizes, dtype=object)}")
        return TableCPD(domain, parents, domains, rows.reshape(*sizes, -1))  # type: ignore[arg-type]
    leaves = _leaves(record.leaves)
    if isinstance(record, BinnedRecord):
        above = [[np.inf] if isinstance(d, Real) and d.absent else [] for d in domains]
        cuts = tuple(np.array([*c, *end], dtype=np.float64) for c, end in zip(record.cuts, above, strict=False))
        return BinnedTableCPD(domain, parents, domains, cuts, leaves)
    nodes = [_split(i, node, parents, domains) for i, node in enumerate(record.nodes)]
    return TreeCPD(domain, parents, domains, Tree.build(nodes, domains), leaves)


def _split(i: int, node: NodeRecord, parents: tuple[str, ...], domains: tuple[Domain, ...]) -> Split | int:
    if node.leaf is not None:
        if node.parent is not None:
            raise NetworkError(f"tree node {i} is both a leaf and a split")
        return node.leaf
    if node.parent not in parents or (node.below is not None) + (node.levels is not None) + node.has_number != 1:
        raise NetworkError(f"tree node {i} needs a leaf, or a parent with one of 'below', 'levels' and 'has_number'")
    position = parents.index(node.parent)
    if node.has_number:
        return Split(position, np.inf, node.left, node.right)
    if node.below is not None:
        return Split(position, node.below, node.left, node.right)
    domain = domains[position]
    known = domain.levels if isinstance(domain, Categorical) else ()
    for level in node.levels or ():
        if level not in known:
            raise NetworkError(f"tree node {i}: {node.parent!r} has no level {level!r}")
    return Split(position, tuple(known.index(level) for level in node.levels or ()), node.left, node.right)


def _leaves(record: LeavesRecord) -> Leaves:
    if isinstance(record, CategoricalRecord):
        rows = _matrix(record.rows)
        if record.runs is not None and [len(row) for row in record.runs] != [rows.shape[1]] * len(rows):
            raise NetworkError("runs need a number for every level, in every leaf")
        return CategoricalLeaves(rows, None if record.runs is None else np.array(record.runs, np.int32))
    numbers: NormalLeaves | StudentLeaves
    if isinstance(record, NormalRecord):
        numbers = NormalLeaves(np.array(record.mean), np.array(record.sd), record.support)
    else:
        numbers = StudentLeaves(np.array(record.location), np.array(record.scale), np.array(record.dof))
    return numbers if record.absent is None else MixedLeaves(np.array(record.absent), numbers)


def _matrix(rows: list[list[float]]) -> Any:
    if not rows or len({len(row) for row in rows}) != 1 or not rows[0]:
        raise NetworkError("rows of probabilities must be of one length, at least 1")
    return np.array(rows, dtype=np.float64)


def plain(network: BayesianNetwork) -> dict[str, Any]:
    """What the file says, as plain values."""
    return {
        **_head(network),
        "variables": [
            msgspec.to_builtins(each) | ({"range": list(each.range)} if each.range else {})
            for each in _variables(network)
        ],
        "cpds": [msgspec.to_builtins(_record(cpd)) for cpd in network.cpds],
    }


def write(network: BayesianNetwork) -> bytes:
    """The network as JSON, one variable and one CPD per line."""
    variables, encode = _variables(network), msgspec.json.encode
    parts = [
        encode(_head(network))[:-1],
        b'"variables":[\n' + b",\n".join(map(encode, variables)) + b"]",
        b'"cpds":[\n' + b",\n".join(encode(_record(cpd)) for cpd in network.cpds) + b"]}\n",
    ]
    return b",\n".join(parts)


def cpd_json(network: BayesianNetwork, name: str) -> bytes:
    """One CPD, as it stands in the file."""
    return msgspec.json.encode(_record(network.cpd(name)))


def variable_json(network: BayesianNetwork, name: str) -> bytes:
    """One variable's name and domain, as they stand in the file."""
    return msgspec.json.encode(_variable(name, network.domain(name)))


def summary_json(network: BayesianNetwork) -> bytes:
    """Counts, variables, domains and parents: the network without its parameters."""
    content = {
        "name": network.name,
        "counts": {
            "variables": network.n_variables,
            "arcs": network.n_arcs,
            "parameters": network.n_parameters,
        },
        "variables": [
            {**msgspec.to_builtins(_variable(name, domain)), "parents": network.parents(name)}
            for name, domain in zip(network.names, network.domains, strict=True)
        ],
        "properties": network.properties,
    }
    return msgspec.json.format(msgspec.json.encode(content), indent=1)


def _head(network: BayesianNetwork) -> dict[str, Any]:
    head = {"format": FORMAT, "version": VERSION, "name": network.name, "properties": network.properties}
    precision = {name: rows.tolist() for name, rows in network.precision.items()}
    return head | ({"precision": precision} if precision else {})


def _variables(network: BayesianNetwork) -> list[VariableRecord]:
    return [_variable(name, domain) for name, domain in zip(network.names, network.domains, strict=True)]


def _variable(name: str, domain: Domain) -> VariableRecord:
    if isinstance(domain, Categorical):
        return VariableRecord(name, levels=list(domain.levels), ordered=domain.ordered)
    span, whole = (domain.low, domain.high), domain.whole or None
    return VariableRecord(name, None, False, span, domain.absent, whole, domain.unit, domain.declared)


def _record(cpd: CPD) -> TableRecord | TreeRecord | BinnedRecord:
    parents = list(cpd.parents)
    if isinstance(cpd, TableCPD):
        return TableRecord(parents, cpd.leaves.probabilities.tolist())
    if isinstance(cpd, BinnedTableCPD):
        return BinnedRecord(parents, [c[np.isfinite(c)].tolist() for c in cpd.cuts], _leaves_record(cpd.leaves))
    nodes = []
    for node in cpd.tree.nodes(cpd.parent_domains):
        if not isinstance(node, Split):
            nodes.append(NodeRecord(leaf=node))
            continue
        record = NodeRecord(parent=cpd.parents[node.parent], left=node.left, right=node.right)
        domain = cpd.parent_domains[node.parent]
        if isinstance(domain, Categorical) and isinstance(node.goes_left, tuple):
            record.levels = [domain.levels[code] for code in node.goes_left]
        elif node.goes_left == np.inf:
            record.has_number = True
        elif isinstance(node.goes_left, float):
            record.below = node.goes_left
        nodes.append(record)
    return TreeRecord(parents, nodes, _leaves_record(cpd.leaves))


def _leaves_record(leaves: Leaves) -> LeavesRecord:
    if isinstance(leaves, CategoricalLeaves):
        return CategoricalRecord(leaves.probabilities.tolist(), None if leaves.runs is None else leaves.runs.tolist())
    if isinstance(leaves, MixedLeaves):
        numbers = _leaves_record(leaves.numbers)
        assert not isinstance(numbers, CategoricalRecord)
        numbers.absent = leaves.absent.tolist()
        return numbers
    if isinstance(leaves, NormalLeaves):
        support = leaves.support
        least, most = (end if math.isfinite(end) else None for end in (support.least, support.most))
        return NormalRecord(
            leaves.mean.tolist(), leaves.sd.tolist(), None, least, most, support.whole, support.declared
        )
    return StudentRecord(leaves.location.tolist(), leaves.scale.tolist(), leaves.dof.tolist())
