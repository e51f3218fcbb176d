"""The studies' cells and reports, small: paired samples, proved optima, and verdicts computed from the rows."""

from __future__ import annotations

import numpy as np
import pytest

from optbn.data.dataset import Categorical, Dataset, Real
from optbn.data.write import write
from optbn.experiments import intersection, learning, runner
from optbn.experiments.evidence import counted, evidence_of
from optbn.experiments.spec import Experiment, read
from optbn.network.catalog import load_network
from optbn.scores.pipeline import score_table
from results.cuts import study as cuts
from results.density import study as density
from results.hyper import study as hyper
from results.recovery import study as recovery
from results.times import study as times
from tests.paths import study


def test_recovery_runs_reports_and_pairs_the_samples(tmp_path):
    grid = {"network": ("asia",), "rows": (60,), "repeat": (0, 1), "method": ("pcartp", "bdeu:1")}
    experiment = Experiment(study("recovery"), (grid,), {"max_parents": 2}, "Small", 120)
    assert runner.run(experiment, tmp_path).failed == 0
    rows = runner.rows(experiment, tmp_path)
    assert all(row["result"]["evidence"] == "proved" and row["result"]["families"] == 8 * 29 for row in rows)
    text = runner.report(experiment, tmp_path).read_text()
    assert "| 60 |" in text and "4 of 4 networks are proved optimal" in text
    again = recovery.cell("asia", 60, 1, "bdeu:1", max_parents=2)
    kept = next(row["result"] for row in rows if (row["cell"]["repeat"], row["cell"]["method"]) == (1, "bdeu:1"))
    assert {k: v for k, v in again.items() if "cpu" not in k} == {k: v for k, v in kept.items() if "cpu" not in k}


def rows_of(network: str, size: int, distances: dict[str, list[int]]) -> list[dict]:
    result = {
        "arcs": 3,
        "evidence": "proved",
        "gap": 0.0,
        "score_cpu": 1.0,
        "solve_cpu": 2.0,
        "families": 10,
        "kept": 5,
    }
    return [
        {
            "status": "done",
            "cell": {"network": network, "rows": size, "repeat": repeat, "method": method},
            "result": {**result, "shd_dag": value, "shd_cpdag": 2 * value},
        }
        for method, values in distances.items()
        for repeat, value in enumerate(values)
    ]


@pytest.mark.parametrize(
    ("pcartp", "each", "together", "difference"),
    [
        ([1] * 8, "agrees", "agrees", "-4.00 over 8 pairs (p = 0.0078)"),
        ([1] * 6, "cannot be told", "agrees", "-4.00 over 6 pairs (p = 0.031)"),
        ([4, 6, 4, 5, 4, 6], "cannot be told", "cannot be told", "-0.17 over 6 pairs"),
        ([9] * 8, "the opposite", "the opposite", "+4.00 over 8 pairs"),
        ([5] * 8, "cannot be told", "cannot be told", "+0.00 over 8 pairs (p = 1)"),
    ],
)
def test_the_verdict_on_a_claim_follows_from_the_rows(tmp_path, pcartp, each, together, difference):
    rows = rows_of("insurance", 400, {"pcartp": pcartp, "ftp": [5] * len(pcartp)})
    text = recovery.report(rows, tmp_path)
    claim = "| PCARTp is below FTp on insurance for N <= 400, DAGs,"
    assert f"{claim} each size | **{each}** |" in text
    assert f"{claim} all sizes together | **{together}** | {difference}" in text
    assert ("with 6 pairs the least p is 0.0312" in text) == (len(pcartp) == 6)
    assert "on alarm" not in text and "Outside" not in text
    rows += rows_of("insurance", 800, {"pcartp": [2, 2], "ftp": [3, 5]})
    assert "- Outside that range (800) on insurance: -2.00 over 2 pairs" in recovery.report(rows, tmp_path)


def test_the_claim_of_no_difference_is_refuted_by_a_significant_one(tmp_path):
    claim = "PCARTp and FTp do not differ significantly on alarm, DAGs, each size |"
    for ftp, repeats, word in ((5, 8, "the opposite"), (1, 8, "agrees"), (5, 6, "cannot be told")):
        rows = rows_of("alarm", 400, {"pcartp": [1] * repeats, "ftp": [ftp] * repeats})
        assert f"{claim} **{word}**" in recovery.report(rows, tmp_path)
    rows = [
        row
        for size, ftp in ((50, 5), (100, 1), (200, 1))
        for row in rows_of("alarm", size, {"pcartp": [1] * 8, "ftp": [ftp] * 8})
    ]
    assert f"{claim} **agrees in part**" in recovery.report(rows, tmp_path)


def test_old_rows_do_not_pass_for_proofs():
    results = [{"evidence": "proved"}, {"evidence": "searched completely"}, {"optimal": True}, {"optimal": False}]
    assert [evidence_of(result) for result in results] == ["proved", "searched completely", "unchecked", "best found"]
    assert counted(results).startswith("1 of 4 networks are proved optimal, 1 searched completely (claimed,")


def test_times_are_made_of_the_rows_of_other_studies(tmp_path):
    for name in ("one", "times"):
        (tmp_path / name).mkdir()
    grid = 'network = "asia"\nrows = [60]\nrepeat = [0]\nmethod = ["ft", "ftp"]'
    (tmp_path / "one" / "spec.toml").write_text(f'task = "curve"\n[fixed]\nmax_parents = 1\n[[grid]]\n{grid}')
    (tmp_path / "times" / "spec.toml").write_text(f'task = "{study("times")}"\nof = ["../one/spec.toml"]')
    runner.run(read(tmp_path / "one" / "spec.toml"), tmp_path / "one")
    reading = read(tmp_path / "times" / "spec.toml")
    assert runner.run(reading, tmp_path / "times") == runner.Tally(0, 0, 0, 0)
    assert [row["study"] for row in runner.rows(reading, tmp_path / "times")] == ["one", "one"]
    text = runner.report(reading, tmp_path / "times").read_text()
    assert "2 of 2 cells done" in text and "| one | ftp | 1 |" in text and "| asia | ft | 60 | 1 |" in text
    by_hand = tmp_path / "by-hand"
    by_hand.mkdir()
    rows = [{**row, "study": "s"} for row in rows_of("asia", 60, {"ft": [1, 1]})]
    assert "| s | ft | 2 | 2 | 4 | 67 % | 100 % | 2.0 | 50.00 % |" in times.report(rows, by_hand)


def test_hyper_parameters_are_compared_on_equal_samples(tmp_path):
    grid = {
        "network": ("asia",), "rows": (100,), "repeat": (0, 1), "model": ("ft",), "alpha": (0.5, 50.0),
        "prior": ("none", "arcs"),
    }  # fmt: skip
    experiment = Experiment(study("hyper"), (grid,), {"max_parents": 2, "held_out": 500})
    assert runner.run(experiment, tmp_path).failed == 0
    rows = runner.rows(experiment, tmp_path)
    arcs = {prior: sum(r["result"]["arcs"] for r in rows if r["cell"]["prior"] == prior) for prior in ("none", "arcs")}
    assert arcs["arcs"] < arcs["none"]
    text = runner.report(experiment, tmp_path).read_text()
    assert "Over the 2 samples that all 4 settings have learned from, by the ranks in all three measures" in text
    assert "8 of 8 networks are proved optimal" in text
    assert "For full tables the lowest mean rank has **alpha 0.5" in text  # 50 smooths everything away


def test_levels_seen_as_real_numbers_keep_the_true_density():
    truth = load_network("sachs")
    data, fresh = truth.sample(300, 1), truth.sample(200, 2)
    (real, real_fresh), added = hyper.as_real(data, fresh, 1)
    widths = []
    for v, domain in enumerate(data.domains):
        made = real.domains[v]
        assert isinstance(made, Real) and made == real_fresh.domains[v]
        width = (made.high - made.low) / len(domain.levels)
        assert ((real_fresh.columns[v] - made.low) // width == fresh.columns[v]).all()
        widths.append(width)
    assert added == pytest.approx(-np.log(widths).sum())


def test_intersection_study_reads_agreement_from_its_rows(tmp_path):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 80).astype(np.uint8)
    b = np.where(rng.random(80) < 0.95, a, 1 - a).astype(np.uint8)
    two = Categorical(("0", "1"))
    write(Dataset(("a", "b"), (two, two), (a, b)), tmp_path / "d.csv")
    grid = {"data": (str(tmp_path / "d.csv"),), "part": (1, 2), "repeat": (0, 1), "method": ("bic", "bdeu:1")}
    experiment = Experiment("intersection", (grid,), {"max_parents": 1})
    runner.run(experiment, tmp_path / "r")
    text = runner.report(experiment, tmp_path / "r").read_text()
    assert "The methods agree on 1 of 1 pairs of variables; 1 of them are edges. **Caution: " in text
    assert "| bic - bdeu:1 | " in text
    assert intersection.cell(str(tmp_path / "d.csv"), 1, 1, "bic") == {"same as": 0}


@pytest.mark.parametrize(("score", "plain"), [("pcartp", "pcart"), ("ftp", "ft")])
def test_a_penalised_table_follows_from_the_plain_one(score, plain):
    data = load_network("sachs").sample(150, 2)
    found = learning.learn(data, score, 4, "auto", 60.0, {})
    expected = score_table(data, score, 4, jobs=1)
    assert 0 < len(expected) < len(score_table(data, plain, 4, jobs=1))
    assert found.families == 11 * (1 + 10 + 45 + 120 + 210)
    for child in range(11):
        rows = {found.scores.parents(row): found.scores.scores[row] for row in found.scores.rows(child)}
        direct = {expected.parents(row): expected.scores[row] for row in expected.rows(child)}
        assert rows == pytest.approx(direct, abs=1e-9)


def test_a_penalty_that_does_not_fall_throughout_is_scored_directly():
    assert not learning.falls(8, 5)  # binom(7, 5) < binom(7, 4)
    data = load_network("asia").sample(80, 2)
    found = learning.learn(data, "ftp", 5, "auto", 60.0, {})
    assert found.scores.digest == score_table(data, "ftp", 5, jobs=1).digest


def test_levels_are_merged_before_sampling():
    four = Categorical(("a", "b", "c", "d"))
    data = Dataset(
        ("x", "y"),
        (four, Real(0.0, 100.0)),
        (np.array([3, 0, 3, 1, 3, 0], dtype=np.uint8), np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
    )
    made = intersection.prepared(data, most_levels=3)
    assert made.domains[0] == Categorical(("a", "d", "others"))
    assert made.columns[0].tolist() == [1, 0, 1, 2, 1, 0]
    assert intersection.prepared(data, most_levels=4) == data


@pytest.fixture
def mixed_file(tmp_path):
    """300 rows: a group, two numbers that depend on it and on each other, one that depends on nothing."""
    rng = np.random.default_rng(5)
    group = rng.integers(2, size=300)
    x = rng.normal(3.0 * group)
    rows = zip(group, x, x + rng.normal(size=300), rng.normal(size=300), strict=True)
    path = tmp_path / "mixed.csv"
    path.write_text("\n".join(["g,x,y,z", *(f"{'ab'[g]},{x:.4f},{y:.4f},{z:.4f}" for g, x, y, z in rows)]))
    return str(path)


def test_density_runs_every_method_and_reports(mixed_file, tmp_path):
    methods = ("pcartp", "pcart-avg", "ftp", "bins", "conditional Gaussian", "copula")
    grid = {"data": (mixed_file,), "repeat": (0, 1), "method": methods}
    fixed = {"max_parents": 2, "rows": 150, "columns": 14, "most_levels": 6}
    experiment = Experiment(study("density"), (grid,), fixed, "Small", 120)
    assert runner.run(experiment, tmp_path / "rows").failed == 0
    rows = runner.rows(experiment, tmp_path / "rows")
    assert all(row["result"]["optimal"] for row in rows)
    found = {row["cell"]["method"]: row["result"]["density"] for row in rows if row["cell"]["repeat"] == 0}
    truth = -np.log(2) - 1.5 * np.log(2 * np.pi * np.e)  # minus the entropy of the group and of three unit normals
    assert max(found, key=found.get) == "conditional Gaussian"  # the data are one
    assert truth - 0.3 < found["conditional Gaussian"] < truth + 0.3 and min(found.values()) > truth - 1.5
    assert "| conditional Gaussian |" in runner.report(experiment, tmp_path / "rows").read_text()


@pytest.mark.parametrize("n_values", [3, 200])
def test_marginals_of_the_density_study_are_densities(n_values):
    rng = np.random.default_rng(n_values)
    mine = rng.choice(rng.normal(5.0, 2.0, n_values), 200)
    grid = np.linspace(-400.0, 400.0, 800_001)
    cuts = np.unique(np.quantile(mine, [0.2, 0.4, 0.6, 0.8]))
    cuts = cuts[(cuts > mine.min()) & (cuts < mine.max())]
    edges = np.searchsorted(cuts, grid)
    for interval in range(len(cuts) + 1):
        mass = np.exp(density._within(mine, cuts, grid))[edges == interval].sum() * 1e-3
        assert mass == pytest.approx(1.0, abs=0.02)
    z, jacobian = density._normal_scores(mine, grid[::10])
    assert (np.diff(z) >= -1e-9).all()
    assert np.exp(jacobian - 0.5 * z**2 - 0.5 * np.log(2 * np.pi)).sum() * 1e-2 == pytest.approx(1.0, abs=0.02)


def test_cuts_learns_and_judges(mixed_file):
    result = cuts.cell(mixed_file, 0, "rank", 3, 2, rows=150, columns=14, most_levels=6)
    assert result["optimal"] and result["leaves"] >= 4 and np.isfinite(result["held_out"])
