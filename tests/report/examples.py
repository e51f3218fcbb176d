"""Reports for tests: of a bundled network, and of one whose names are as unfriendly as they come."""

from __future__ import annotations

import msgspec
import numpy as np

from optbn.data.dataset import Categorical, Real
from optbn.network.cpds import BinnedTableCPD, TableCPD, TreeCPD
from optbn.network.formats import encode
from optbn.network.leaves import CategoricalLeaves, NormalLeaves
from optbn.network.network import BayesianNetwork
from optbn.network.tree import Split, Tree
from optbn.report.report import Arc, Column, DataSummary, Outcome, Phase, Report, TracePoint

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "Größe & \"Maß\" 'ß'",
    "${x} \u2028 $style",
)


def report_of(network: BayesianNetwork, title: str = "an example") -> Report:
    """A complete report around a network, with made-up strengths."""
    compelled = {(network.names[u], network.names[v]) for u, v in network.to_cpdag().arcs}
    columns = tuple(
        Column(name, "categorical", levels=domain.levels)
        if isinstance(domain, Categorical)
        else Column(name, "real", low=domain.low, high=domain.high)
        for name, domain in zip(network.names, network.domains, strict=True)
    )
    arcs = network.structure.arcs
    return Report(
        title=title,
        version="0",
        data=DataSummary("example.csv", 1000, "0" * 64, columns),
        settings={"score": "pcartp", "max parents": 3, "target": None},
        outcome=Outcome("optimal", -100.5, -100.5, "Proved optimal, checked independently", ("All rows re-proved.",)),
        arcs=tuple(Arc(p, c, float(i + 1), (p, c) in compelled) for i, (p, c) in enumerate(arcs)),
        network=msgspec.json.decode(encode(network, "json")),
        counts={network.names[0]: tuple([7] * network.cpds[0].leaves.cells)},
        families_scored=1234,
        families_kept=56,
        phases=(Phase("read", 0.1, 0.1), Phase("score", 1.0, 1.9)),
        trace=(TracePoint(0.0, None, -90.0), TracePoint(0.5, -110.0, -95.0), TracePoint(0.9, -100.5, -100.5)),
        alternatives=("without b -> c: 0.2 nat less",),
        notes=("a note",),
        command="optbn learn example.csv",
    )


def hostile_network() -> BayesianNetwork:
    """Four variables of every kind, with hostile names: a table, a tree over reals, bins, normal leaves."""
    a, b, c, d = HOSTILE
    two, real = Categorical(("<5", "</td>")), Real(0.0, 10.0)
    root = TableCPD(two, (), (), np.array([0.25, 0.75]))
    normal = TreeCPD(
        real,
        (a,),
        (two,),
        Tree.build([Split(0, (0,), 1, 2), 0, 1], (two,)),
        NormalLeaves(np.array([1.0, 2.0]), np.array([0.5, 0.25])),
    )
    tree = TreeCPD(
        two,
        (a, b),
        (two, real),
        Tree.build([Split(1, 5.0, 1, 2), 0, Split(0, (1,), 3, 4), 1, 2], (two, real)),
        CategoricalLeaves(np.array([[0.1, 0.9], [0.5, 0.5], [0.99, 0.01]])),
    )
    binned = BinnedTableCPD(
        two, (b,), (real,), (np.array([2.0, 4.5]),), CategoricalLeaves(np.array([[0.2, 0.8], [0.5, 0.5], [1.0, 0.0]]))
    )
    return BayesianNetwork((a, b, c, d), (two, real, two, two), (root, normal, tree, binned))
