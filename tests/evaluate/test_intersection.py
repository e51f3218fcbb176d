"""Intersection-validation against a direct transcription of its definition."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest

from optbn.base.errors import DataError
from optbn.data.dataset import Categorical, Dataset
from optbn.evaluate import intersection
from optbn.evaluate.distances import partial_hamming
from optbn.network.structure import Structure
from tests.naive import intersection as naive

NAMES = tuple("abcdefg")


def random_structure(rng: np.random.Generator) -> Structure:
    order = rng.permutation(len(NAMES))
    sets: list[tuple[int, ...]] = [()] * len(NAMES)
    for place, v in enumerate(order):
        sets[v] = tuple(int(u) for u in order[:place] if rng.random() < 0.3)
    return Structure(NAMES, tuple(sets))


def data(rows: int = 64) -> Dataset:
    two = Categorical(("0", "1"))
    codes = np.random.default_rng(0).integers(0, 2, size=(len(NAMES), rows)).astype(np.uint8)
    return Dataset(NAMES, (two,) * len(NAMES), tuple(codes))


def learner(salt: int):
    """A 'method' whose answer depends only on the rows it is given."""

    def learn(rows: Dataset) -> Structure:
        key = [salt, rows.n_rows, *(int(c.sum()) for c in rows.columns)]
        common = np.random.default_rng(5)  # half of the time all methods answer alike
        return random_structure(common if key[2] % 2 else np.random.default_rng(key))

    return learn


def as_networkx(structure: Structure, level: str) -> nx.DiGraph:
    return structure.to_networkx() if level == "dag" else structure.to_cpdag().to_networkx()


@pytest.mark.parametrize("level", ["dag", "cpdag"])
def test_it_is_its_definition(level):
    methods = {"m1": learner(1), "m2": learner(2), "m3": learner(3)}
    rows = data()
    found = intersection.agreement({name: learn(rows) for name, learn in methods.items()}, level)
    known = naive.agreed([as_networkx(learn(rows), level) for learn in methods.values()])
    assert int(np.triu(found.specified, 1).sum()) == len(known)
    distances = set()
    for size, repeat in itertools.product((32, 16), range(4)):
        sample = intersection.subsample(rows, size, 9, repeat)
        assert sample.n_rows == size
        for learn in methods.values():
            graph = intersection.matrix(learn(sample), found.names, level)
            distance = partial_hamming(found.known, found.specified, graph)
            assert distance == naive.distance(known, as_networkx(learn(sample), level))
            distances.add(distance)
    assert len(distances) > 2


def test_a_small_agreement_graph_is_warned_of():
    empty = Structure(NAMES, ((),) * len(NAMES))
    full = Structure(NAMES, tuple(tuple(range(v)) for v in range(len(NAMES))))
    agreement = intersection.agreement({"a": empty, "b": full}, "dag")
    assert agreement.agreed_edges == 0 and "only 0 edges" in agreement.caution
    assert intersection.agreement({"a": full, "b": full}, "dag").caution is None


def test_subsamples_are_shared_by_methods_and_differ_by_repeat():
    rows = data()
    assert intersection.subsample(rows, 10, 1, 0) == intersection.subsample(rows, 10, 1, 0)
    assert intersection.subsample(rows, 10, 1, 0) != intersection.subsample(rows, 10, 1, 1)


def test_bad_requests_are_said():
    with pytest.raises(DataError, match="two or more"):
        intersection.agreement({"a": learner(1)(data())})
