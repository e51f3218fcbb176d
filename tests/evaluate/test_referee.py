"""The referee: its gaps are in the very score that other programs maximise, and its report is from rows alone."""

from __future__ import annotations

import numpy as np
import pytest

from optbn.experiments.methods import Limits, load_method
from optbn.experiments.worth import score_of
from optbn.network.catalog import load_network
from results.referee import study


def test_bic_is_the_same_in_all_programs():
    data = study.as_seen(load_network("water").sample(300, 5))  # many of its levels do not occur
    assert any(len(a.levels) < len(b.levels) for a, b in zip(data.domains, load_network("water").domains, strict=True))
    graph = load_method("bic")(data, Limits(2, 60.0)).graph
    families = [
        (name, [graph.names[u] for u in np.flatnonzero(graph.matrix[:, v])]) for v, name in enumerate(data.names)
    ]
    ours = score_of(graph, data, "bic")
    gum = pytest.importorskip("pyagrum")
    learner = gum.BNLearner(data.to_frame().astype(str))
    learner.useScoreBIC()
    assert sum(learner.score(v, parents) for v, parents in families) * np.log(2) == pytest.approx(ours, rel=1e-9)
    pytest.importorskip("pgmpy")
    from pgmpy.structure_score import BIC

    theirs = BIC(data.to_frame())
    assert sum(theirs.local_score(v, tuple(parents)) for v, parents in families) == pytest.approx(ours, rel=1e-9)


def test_a_cell_and_the_report(tmp_path):
    pytest.importorskip("pyagrum")
    rows = []
    for repeat in range(3):
        for method in ("bic", "bdeu:1", "pyagrum-hc", "pyagrum-miic"):
            result = study.cell("asia", 100, repeat, method)
            assert 0 <= result["shd_skeleton"] <= result["shd_cpdag"] <= 28 and result["cpu"] >= 0
            cell = {"network": "asia", "rows": 100, "repeat": repeat, "method": method}
            rows.append({"cell": cell, "status": "done", "result": result})
    gaps = study._gaps(rows, "pyagrum-hc")
    assert len(gaps) == 3 and min(gaps.values()) >= -1e-6
    assert "score" not in rows[3]["result"]  # MIIC claims to maximise none of ours
    rows.append({"cell": {**rows[0]["cell"], "method": "pgmpy-pc"}, "status": "timeout", "error": "over 60 s"})
    text = study.report(rows, tmp_path)
    assert "than what pyagrum-hc finds of it | **" in text and "with 3 pairs the least p is 0.25" in text
    assert "| pyagrum-hc | 3 |" in text and "| pgmpy-pc | 1 | 1 | 0 |" in text
