"""Scoring listed families."""

import itertools

import numpy as np
import pytest

import optbn
from optbn.base.errors import DataError, OptbnError
from optbn.scores import load_score
from optbn.scores.families import Families
from optbn.scores.listed import score_families
from optbn.scores.structures import in_words
from optbn_solvers.base.files import read_rows
from optbn_solvers.base.files.jkl import write_rows
from tests.naive import phase1 as naive


@pytest.fixture
def data():
    return naive.random_categorical(np.random.default_rng(1), 6, 70)


@pytest.mark.parametrize("name", ["bdeu", "bds", "pcart"])
def test_the_bits_of_a_full_run_in_any_order(data, name):
    rng = np.random.default_rng(2)
    listed = list(naive.families(6, 3))
    listed = [listed[i] for i in rng.choice(len(listed), 300)]  # with repetitions
    named = [(data.names[v], [data.names[u] for u in rng.permutation(p)] if p else []) for v, p in listed]
    found = score_families(data, named, name, jobs=2)
    bound = load_score(name).bind(data)
    for (child, parents), score in zip(listed, found.scores, strict=True):
        wanted = np.zeros((1, 6), dtype=np.bool_)
        wanted[0, child] = True
        assert bound.block(np.array([parents], np.int32).reshape(1, -1), wanted)[0, child] == score
    assert (score_families(data, named, name, jobs=1).scores == found.scores).all()
    assert [found.parents(i) for i in range(20)] == [p for _, p in listed[:20]]
    table = optbn.score_table(data, name, 3)
    for row in range(0, len(table), 7):
        child, parents = int(table.children[row]), [data.names[u] for u in table.parents(row)]
        assert abs(optbn.score(data, data.names[child], parents, name) - table.scores[row]) <= table.quantum


def test_shared_sets_are_asked_for_once(data):
    asked = []

    class Watching:
        def bind(self, data):
            bound = load_score("bdeu").bind(data)

            class Bound:
                def block(self, sets, wanted, floor=None):
                    assert (np.diff([int("".join(map(str, s)) or 0) for s in sets.tolist()]) > 0).all()
                    asked.append((len(sets), int(wanted.sum())))
                    return bound.block(sets, wanted, floor)

            return Bound()

    everything = [(data.names[v], [data.names[u] for u in p]) for v, p in naive.families(6, 2)]
    score_families(data, everything, Watching(), jobs=1)
    assert asked == [(1, 6), (6, 30), (15, 60)]


def test_fitted_structures(data):
    found = score_families(data, [("v3", ["v0", "v1"]), ("v0", [])], "bdeu")
    assert found.fitted(0).parents == (0, 1)
    assert found.fitted(0).counts.sum() == 70
    assert found.fitted(1).counts.tolist() == np.bincount(data.columns[0], minlength=data.cardinalities[0]).tolist()


def test_lists_in_files(data, tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("# candidates\nv0: v1, v2\n\nv1:\n v4 : v0\n")
    families = Families.read(path, data.names)
    assert families.children.tolist() == [0, 1, 4]
    assert families.masks[:, 0].tolist() == [0b110, 0, 0b1]
    assert len(Families.read(path, data.names)) == 3
    scored = score_families(data, families, "bic")
    write_rows(scored.rows(), tmp_path / "scored.jkl")
    again = Families.read(tmp_path / "scored.jkl", data.names)
    assert (again.masks == families.masks).all()
    assert (read_rows(tmp_path / "scored.jkl").scores == scored.scores).all()
    assert (score_families(data, again, "k2").scores != scored.scores).all()


def test_variables_of_a_score_file_in_another_order(data, tmp_path):
    names = data.names[::-1]
    (tmp_path / "x.jkl").write_text(
        "6\n" + "".join(f"{name} 1\n-1 {int(name != 'v2')}{' v2' * (name != 'v2')}\n" for name in names)
    )
    families = Families.read(tmp_path / "x.jkl", data.names)
    assert families.children.tolist() == [5, 4, 3, 2, 1, 0]
    assert families.masks[:, 0].tolist() == [4, 4, 4, 0, 4, 4]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("v0: v9\n", "line 1: no variable 'v9'"),
        ("v0: v1\nvx: v1\n", "line 2: no variable 'vx'"),
        ("\nv0: v0\n", "line 2: 'v0' is listed as a parent of itself"),
        ("v0: v1, v1\n", "the parent 'v1' is listed twice"),
        ("v0 v1\n", "line 1: expected 'child: parent, parent', found 'v0 v1'"),
        ("v0: v1,\n", "line 1: no variable ''"),
    ],
)
def test_bad_lists(data, tmp_path, text, message):
    (tmp_path / "list.txt").write_text(text)
    with pytest.raises(OptbnError, match=message):
        Families.read(tmp_path / "list.txt", data.names)


def test_families_of_other_data(data):
    families = Families.build(data.names[:3], [("v0", [])])
    with pytest.raises(DataError, match="other variables"):
        score_families(data, families)
    assert len(score_families(data, [], "bdeu")) == 0


def test_large_families_of_many_variables():
    rng = np.random.default_rng(3)
    columns = [rng.integers(0, 2, 30).astype(np.uint8) for _ in range(80)]
    domain = optbn.data.dataset.Categorical(("0", "1"))
    data = optbn.Dataset(tuple(f"v{i}" for i in range(80)), (domain,) * 80, tuple(columns))
    parents = [f"v{i}" for i in range(40, 70)]
    value = optbn.score(data, "v79", parents, "k2")
    assert value == pytest.approx(naive.k2(data, 79, tuple(range(40, 70))))
    assert list(itertools.islice(naive.families(2, 1), 2)) == [(0, ()), (0, (1,))]


def test_structures_in_words():
    rng = np.random.default_rng(4)
    categorical, real = naive.random_categorical(rng, 3, 60), naive.random_real(rng, 2, 60)
    data = optbn.Dataset(
        (*categorical.names, *real.names),
        (*categorical.domains, *real.domains),
        (*categorical.columns, *real.columns),
    )
    families = [("v0", ["x0", "v1"]), ("x1", ["x0", "v2"]), ("x0", [])]
    for score in ("pcart", "ft"):
        found = score_families(data, families, score)
        for row in range(3):
            words = in_words(found.fitted(row), data)
            leaves, waiting = [], [words]
            while waiting:
                node = waiting.pop()
                waiting += [node[side] for side in ("left", "right") if side in node] + node.get("cells", [])
                if "split" in node:
                    assert ("below" in node) == node["split"].startswith("x")
                elif "cells" not in node:
                    leaves.append(sum(node["counts"]) if "counts" in node else node["rows"])
            assert sum(leaves) == 60
    line = in_words(score_families(real, [("x1", ["x0"])], "bge").fitted(0), real)
    assert set(line) == {"intercept", "coefficients", "variance"}
