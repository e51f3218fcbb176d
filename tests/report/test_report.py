"""The report's round trip, the layout's promises, and a page that carries everything and asks for nothing."""

from __future__ import annotations

import json
import re
from itertools import combinations, pairwise

import numpy as np
import pytest

import optbn
from optbn.base.errors import DataError
from optbn.network.formats import decode
from optbn.network.layout import GAP, ROOM, layered
from optbn.report.page import render
from optbn.report.report import from_json, to_json
from tests.report.examples import HOSTILE, hostile_network, report_of


def test_a_report_survives_its_json(tmp_path):
    report = report_of(hostile_network())
    assert from_json(to_json(report)) == report
    assert report.model() == hostile_network()
    (tmp_path / "r.json").write_bytes(to_json(report))
    assert from_json((tmp_path / "r.json").read_bytes()) == report


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"format": "other"}'])
def test_anything_else_is_refused(text):
    with pytest.raises(DataError, match="not a report"):
        from_json(text)


def test_the_layout_puts_parents_above_children_and_nothing_on_top_of_another():
    rng = np.random.default_rng(0)
    for n, density in ((1, 0), (2, 1), (12, 0.2), (40, 0.05), (60, 0.02)):
        arcs = [(u, v) for u in range(n) for v in range(u + 1, n) if rng.random() < density]
        widths = rng.uniform(40, 180, n)
        heights = rng.uniform(30, 110, n).tolist()
        layout = layered(widths, arcs, heights)
        for u, v in arcs:
            gap = layout.positions[v][1] - layout.positions[u][1]
            assert gap >= (heights[u] + heights[v]) / 2 + ROOM - 1e-6
        for u in range(n):
            for v in range(u):
                (x1, y1), (x2, y2) = layout.positions[u], layout.positions[v]
                assert abs(y1 - y2) > 20 or abs(x1 - x2) >= (widths[u] + widths[v]) / 2 + GAP - 1e-6
        for (u, v), route in zip(arcs, layout.routes, strict=True):
            heights = [layout.positions[u][1], *(y for _, y in route), layout.positions[v][1]]
            assert heights == sorted(heights)


def test_few_arcs_cross():
    """A tree is drawn without crossings; of alarm's 46 arcs few cross (28 do in the order that igraph gives)."""
    alarm = optbn.load_network("alarm").structure
    names = list(alarm.names)
    known = [(names.index(parent), names.index(child)) for parent, child in alarm.arcs]
    for arcs, most in (([((v - 1) // 3, v) for v in range(1, 40)], 0), (known, 20)):
        n = 1 + max(map(max, arcs))
        layout = layered([80.0] * n, arcs)
        lines = []
        for (u, v), route in zip(arcs, layout.routes, strict=True):
            lines += pairwise([layout.positions[u], *route, layout.positions[v]])
        crossings = sum(
            (a[1], b[1]) == (c[1], d[1]) and (a[0] - c[0]) * (b[0] - d[0]) < 0
            for (a, b), (c, d) in combinations(lines, 2)
        )
        assert crossings <= most


def test_the_page_is_self_contained_and_every_name_is_escaped():
    page = render(report_of(hostile_network(), title=HOSTILE[0]))
    outside = re.sub(r'<script id="view".*?</script>', "", page, flags=re.S)
    assert "alert(" not in outside.replace("&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;", "")
    assert page.count("<script") == 2 and page.count("</script>") == 2
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)
    data = json.loads(re.search(r'<script id="view" type="application/json">(.*?)</script>', page, re.S).group(1))
    assert [node["label"] for node in data["nodes"]] == list(HOSTILE)
    assert decode(json.dumps(data["network"]).encode(), "json", "the page") == hostile_network()


def test_the_page_cites_the_papers_of_score_and_smoother():
    data = optbn.load_network("cancer").sample(60, 1)
    learned = optbn.learn(data, score="bds", prior="size", smoother="hierarchical", max_parents=1)
    assert [paper.split(":")[0] for paper in learned.report.papers] == ["BDs", "Probabilities"]
    assert "Scutari" in learned.page() and "Azzimonti" in learned.page() and "Heckerman" not in learned.page()
