"""Missing values as values: scores against the same data said in another way, and the whole way to answers."""

from __future__ import annotations

import numpy as np
import pytest

import optbn
from optbn.base.errors import OptbnError
from optbn.data.dataset import Categorical, Dataset, Real
from optbn.network.inference import sample_given
from optbn.scores.full_table import FT
from optbn.scores.pcart import PCART
from optbn.scores.pcart_avg import PCARTAverage

N = 240


def table(seed: int, share: float = 0.3) -> Dataset:
    """x real without some numbers, c and d categorical; x depends on c, d on whether x is there and on x."""
    rng = np.random.default_rng(seed)
    c = rng.integers(3, size=N).astype(np.uint8)
    x = rng.normal(size=N) + c
    x[rng.random(N) < share * (c + 1) / 2] = np.nan
    d = (np.where(np.isnan(x), 2, x > 1)).astype(np.uint8)
    d = np.where(rng.random(N) < 0.1, rng.integers(3, size=N), d).astype(np.uint8)
    levels = Categorical(("a", "b", "c"))
    return Dataset(("x", "c", "d"), (Real(-9, 9, absent=True), levels, levels), (x, c, d))


def score(method, data: Dataset, child: str, *parents: str) -> float:
    wanted = np.arange(data.n_variables)[None, :] == data.index(child)
    sets = np.array([sorted(map(data.index, parents))], np.int32).reshape(1, -1)
    bound = method.bind(data)
    value = float(bound.block(sets, wanted)[0, data.index(child)])
    fitted = bound.fitted(data.index(child), tuple(sets[0].tolist()))
    assert fitted.score == pytest.approx(value, rel=1e-9)
    return value


def beyond(data: Dataset) -> Dataset:
    """The same, with a number far above the range for none: the range is twice as long."""
    x, domain = data.column("x"), data.domain("x")
    span = domain.high - domain.low
    wide = Real(domain.low, domain.high + span)
    moved = np.where(np.isnan(x), domain.high + 0.9 * span, x)
    return Dataset(data.names, (wide, *data.domains[1:]), (moved, *data.columns[1:]))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("splits", [0, 1, 3])
@pytest.mark.parametrize("method", [PCART, PCARTAverage])
def test_a_parent_without_numbers_is_a_parent_with_numbers_out_of_reach(seed: int, splits: int, method) -> None:
    data = table(seed)
    for child, parents in [("d", ("x",)), ("d", ("c", "x")), ("c", ("x",))]:
        there = score(method(max_splits=splits, cuts="range"), data, child, *parents)
        finer = method(max_splits=splits + 1, cuts="range")
        assert there == pytest.approx(score(finer, beyond(data), child, *parents), rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [0.0, 0.3, 2.0])
def test_a_mixed_leaf_is_whether_there_is_a_number_and_the_numbers(seed: int, share: float) -> None:
    """Of full tables and of single leaves, in which there is nothing to choose."""
    data = table(seed, share)
    x = data.column("x")
    there = ~np.isnan(x)
    flag = Categorical(("number", "none"))
    flags = Dataset(("x", "c", "d"), (flag, *data.domains[1:]), ((~there).astype(np.uint8), *data.columns[1:]))
    for parents in [(), ("c",), ("c", "d")]:
        for method in [FT()] if parents else [FT(), PCART(), PCARTAverage()]:
            expected = score(method, flags, "x", *parents)
            if there.any():
                part = data.take(there)
                numbers = Dataset(part.names, (Real(-99, 99), *part.domains[1:]), tuple(part.columns))
                expected += score(method, numbers, "x", *parents)
            assert score(method, data, "x", *parents) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("method", [PCART(), FT(), PCARTAverage()])
def test_units_do_not_matter(method) -> None:
    data = table(5)
    x = data.column("x") * 1e6 + 7
    other = Dataset(data.names, (Real(-9e6 + 7, 9e6 + 7, True), *data.domains[1:]), (x, *data.columns[1:]))
    numbers = int((~np.isnan(x)).sum())
    for child, parents in [("x", ()), ("x", ("c",)), ("x", ("c", "d"))]:
        moved = score(method, data, child, *parents) - numbers * np.log(1e6)
        assert score(method, other, child, *parents) == pytest.approx(moved, rel=1e-9)
    for parents in [("x",), ("x", "c")]:
        assert score(method, other, "d", *parents) == pytest.approx(score(method, data, "d", *parents), rel=1e-9)


def test_another_score_refuses_by_name() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20, 2))
    x[3, 0] = np.nan
    data = Dataset(("x", "y"), (Real(-9, 9, True), Real(-9, 9)), (x[:, 0].copy(), x[:, 1].copy()))
    with pytest.raises(OptbnError, match="column 'x': BGe needs a number in every row"):
        optbn.score_table(data, "bge")


@pytest.mark.parametrize("name", ["pcartp", "ftp", "pcart-avg"])
def test_from_a_file_to_answers(tmp_path, name: str) -> None:
    data = table(1)
    path = tmp_path / "d.csv"
    optbn.write(data, path)
    found = optbn.learn(path, score=name, smoother="laplace")
    network = found.network
    assert network.domain("x").absent and found.report.data.rows == N
    assert any("missing" in note for note in found.report.notes)
    assert ("x", "d") in network.structure.arcs or ("d", "x") in network.structure.arcs
    rows = network.sample(20_000, seed=1)
    share = np.isnan(data.column("x")).mean()
    assert np.isnan(rows.column("x")).mean() == pytest.approx(share, abs=0.03)
    assert network.query("x").as_dict()[("missing",)] == pytest.approx(share, abs=0.02)
    given = network.query("d", {"x": "missing"})
    assert given.as_dict()[("c",)] > 0.6
    assert np.isfinite(network.log_likelihood_rows(data)).all()
    assert found.page()
    back = optbn.load_network(_saved(network, tmp_path / "n.json"))
    assert back == network
    both = optbn.read(path, missing="value")
    optbn.write(both, tmp_path / "d.parquet")
    assert optbn.read(tmp_path / "d.parquet").with_absent == ("x",)
    drawn = sample_given(network, 500, 1, {"d": "c"})
    assert np.isnan(drawn.column("x")).any()


def _saved(network, path) -> str:
    optbn.write_network(network, path)
    return str(path)


@pytest.mark.parametrize("seed", range(3))
def test_a_wide_parent_is_one_whose_rare_levels_were_merged(seed: int) -> None:
    rng = np.random.default_rng(seed)
    wide = rng.choice(20, N, p=rng.dirichlet(np.ones(20))).astype(np.uint8)
    y = ((wide % 3 == 0) ^ (rng.random(N) < 0.2)).astype(np.uint8)
    levels = Categorical(tuple(f"l{i:02}" for i in range(20)))
    data = Dataset(("w", "y"), (levels, Categorical(("0", "1"))), (wide, y))
    frequent = sorted(range(20), key=lambda code: (-int((wide == code).sum()), code))[:7]
    merged = np.array([frequent.index(code) if code in frequent else 7 for code in wide], np.uint8)
    by_hand = Dataset(("w", "y"), (Categorical(tuple("abcdefgh")), data.domains[1]), (merged, y))
    assert score(PCART(), data, "y", "w") == pytest.approx(score(PCART(), by_hand, "y", "w"), rel=1e-12)
    whole = score(PCART(), data, "w", "y")
    assert whole == score(PCART(most_levels=None), data, "w", "y")  # as a response it is whole


def test_quantiles_are_those_of_many_draws(tmp_path, capfd) -> None:
    from optbn.cli import main

    data = table(2)
    network = optbn.learn(data, score="pcartp", smoother="laplace").network
    posterior, drawn = network.query("x", {"d": "b"}), sample_given(network, 40_000, 1, {"d": "b"}).column("x")
    for share in (0.05, 0.5, 0.9):
        assert np.nanquantile(drawn, share) == pytest.approx(posterior.quantile(share), abs=0.05)
    optbn.write_network(network, tmp_path / "n.json")
    with pytest.raises(SystemExit):
        main(["query", str(tmp_path / "n.json"), "P(x)"])
    assert "nine tenths between" in capfd.readouterr().out
    with pytest.raises(SystemExit):
        main(["query", str(tmp_path / "n.json"), "P(d | x=99999)"])
    assert "x=99999 is outside its range, -9 to 9" in capfd.readouterr().err
