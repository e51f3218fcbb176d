"""Related data sets: what domains borrow from what is common and from themselves, tiers, other ways, and bad input."""

from __future__ import annotations

import numpy as np
import pytest

import optbn
from optbn.base.errors import DataError, UnknownNameError, UnsupportedError
from optbn.data.dataset import Categorical, Dataset, Real
from optbn.network.cpds import BinnedTableCPD, TableCPD
from optbn.network.leaves import NormalLeaves
from optbn.network.network import BayesianNetwork
from optbn.smoothing.borrowing import MIDDLE, SPREAD, around, between, by_depth, mixture, strength
from optbn.smoothing.domains import fit_domains

AB = Categorical(("a", "b"))
XYZ = Categorical(("x", "y", "z"))
UNIT = Real(-20.0, 20.0)


def table(*rows):
    return np.array(rows, dtype=float)


def related(n=(400, 10, 0), seed=0):
    """Rows of asia-like domains: P(lung | smoke) differs a little between them."""
    generator = np.random.default_rng(seed)
    domain = np.repeat(np.arange(3), n).astype(np.uint8)
    smoke = generator.integers(0, 2, len(domain)).astype(np.uint8)
    chance = np.array([[0.2, 0.7], [0.25, 0.75], [0.2, 0.7]])[domain, smoke]
    lung = (generator.random(len(domain)) < chance).astype(np.uint8)
    city = Categorical(("Rome", "Bern", "Oslo"))
    real = generator.normal(5.0 * lung, 1.0)
    return Dataset(
        ("city", "smoke", "lung", "size"), (city, AB, AB, UNIT), (domain, smoke, lung, np.clip(real, -20, 20))
    )


@pytest.mark.parametrize("smoother", ["hierarchical", "hdp", "bdeu", "mle"])
def test_domains_have_tables_of_their_own(smoother):
    data = related((4000, 4000, 4000))
    found = fit_domains({"smoke": (), "lung": ("smoke",)}, data, "city", smoother)
    assert list(found) == ["Rome", "Bern", "Oslo"]
    for level, truth in (("Rome", (0.2, 0.7)), ("Bern", (0.25, 0.75))):
        assert np.abs(found[level].cpd("lung").probabilities[:, 1] - truth).max() < 0.04


def test_small_domains_borrow_and_an_empty_one_takes_what_is_common():
    """Twenty towns that differ a little, ten rows each, one without rows: better together than each alone."""
    generator = np.random.default_rng(0)
    truth = np.clip(generator.normal([0.2, 0.75], 0.03, (20, 2)), 0.05, 0.95)
    domain = np.repeat(np.arange(19), 10).astype(np.uint8)
    smoke = generator.integers(0, 2, 190).astype(np.uint8)
    lung = (generator.random(190) < truth[domain, smoke]).astype(np.uint8)
    town = Categorical(tuple(map(str, range(20))))
    data = Dataset(("town", "smoke", "lung"), (town, AB, AB), (domain, smoke, lung))
    structure = {"smoke": (), "lung": ("smoke",)}

    def error(networks):
        found = np.array([network.cpd("lung").probabilities[:, 1] for network in networks])
        return np.abs(found[:19] - truth[:19]).mean()

    together = list(fit_domains(structure, data, "town").values())
    alone = [optbn.fit(structure, data.take(domain == d), "hierarchical") for d in range(19)]
    assert error(together) < 0.9 * error(alone)
    assert np.abs(together[19].cpd("lung").probabilities[:, 1] - [0.2, 0.75]).max() < 0.15


def test_domains_of_one_family_by_hand():
    """The joint of X x Pa with the domain as the only context: the shared model's, divided by the parents' margin."""
    from optbn.smoothing.hierarchical import posterior

    data = related()
    found = fit_domains({"smoke": (), "lung": ("smoke",)}, data, "city", share="joint")
    counts = np.zeros((3, 4))
    np.add.at(counts, (data.column("city"), 2 * data.column("smoke") + data.column("lung")), 1)
    joint = posterior(counts, "learned", "learned").theta().reshape(3, 2, 2)
    for i, level in enumerate(found):
        assert np.allclose(found[level].cpd("lung").probabilities, joint[i] / joint[i].sum(axis=1, keepdims=True))


def test_rows_of_domains_lie_between_the_common_row_and_their_own_by_hand():
    data = related((300, 40, 5))
    found = fit_domains({"smoke": (), "lung": ("smoke",)}, data, "city", "bdeu", ess=4.0)
    common = optbn.fit({"smoke": (), "lung": ("smoke",)}, data, "bdeu", ess=4.0)
    assert found.common == common
    counts = np.zeros((3, 2, 2))
    np.add.at(counts, (data.column("city"), data.column("smoke"), data.column("lung")), 1)
    expected, worth = between_by_hand(counts, common.cpd("lung").probabilities)
    for d, level in enumerate(found):
        assert np.allclose(found[level].cpd("lung").probabilities, expected[d])
        assert np.allclose(found[level].precision["lung"], worth[d])
    assert found.of("Oslo") is found["Oslo"] and found.of("Paris") is found.common


def between_by_hand(counts, common, above=None):
    """One parent: what lies between a row of `common` and P(child | domain), which lies around that of all.

    counts float64[d, cells, K]; common float64[cells, K], or one for each domain, with `above` beside it.
    """
    if above is None:
        rows = counts.sum(axis=(0, 2))
        above = (rows[:, None] * common).sum(axis=0) / rows.sum()
    own = counts.sum(axis=1)
    margin, _ = around(own, above)
    s0 = strength(own, above)
    without = (own - 1 + s0 * above) / (own.sum(axis=1, keepdims=True) - 1 + s0)
    s, w = mixture(counts, np.minimum(counts, 1.0), np.broadcast_to(common, counts.shape), without[:, None])
    mean = w * common + (1 - w) * margin[:, None]
    worth = counts.sum(axis=2) + s
    return (counts + s * mean) / worth[..., None], worth


@pytest.mark.twin
@pytest.mark.parametrize("seed", range(4))
def test_what_is_borrowed_predicts_rows_best_from_all_others(seed):
    """Rows one by one: each taken out, its chain of contexts made again, and it predicted; s and w on a grid."""
    rng = np.random.default_rng(seed)
    common = rng.dirichlet(np.ones(3), (2, 3))
    own = rng.dirichlet(np.ones(3), 4)
    theta = np.array([[[rng.dirichlet(0.5 + 4 * (c + o)) for c in row] for row in common] for o in own])
    counts = np.array([[[rng.multinomial(rng.integers(0, 9), p) for p in row] for row in of] for of in theta])
    counts = counts.astype(float)
    centres = by_depth(common, counts.sum(axis=(0, 3)))
    for i in (0, 1):
        assert np.allclose(centres[i], averaged(common, counts.sum(axis=(0, 3)), i), atol=1e-5)
    tables, worth = between(counts, [c[None] for c in centres])
    settings = chain_of(counts, centres, tables)
    for depth in (1, 2):
        best = loss_by_hand(counts, centres, settings, depth)
        for s, w in ((1.1, 0.0), (1 / 1.1, 0.0), (1.0, 0.2), (1.0, -0.2)):
            other = list(settings)
            other[depth] = settings[depth][0] * s, settings[depth][1] + w
            assert loss_by_hand(counts, centres, other, depth) > best - 1e-9
    assert np.allclose(worth, counts.sum(axis=3) + settings[2][0])


def averaged(common, rows, depth):
    return [(rows * common[..., k]).sum() / rows.sum() for k in range(3)] if depth == 0 else np.array([
        (rows[i][:, None] * common[i]).sum(axis=0) / rows[i].sum() for i in range(len(rows))
    ])  # fmt: skip


def chain_of(counts, centres, tables):
    """The s and the log odds of w of every depth, learned as `between` does, but on copies of each context."""
    own = counts.sum(axis=(1, 2))
    settings = [(strength(own, centres[0]), 0.0)]
    for depth in (1, 2):
        n = counts.sum(axis=2) if depth == 1 else counts
        centre, without = np.broadcast_to(centres[depth], n.shape), np.zeros(n.shape)
        for place in np.ndindex(n.shape):
            if n[place]:
                less = counts.copy()
                less[(*place[:-1], *[0] * (2 - depth), place[-1])] -= 1
                without[place] = chain(less, centres, settings, place[:depth])[place[-1]]
        s, w = mixture(n, np.minimum(n, 1.0), centre, without)
        settings.append((s, float(np.log(w / (1 - w)))))
    assert np.allclose(chain(counts, centres, settings, (1, 0, 2)), tables[2][1, 0, 2])
    return settings


def chain(counts, centres, settings, place):
    """float64[K]: of the context `place` (domain, x1, ..), from the domain alone downward."""
    found = None
    for depth in range(len(place)):
        n = counts[place[: depth + 1]].reshape(-1, counts.shape[-1]).sum(axis=0)
        s, odds = settings[depth]
        w = 1 / (1 + np.exp(-odds))
        centre = np.asarray(centres[depth][place[1 : depth + 1]])
        mean = centre if found is None else w * centre + (1 - w) * found
        found = (n + s * mean) / (n.sum() + s)
    return found


def loss_by_hand(counts, centres, settings, depth):
    """Of all rows in the contexts of a depth, each predicted without it, and of the prior."""
    total = ((np.log(settings[depth][0] / MIDDLE)) ** 2 + settings[depth][1] ** 2) / SPREAD**2 / 2
    for place in np.argwhere(counts > 0):
        d, *xs, k = place
        less = counts.copy()
        less[tuple(place)] -= 1
        total -= counts[tuple(place)] * np.log(chain(less, centres, settings, (d, *xs[:depth]))[k])
    return total


def test_domains_that_have_little_in_common_are_as_good_as_alone():
    """Twelve towns whose answers depend on other things each: what is common is no use, and does no harm."""
    rng = np.random.default_rng(2)
    n, towns = 60, 12
    town, a, b = np.repeat(np.arange(towns), n), rng.integers(0, 3, n * towns), rng.integers(0, 3, n * towns)
    truth = rng.dirichlet(np.full(3, 0.2), (towns, 3))
    answer = (rng.random(n * towns)[:, None] > np.cumsum(truth[town, a], axis=1)[:, :2]).sum(axis=1)
    kinds = (Categorical(tuple(map(str, range(towns)))), XYZ, XYZ, XYZ)
    data = Dataset(("town", "a", "b", "c"), kinds, tuple(c.astype(np.uint8) for c in (town, a, b, answer)))
    structure = {"a": (), "b": (), "c": ("a", "b")}

    def loss(networks):
        found = np.array([network.cpd("c").probabilities for network in networks])
        p = np.broadcast_to(truth[:, :, None, :], found.shape)
        return -(p * np.log(found)).sum(axis=3).mean()

    together = loss(fit_domains(structure, data, "town").values())
    alone = loss([optbn.fit(structure, data.take(town == d)) for d in range(towns)])
    assert together < alone + 0.01


def test_the_strength_of_domains_is_the_likeliest_on_a_grid():
    from scipy.special import gammaln

    generator = np.random.default_rng(5)
    for true in (2.0, 20.0, 200.0):
        centre = generator.dirichlet(np.ones(3), 4)
        theta = np.array([[generator.dirichlet(true * p) for p in centre] for _ in range(40)])
        counts = np.array([[generator.multinomial(60, p) for p in domain] for domain in theta]).astype(float)
        grid = np.exp(np.linspace(-2, 9, 1500))
        losses = []
        for s in grid:
            a = s * centre
            evidence = (gammaln(counts + a) - gammaln(a)).sum() + 160 * (gammaln(s) - gammaln(60 + s))
            losses.append((np.log(s / MIDDLE) / SPREAD) ** 2 / 2 - evidence)
        found = strength(counts, centre)
        assert abs(np.log(found / grid[np.argmin(losses)])) < 0.02
        assert 0.6 < found / true < 1.6
        twice = strength(np.concatenate([counts, np.zeros_like(counts)]), centre)
        assert np.isclose(twice, found, rtol=1e-4)  # domains without rows say nothing


def test_real_children_of_domains_share_their_centre():
    network = BayesianNetwork(
        ("lung", "size"), (AB, UNIT),
        (TableCPD(AB, (), (), table(0.5, 0.5)),
         BinnedTableCPD(UNIT, ("lung",), (AB,), (np.zeros(0),), NormalLeaves([0.0, 0.0], [1.0, 1.0]))),
    )  # fmt: skip
    found = fit_domains(network, related(), "city")
    for level in found:
        assert np.abs(found[level].cpd("size").leaves.mean - [0.0, 5.0]).max() < 1.0
    assert np.abs(found["Oslo"].cpd("size").leaves.mean - found["Rome"].cpd("size").leaves.mean).max() < 0.1


def test_bad_domains_are_named():
    data = related()
    with pytest.raises(UnsupportedError, match=r"'smoke' says which domain .* part of the structure"):
        fit_domains({"smoke": ()}, data, "smoke")
    with pytest.raises(DataError, match="'size' is real, but the domain"):
        fit_domains({"smoke": ()}, data, "size")
    with pytest.raises(DataError, match="no column 'town'"):
        fit_domains({"smoke": ()}, data, "town")
    with pytest.raises(UnsupportedError, match="'city' is named twice"):
        fit_domains({"smoke": ()}, data, ["city", "city"])
    with pytest.raises(UnknownNameError, match="share"):
        fit_domains({"smoke": ()}, data, "city", share="row")


def places(rows=600, seed=3):
    """Countries, towns within them (two have a Springfield), a cause and its effect, a number with gaps."""
    rng = np.random.default_rng(seed)
    country = rng.integers(0, 3, rows)
    town = np.where(country == 2, 0, rng.integers(0, 3, rows))
    cause = rng.integers(0, 2, rows)
    effect = (rng.random(rows) < 0.2 + 0.2 * country + 0.1 * town * cause).astype(int)
    size = np.where(rng.random(rows) < 0.2, np.nan, country * 2.0 + town + rng.normal(size=rows))
    texts = {"country": ["a", "b", "c"], "town": ["Springfield", "Y", "Z"], "cause": ["n", "y"], "effect": ["n", "y"]}
    columns = {"country": country, "town": town, "cause": cause, "effect": effect}
    frame = {**{name: [texts[name][i] for i in codes] for name, codes in columns.items()}, "size": size}
    return optbn.Dataset.from_arrays(frame, missing="value")


def test_domains_within_domains_lie_around_the_wider_ones():
    """By hand: every tier's tables between those of the tier above and their own margins."""
    data = places()
    structure = {"cause": (), "effect": ("cause",), "size": ()}
    found = fit_domains(structure, data, ["country", "town"], "bdeu", ess=2.0)
    columns = [data.column(name) for name in ("country", "town", "cause", "effect")]
    common = optbn.fit(structure, data, "bdeu", ess=2.0)
    assert found.common == common
    by_country, by_town = np.zeros((3, 2, 2)), np.zeros((3, 3, 2, 2))
    np.add.at(by_country, (columns[0], columns[2], columns[3]), 1)
    np.add.at(by_town, tuple(columns), 1)
    wide, _ = between_by_hand(by_country, common.cpd("effect").probabilities)
    rows = by_country.sum(axis=(0, 2))
    margin = (rows[:, None] * common.cpd("effect").probabilities).sum(axis=0) / rows.sum()
    occurs = by_town.sum(axis=(2, 3)) > 0
    above = np.argwhere(occurs)[:, 0]
    wide_margin = around(by_country.sum(axis=1), margin)[0]
    narrow = np.zeros(by_town.shape)
    narrow[occurs] = between_by_hand(by_town[occurs], wide[above], wide_margin[above])[0]
    for c, country in enumerate("abc"):
        assert np.allclose(found.of(country).cpd("effect").probabilities, wide[c])
        for t, town in enumerate(("Springfield", "Y", "Z")):
            network = found.of(country, town)
            if occurs[c, t]:
                assert network is found[country, town]
                assert np.allclose(network.cpd("effect").probabilities, narrow[c, t])
            else:
                assert network is found.of(country)
    assert found.of("a", "nowhere") is found.of("a") and found.of("elsewhere", "Y") is found.common
    assert len(found) == 7 and len(found.wider) == 3
    means = [found.of("b", town).cpd("size").leaves.numbers.mean.mean() for town in ("Springfield", "Z")]
    assert means[0] + 1 < means[1]


def test_a_column_of_domains_that_says_nothing_more_changes_little():
    data = places()
    one = fit_domains({"effect": ()}, data, "country", "bdeu")
    again = optbn.Dataset(
        (*data.names, "same"), (*data.domains, data.domain("country")), (*data.columns, data.column("country"))
    )
    two = fit_domains({"effect": ()}, again, ["country", "same"], "bdeu")
    for country in "abc":
        assert two.of(country).cpd("effect").probabilities == pytest.approx(one[country].cpd("effect").probabilities)
        nearer = two[country, country].cpd("effect").probabilities - one[country].cpd("effect").probabilities
        assert np.abs(nearer).max() < 0.03


def test_joints_have_one_column_of_domains():
    with pytest.raises(UnsupportedError, match="one column of domains, not country, town"):
        fit_domains({"effect": ()}, places(), ["country", "town"], share="joint")
