"""Phase I as a whole: what survives, under which constraints, with how much memory and how many threads."""

import itertools
import math

import numpy as np
import pytest

import optbn
from optbn.base.errors import DataError, LimitError, OptbnError, UnsupportedError
from optbn.base.memory import parse_memory
from optbn.data.dataset import Categorical, Dataset, Real
from optbn.scores import levels, load_score
from optbn.scores.candidates import group_width
from optbn.scores.parent_sets import ParentSets
from optbn_solvers import Constraints
from tests.naive import phase1 as naive


def all_scores(data, name, largest):
    """{(child, parents): score} of everything, one family at a time."""
    bound = load_score(name).bind(data)
    out = {}
    for child, parents in naive.families(data.n_variables, largest):
        wanted = np.zeros((1, data.n_variables), dtype=np.bool_)
        wanted[0, child] = True
        out[child, parents] = bound.block(np.array([parents], dtype=np.int32).reshape(1, -1), wanted)[0, child]
    return out


def contents(table):
    """{(child, parents): score} of a table."""
    return {(int(table.children[row]), table.parents(row)): table.scores[row] for row in range(len(table))}


def assert_pruned(table, scores):
    """The table holds the families no listed subset matches; differences below its grid count as ties."""
    found, expected = contents(table), naive.pruned(scores)
    assert set(found) <= set(expected)
    for family, score in found.items():
        assert abs(expected[family] - score) <= table.quantum
    for child, parents in set(expected) - set(found):
        subsets = (s for size in range(len(parents)) for s in itertools.combinations(parents, size))
        best = max(scores.get((child, s), -math.inf) for s in subsets)
        assert expected[child, parents] - best <= 2 * table.quantum


@pytest.mark.parametrize("name", ["bdeu", "bic", "pcart"])
@pytest.mark.parametrize("seed", range(5))
def test_pruned_is_unpruned_less_what_a_subset_matches(name, seed):
    data = naive.random_categorical(np.random.default_rng(seed), 5, 60, levels=3)
    table = optbn.score_table(data, name, 3)
    assert_pruned(table, all_scores(data, name, 3))


@pytest.mark.parametrize("name", ["pcart", "pcartp", "ft"])
@pytest.mark.parametrize("seed", range(70))
def test_bounds_never_discard_a_survivor(name, seed):
    """Columns of all kinds, strong and weak dependence, few and many rows; with a required arc now and then."""
    rng = np.random.default_rng(1000 + seed)
    rows = int(rng.integers(2, 200))
    categorical = naive.random_categorical(rng, 3, rows, levels=4, skew=bool(rng.random() < 0.5))
    real = naive.random_real(rng, 2, rows)
    ordered = rng.random(3) < 0.4
    domains = [Categorical(d.levels, bool(o)) for d, o in zip(categorical.domains, ordered, strict=True)]
    follows = np.where(rng.random(rows) < rng.random(), categorical.columns[0] * 3.0, 0.0)
    columns = (*categorical.columns, *(column + follows for column in real.columns))
    domains += [Real(float(column.min()), float(column.max())) for column in columns[3:]]
    order = rng.permutation(5)[: int(rng.integers(3, 6))]
    data = Dataset(tuple("abcde"[v] for v in order), tuple(domains[v] for v in order), tuple(columns[v] for v in order))
    families = list(naive.families(data.n_variables, 3))
    named = [(data.names[v], [data.names[u] for u in p]) for v, p in families]
    scores = dict(zip(families, optbn.score_families(data, named, name).scores, strict=True))
    required = [(data.names[0], data.names[1])] if rng.random() < 0.3 else []
    if required:
        scores = {(v, p): s for (v, p), s in scores.items() if not (v == 1 and 0 not in p) and not (v == 0 and 1 in p)}
    assert_pruned(optbn.score_table(data, name, 3, required=required), scores)


@pytest.mark.parametrize("name", ["bdeu", "pcart"])
@pytest.mark.parametrize("seed", range(8))
def test_constraints(name, seed):
    """Candidates are what the constraints allow, and only candidates prune."""
    rng = np.random.default_rng(seed)
    data = naive.random_categorical(rng, 6, 50, levels=3)
    names = data.names
    order = rng.permutation(6)
    pairs = [(names[order[i]], names[order[j]]) for i, j in itertools.combinations(range(6), 2)]
    required = [pairs[i] for i in rng.choice(len(pairs), 2, replace=False)]
    forbidden = [(a, b) for a, b in itertools.permutations(names, 2) if rng.random() < 0.2 and (a, b) not in required]
    limits = {"*": 3, names[0]: 2}
    tiers = [[names[i] for i in order[:2]], [names[i] for i in order[2:5]]]
    ancestors = {v: {v} for v in range(6)}
    for _ in range(3):
        for a, b in required:
            ancestors[names.index(b)] |= ancestors[names.index(a)]
    allowed = {}
    for (child, parents), score in all_scores(data, name, 3).items():
        needed = {names.index(a) for a, b in required if b == names[child]}
        tier = {v: i for i, members in enumerate(tiers) for v in map(names.index, members)}
        if (
            needed <= set(parents)
            and len(parents) <= limits.get(names[child], 3)
            and all((names[u], names[child]) not in forbidden for u in parents)
            and all(tier.get(u, -1) <= tier.get(child, 9) for u in parents)
            and all(child not in ancestors[u] for u in parents)
        ):
            allowed[child, parents] = score
    table = optbn.score_table(data, name, limits, required=required, forbidden=forbidden, tiers=tiers)
    assert_pruned(table, allowed)
    words = Constraints(forbidden=forbidden, required=required, tiers=tiers)
    sets = ParentSets.of(names, limits, words)
    assert sum(sets.count(size) for size in range(4)) == len(allowed)


def test_roots_and_leaves():
    data = naive.random_categorical(np.random.default_rng(1), 5, 80, levels=3)
    table = optbn.score_table(data, "bdeu", 2, roots=["v0"], leaves=["v3", "v4"])
    scores = {
        (v, p): s for (v, p), s in all_scores(data, "bdeu", 2).items() if not {3, 4} & set(p) and not (v == 0 and p)
    }
    assert_pruned(table, scores)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"forbidden": [("a", "b")], "required": [("a", "b")]}, "required arc a -> b is also forbidden"),
        ({"required": [("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")]}, "form a cycle: a -> b -> c -> a"),
        ({"required": [("a", "b"), ("c", "b")], "max_parents": 1}, "'b' may have 1 parents, but needs 2: a, c"),
        ({"required": [("a", "a")]}, "expected a pair of two different variables"),
        ({"tiers": [["a"], ["b"]], "required": [("b", "a")]}, "against the tiers"),
        ({"tiers": [["a"], ["b", "a"]]}, "'a' is in tier 1 and in tier 2"),
        ({"roots": ["a"], "required": [("b", "a")]}, "against 'a' being a root"),
        ({"leaves": ["b"], "required": [("b", "a")]}, "against 'b' being a leaf"),
        ({"forbidden": [("a", "z")]}, "no variable 'z'"),
        ({"max_parents": -1}, "expected an integer of at least 0"),
        ({"max_parents": {"z": 1}}, "no variable 'z'"),
    ],
)
def test_contradictions_are_refused_by_name(arguments, message):
    with pytest.raises(OptbnError, match=message):
        limit = arguments.get("max_parents")
        ParentSets.of(list("abcd"), limit, Constraints(**{k: v for k, v in arguments.items() if k != "max_parents"}))


def test_more_parents_than_variables_is_said(caplog):
    data = naive.random_categorical(np.random.default_rng(2), 4, 30)
    table = optbn.score_table(data, "bdeu", 10)
    assert "only 3 others: using 3" in caplog.text
    assert table == optbn.score_table(data, "bdeu", 3)


def test_forbidden_families_are_never_scored():
    asked = []

    class Watching:
        def bind(self, data):
            bound = load_score("bdeu").bind(data)

            class Bound:
                def block(self, sets, wanted, floor=None):
                    assert wanted.any(axis=1).all()
                    asked.extend((int(v), tuple(sets[i].tolist())) for i, v in np.argwhere(wanted))
                    return bound.block(sets, wanted, floor)

            return Bound()

    data = naive.random_categorical(np.random.default_rng(3), 5, 30)
    optbn.score_table(data, Watching(), 2, forbidden=[("v0", "v1")], required=[("v2", "v3")], jobs=1)
    assert len(asked) == len(set(asked))
    assert set(asked) == {
        (v, p)
        for v, p in naive.families(5, 2)
        if not (v == 1 and 0 in p) and not (v == 3 and 2 not in p) and not (v == 2 and 3 in p)
    }


@pytest.mark.parametrize("name", ["bdeu", "bds", "pcart"])
def test_threads_blocks_and_memory_change_nothing(name, monkeypatch):
    data = naive.random_categorical(np.random.default_rng(4), 7, 60, levels=3)
    table = optbn.score_table(data, name, 3, jobs=1)
    monkeypatch.setattr(levels, "FIRST_BLOCK", 3)
    monkeypatch.setattr(levels, "BLOCK_SECONDS", 1e-4)
    assert optbn.score_table(data, name, 3, jobs=3) == table
    small = 16 * (math.comb(7, 2) + 7) * 3  # room for three responses at a time
    assert group_width(7, 3, small) == 3
    assert optbn.score_table(data, name, 3, jobs=2, memory=small) == table
    with pytest.raises(LimitError, match="lower max_parents"):
        optbn.score_table(data, name, 3, memory=100)


def test_the_lattice_is_sized_at_its_widest():
    assert group_width(10, 9, 1 << 20) == 10
    with pytest.raises(LimitError, match=r"GB of memory"):
        group_width(37, 36, 1 << 30)


def test_progress():
    data = naive.random_categorical(np.random.default_rng(5), 6, 40)
    reports = []
    table = optbn.score_table(data, "bdeu", 3, progress=reports.append)
    total = sum(6 * math.comb(5, k) for k in range(4))
    assert all(report.total == total for report in reports)
    assert [r.done for r in reports] == sorted(r.done for r in reports)
    assert reports[-1].done == total
    assert reports[-1].survivors >= len(table)
    assert reports[-1].remaining == 0
    assert {report.size for report in reports} == {0, 1, 2, 3}


def test_bad_data_and_settings():
    with pytest.raises(DataError, match="no columns"):
        optbn.score_table(Dataset((), (), ()), "bdeu")
    data = naive.random_categorical(np.random.default_rng(6), 3, 20)
    with pytest.raises(UnsupportedError, match="jobs is 0"):
        optbn.score_table(data, "bdeu", jobs=0)
    with pytest.raises(UnsupportedError, match="memory 'much'"):
        optbn.score_table(data, "bdeu", memory="much")
    alone = data.select(["v0"])
    assert len(optbn.score_table(alone, "bdeu", 0)) == 1


def test_a_score_that_is_no_number_is_named():
    class Broken:
        def bind(self, data):
            class Bound:
                def block(self, sets, wanted, floor=None):
                    out = np.where(wanted, -1.0, -np.inf)
                    out[wanted & (np.arange(3) == 2)] = np.nan if sets.shape[1] else -2.0
                    return out

            return Bound()

    data = naive.random_categorical(np.random.default_rng(7), 3, 20)
    with pytest.raises(OptbnError, match=r"the score of 'v2' with parents \{v0\} is nan"):
        optbn.score_table(data, Broken(), 2)
    with pytest.raises(OptbnError, match=r"the score of 'v2' with parents \{v1\} is nan"):
        optbn.score_families(data, [("v0", []), ("v2", ["v1"])], Broken())


def test_sizes_of_memory():
    assert parse_memory("4G") == 4 << 30
    assert parse_memory("1.5 MiB") == 3 << 19
    assert parse_memory(12345) == 12345
    assert parse_memory(None) > 1 << 20
    for text in ("", "4X", "-1", "0", "G"):
        with pytest.raises(UnsupportedError):
            parse_memory(text)


def test_more_than_64_variables():
    rng = np.random.default_rng(8)
    columns = tuple(rng.integers(0, 2, 40).astype(np.uint8) for _ in range(70))
    data = Dataset(tuple(f"v{i}" for i in range(70)), (Categorical(("0", "1")),) * 70, columns)
    table = optbn.score_table(data, "bic", 1)
    for child in (0, 69):
        for row in table.rows(child):
            expected = optbn.score(data, f"v{child}", [f"v{u}" for u in table.parents(row)], "bic")
            assert abs(table.scores[row] - expected) <= table.quantum
