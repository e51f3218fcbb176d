"""Losses of arcs from data to the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

import optbn
from optbn.base.errors import OptbnError
from optbn.cli import main


@pytest.fixture(scope="module")
def asia(tmp_path_factory):
    path = tmp_path_factory.mktemp("edges") / "asia.csv"
    optbn.write(optbn.load_network("asia").sample(300, 1), path)
    return path


def test_losses_are_against_constrained_optima(asia):
    data = optbn.read(asia)
    found = optbn.edges(data, "bdeu", 2)
    assert found.proved and "all proved" in repr(found)
    rows = found.rows()
    free = optbn.solve(optbn.score_table(data, "bdeu", 2)).score
    assert found.score == free
    for row in [rows[0], rows[-1], next(row for row in rows if not row["present"])]:
        arc = (row["from"], row["to"])
        rule = {"forbidden": [arc]} if row["present"] else {"required": [arc]}
        tied = optbn.score_table(data, "bdeu", 2, **rule)
        assert row["loss"] == pytest.approx(free - optbn.solve(tied).score, abs=1e-9)
    present = [row["loss"] for row in rows if row["present"]]
    assert present == sorted(present, reverse=True) and all(row["at_least"] == row["loss"] for row in rows)


def test_the_losses_do_not_depend_on_the_order_of_columns(asia):
    data = optbn.read(asia)
    turned = data.select(list(reversed(data.names)))
    one, other = optbn.edges(data, "pcartp", 2), optbn.edges(turned, "pcartp", 2)
    assert np.allclose(one.edges.adjacent, other.edges.adjacent[::-1, ::-1], atol=1e-9)


def test_the_command_line(asia, capsys):
    for arguments in (["--json"], ["--most", "2"]):
        with pytest.raises(SystemExit) as ended:
            main(["edges", str(asia), "--score", "bdeu", "-D", "2", *arguments])
        assert ended.value.code == 0
    out = capsys.readouterr().out
    answer, _, text = out.partition("\n")
    assert json.loads(answer)["proved"] is True
    assert "Best network with at most 2 parents per variable" in text and "The 2 nearest other arcs" in text


@pytest.mark.parametrize("keywords", [{"max_parents": -1}, {"ess": 0.0}, {"memory": "lots"}])
def test_what_cannot_be_is_refused(asia, keywords):
    with pytest.raises(OptbnError):
        optbn.edges(asia, "bdeu", **keywords)
