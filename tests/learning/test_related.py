"""One graph for related data sets: the sum of their scores, by hand; what pooling takes for an arc is none."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import optbn
from optbn.base.errors import DataError
from optbn.scores import load_score
from optbn.scores.summed import Summed
from tests.naive import phase1 as naive


@pytest.mark.parametrize("name", ["bdeu", "bic", "pcart", "hmd"])
def test_a_family_scores_the_sum_of_its_domains(name):
    rng = np.random.default_rng(5)
    data = naive.random_categorical(rng, 5, 90, levels=3)
    town = rng.integers(0, 3, 90)
    method = load_score(name)
    sets = np.array(list(combinations(range(5), 2)), dtype=np.int32)
    wanted = np.ones((len(sets), 5), dtype=np.bool_)
    np.put_along_axis(wanted, sets.astype(np.int64), False, axis=1)
    found = Summed.of(method, town).bind(data).block(sets, wanted)
    parts = [method.bind(data.take(town == t)).block(sets, wanted) for t in range(3)]
    assert np.array_equal(found, np.sum(parts, axis=0))
    one = Summed.of(method, np.zeros(90, dtype=np.int64)).bind(data).block(sets, wanted, np.full(wanted.shape, 1e9))
    assert np.array_equal(one, method.bind(data).block(sets, wanted))


def test_what_depends_on_the_domain_is_not_joined_by_an_arc():
    rng = np.random.default_rng(1)
    town = rng.integers(0, 4, 1200)
    high = np.array([0.1, 0.35, 0.65, 0.9])[town]
    a, b = (rng.random((2, 1200)) < high).astype(int)
    c = np.where(rng.random(1200) < 0.85, a, 1 - a)
    text = {"town": [f"t{t}" for t in town], "a": list("ny"), "b": list("ny"), "c": list("ny")}
    columns = {name: [text[name][i] for i in codes] for name, codes in (("a", a), ("b", b), ("c", c))}
    data = optbn.Dataset.from_arrays({"town": text["town"], **columns})
    learned, towns = optbn.learn_domains(data, "town", score="bdeu", ess=1.0, jobs=1)
    arcs = [(p, v) for v in "abc" for p in learned.network.parents(v)]
    assert [set(arc) for arc in arcs] == [set("ac")]
    pooled = optbn.learn(data.select(["a", "b", "c"]), score="bdeu", jobs=1)
    assert pooled.network.n_arcs > 1
    assert towns["t0"].query("b").probabilities[1] < 0.2 < 0.8 < towns["t3"].query("b").probabilities[1]
    assert towns.common.names == learned.network.names


def test_the_domain_must_have_levels():
    data = optbn.Dataset.from_arrays({"size": np.linspace(0.5, 9, 30), "a": list("xy") * 15})
    with pytest.raises(DataError, match="'size' is real"):
        optbn.learn_domains(data, "size")
