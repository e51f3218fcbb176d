"""Slow and obvious twins for optbn.network."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from optbn.data.dataset import Categorical, Dataset
from optbn.network.cpds import CPD, BinnedTableCPD, TableCPD
from optbn.network.leaves import CategoricalLeaves, NormalLeaves
from optbn.network.network import BayesianNetwork
from optbn.network.tree import Split


def naive_draw(cells, cumulative, raw):
    """The first level whose running sum exceeds the row's uniform number."""
    out = []
    for cell, bits in zip(cells, raw, strict=True):
        u = (int(bits) >> 11) / 2**53
        out.append(next(k for k, sum_to in enumerate(cumulative[cell]) if u < sum_to))
    return out


def naive_leaf(nodes: Sequence[Split | int], row: Sequence[float]) -> int:
    """The leaf of one row: walk the nodes as `Tree.build` was given them."""
    node = nodes[0]
    while isinstance(node, Split):
        x = row[node.parent]
        left = int(x) in node.goes_left if isinstance(node.goes_left, tuple) else x < node.goes_left
        node = nodes[node.left if left else node.right]
    return node


def naive_cell(cpd: CPD, row: Sequence[float]) -> int:
    """The cell of one row of parent values."""
    if not isinstance(cpd, TableCPD | BinnedTableCPD):
        return naive_leaf(cpd.tree.nodes(cpd.parent_domains), row)
    cell = 0
    for i, (x, domain) in enumerate(zip(row, cpd.parent_domains, strict=True)):
        if isinstance(domain, Categorical):
            cell = cell * len(domain.levels) + int(x)
        else:
            cell = cell * (len(cpd.cuts[i]) + 1) + sum(x >= cut for cut in cpd.cuts[i])
    return cell


def naive_log_density(cpd: CPD, value: float, row: Sequence[float]) -> float:
    """log P(value | row) of one row, the formula of the leaf written out."""
    cell, leaves = naive_cell(cpd, row), cpd.leaves
    if isinstance(leaves, CategoricalLeaves):
        p = leaves.probabilities[cell][int(value)]
        return math.log(p) if p > 0 else -math.inf
    if isinstance(leaves, NormalLeaves):
        mean, sd = leaves.mean[cell], leaves.sd[cell]
        return math.log(math.exp(-((value - mean) ** 2) / (2 * sd * sd)) / (sd * math.sqrt(2 * math.pi)))
    m, s, d = leaves.location[cell], leaves.scale[cell], leaves.dof[cell]
    beta = math.exp(math.lgamma((d + 1) / 2) - math.lgamma(d / 2))
    return math.log(beta / (math.sqrt(d * math.pi) * s) * (1 + ((value - m) / s) ** 2 / d) ** (-(d + 1) / 2))


def naive_log_likelihood(network: BayesianNetwork, data: Dataset) -> list[float]:
    """log P of every row, variable by variable."""
    out = []
    for i in range(data.n_rows):
        row = {name: data.column(name)[i] for name in data.names}
        terms = [
            naive_log_density(network.cpd(name), row[name], [row[p] for p in network.parents(name)])
            for name in network.names
        ]
        out.append(math.fsum(terms))
    return out


def naive_joint(network: BayesianNetwork) -> np.ndarray:
    """P of every configuration of a small discrete network, one axis per variable."""
    sizes = [len(d.levels) for d in network.domains]
    joint = np.ones(sizes)
    at = {name: i for i, name in enumerate(network.names)}
    for codes in itertools.product(*map(range, sizes)):
        for name, cpd in zip(network.names, network.cpds, strict=True):
            joint[codes] *= math.exp(naive_log_density(cpd, codes[at[name]], [codes[at[p]] for p in cpd.parents]))
    return joint


def all_dags(n: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """The parent sets of every DAG on n variables."""
    pairs = list(itertools.combinations(range(n), 2))
    for directions in itertools.product((0, 1, 2), repeat=len(pairs)):
        parents: list[list[int]] = [[] for _ in range(n)]
        for (u, v), direction in zip(pairs, directions, strict=True):
            if direction == 1:
                parents[v].append(u)
            elif direction == 2:
                parents[u].append(v)
        left = set(range(n))
        while ready := {v for v in left if not left & set(parents[v])}:
            left -= ready
        if not left:
            yield tuple(tuple(p) for p in parents)


def independences(parents: Sequence[Sequence[int]]) -> tuple[frozenset, frozenset]:
    """Skeleton and v-structures, which say which DAGs are equivalent."""
    n = len(parents)
    skeleton = frozenset(frozenset((u, v)) for v in range(n) for u in parents[v])
    colliders = frozenset(
        (frozenset((u, w)), v)
        for v in range(n)
        for u, w in itertools.combinations(parents[v], 2)
        if frozenset((u, w)) not in skeleton
    )
    return skeleton, colliders


def meek_essential_graph(parents: Sequence[Sequence[int]]) -> tuple[set, set]:
    """(arcs, edges u < v): skeleton and v-structures, closed under Meek's three rules (1995)."""
    n = len(parents)
    skeleton, colliders = independences(parents)
    arcs = {(u, v) for pair, v in colliders for u in pair}
    while True:
        new = set()
        for a, b in itertools.permutations(range(n), 2):
            if frozenset((a, b)) not in skeleton or (a, b) in arcs or (b, a) in arcs:
                continue
            others = [c for c in range(n) if c not in (a, b)]
            chain = any((c, a) in arcs and frozenset((c, b)) not in skeleton for c in others)
            path = any((a, c) in arcs and (c, b) in arcs for c in others)
            into = [c for c in others if (c, b) in arcs and frozenset((a, c)) in skeleton]
            into = [c for c in into if (a, c) not in arcs and (c, a) not in arcs]
            kite = any(frozenset(pair) not in skeleton for pair in itertools.combinations(into, 2))
            if chain or path or kite:
                new.add((a, b))
        if not new:
            break
        arcs |= new
    directed = {frozenset(arc) for arc in arcs}
    return arcs, {tuple(sorted(pair)) for pair in skeleton - directed}


def random_network(rng: np.random.Generator, n: int, max_parents: int = 3) -> BayesianNetwork:
    """A discrete network with random levels, arcs (parents may stand anywhere in the order) and tables."""
    names = [f"x{i}" for i in range(n)]
    domains = [Categorical(tuple(f"l{k}" for k in range(rng.integers(2, 5)))) for _ in names]
    order = rng.permutation(n)
    cpds: list[TableCPD] = [None] * n  # type: ignore[list-item]
    for i, v in enumerate(order):
        k = int(rng.integers(0, min(i, max_parents) + 1))
        parents = rng.permutation(order[:i])[:k]
        given = tuple(domains[p] for p in parents)
        shape = (*(len(d.levels) for d in given), len(domains[v].levels))
        table = rng.dirichlet(np.ones(shape[-1]), size=shape[:-1])
        cpds[v] = TableCPD(domains[v], tuple(names[p] for p in parents), given, table)
    return BayesianNetwork(tuple(names), tuple(domains), tuple(cpds))


def naive_mixed_joint(network, target, given):
    """(P(target | given), log P(given)) of test_network.mixed_network by sums over levels and, for the
    real variables X and S, over the midpoints of a grid (cells end at the network's thresholds, wide in the tails)."""
    edges = np.concatenate([np.arange(-800, -20, 2), np.arange(-200, 300) / 10, np.arange(30, 800, 2)])
    grid, widths = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    axes = {}
    for name, domain in zip(network.names, network.domains, strict=True):
        if name in given:
            value = given[name]
            axes[name] = np.array([domain.levels.index(value) if isinstance(domain, Categorical) else value])
        elif isinstance(domain, Categorical):
            axes[name] = np.arange(len(domain.levels))
        elif name != "Y":  # nothing depends on Y
            axes[name] = grid
    weights = np.zeros(len(network.domain(target).levels))
    for a, b, t in itertools.product(axes["A"], axes["B"], axes["T"]):
        x, s = (m.ravel() for m in np.meshgrid(axes["X"], axes["S"], indexing="ij"))
        columns = {"A": a, "B": b, "T": t, "X": x, "S": s, "Y": np.full(len(x), given.get("Y", 0.0))}
        columns = {k: v if isinstance(v, np.ndarray) else np.full(len(x), v) for k, v in columns.items()}
        sizes = [widths if v not in given else np.ones(1) for v in "XS"]
        total = np.log(np.multiply.outer(*sizes)).ravel()
        for name in network.names:
            if name != "Y" or "Y" in given:
                cpd = network.cpd(name)
                total += cpd.log_density(columns[name], [columns[p] for p in cpd.parents])
        weights[{"A": a, "B": b, "T": t}[target]] += np.exp(total).sum()
    return weights / weights.sum(), math.log(weights.sum())


def interventional_class(parents: Sequence[Sequence[int]], targets: Sequence[frozenset[int]]) -> list[set]:
    """The arcs of every DAG that neither independences nor the experiments tell from this one."""

    def cut(graph: Sequence[Sequence[int]]) -> set:
        return {
            (number, u, v)
            for number, target in enumerate(targets)
            for v, ps in enumerate(graph)
            for u in ps
            if (u in target) != (v in target)
        }

    wanted = independences(parents)
    return [
        {(u, v) for v, ps in enumerate(graph) for u in ps}
        for graph in all_dags(len(parents))
        if independences(graph) == wanted and cut(graph) == cut(parents)
    ]
