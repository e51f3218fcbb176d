"""The grid against exact rationals: absurd scores, mixed magnitudes, digits without end.

An answer is the optimum of the file to within what the table says, or the table is refused.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from optbn_solvers import solve
from optbn_solvers.base.errors import CheckFailed, TableError
from optbn_solvers.base.files import read_rows, read_table
from optbn_solvers.base.grid import COARSE, usable
from optbn_solvers.base.kernels.masks import greedy_loss, pack_sets
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.verify import written

Families = list[dict[frozenset[int], str]]  # per variable: the parents and the score as it is written


def as_jkl(families: Families) -> str:
    lines = [str(len(families))]
    for v, own in enumerate(families):
        lines.append(f"v{v} {len(own)}")
        lines += [" ".join([text, str(len(parents)), *(f"v{u}" for u in parents)]) for parents, text in own.items()]
    return "\n".join(lines) + "\n"


def optimum(families: Families) -> Fraction:
    """By the recursion over subsets, in fractions."""
    n = len(families)
    exact = [[(sum(1 << u for u in p), Fraction(text)) for p, text in own.items()] for own in families]
    best: list[Fraction | None] = [Fraction(0), *[None] * ((1 << n) - 1)]
    for among in range(1, 1 << n):
        for v in range(n):
            rest = best[among & ~(1 << v)]
            fits = [score for mask, score in exact[v] if mask & ~(among & ~(1 << v)) == 0]
            if among >> v & 1 and rest is not None and fits:
                total = rest + max(fits)
                best[among] = total if best[among] is None else max(best[among], total)
    assert best[-1] is not None
    return best[-1]


def random_families(rng: np.random.Generator, n: int, scale: float = 1.0) -> Families:
    families: Families = []
    for v in range(n):
        others = [u for u in range(n) if u != v]
        own = {frozenset(): repr(-500 * scale + scale * float(rng.normal()))}
        for _ in range(8):
            parents = frozenset(rng.choice(others, int(rng.integers(1, 3)), replace=False).tolist())
            own[parents] = repr(-500 * scale + scale * float(rng.normal(2, 3)))
        families.append(own)
    return families


def check(tmp_path, families: Families, least_error: float = math.inf) -> bool:
    """False if the table is refused; else the answer is right and `verify` agrees with the file."""
    path = tmp_path / "scores.jkl"
    path.write_text(as_jkl(families))
    try:
        table = read_table(path)
    except TableError as error:
        assert "could decide which graph is the best" in str(error) or "more than a number holds" in str(error)
        return False
    solution = solve(table)
    exact = written.check_written(table, solution, written.read(path))
    short = optimum(families) - exact
    assert 0 <= short <= Fraction(table.tolerance), (float(short), table.tolerance)
    assert short <= least_error
    return True


@pytest.mark.parametrize("sentinel", ["-1e9", "-1e14", "-1e15", "-1e16", "-1e18", "-1e100", "-1e300"])
def test_a_sentinel_decides_nothing(tmp_path, sentinel):
    rng = np.random.default_rng(int(float(sentinel[1:]) % 1009))
    for _ in range(60):
        families = random_families(rng, 5)
        for own in families:  # of sets, and now and then of the empty one: then it is not dominated
            for parents in own:
                if rng.random() < (0.3 if parents else 0.15):
                    own[parents] = sentinel
        if optimum(families) < -1e6:
            continue  # no graph does without
        assert check(tmp_path, families, 1e-9)


def test_the_table_of_the_example(tmp_path):
    families: Families = [
        {frozenset(): "-10", frozenset({1}): "-9.6", frozenset({2}): "-9.7"},
        {frozenset(): "-20", frozenset({2}): "-19.8"},
        {frozenset(): "-3", frozenset({0}): "-1e15"},
    ]
    assert optimum(families) == Fraction("-32.4")
    assert check(tmp_path, families, 0.0)


@pytest.mark.parametrize("huge", ["1e15", "1e300", "-1e15"])
def test_a_huge_score_that_graphs_need_is_refused_where_it_could_decide(tmp_path, huge):
    rng = np.random.default_rng(5)
    refused = 0
    for _ in range(20):
        families = random_families(rng, 4)
        families[2] = {frozenset(): huge}
        refused += not check(tmp_path, families)
    assert refused >= 10  # in the others nothing is left to choose, or what is left differs by more
    # nothing else to choose: nothing to decide
    assert check(tmp_path, [{frozenset(): huge}, {frozenset(): "-1e-9"}])
    # another constant for that variable, as the message advises
    families[2] = {frozenset(): "0"}
    assert check(tmp_path, families, 1e-9)


def test_mixed_magnitudes_are_solved_right_or_refused(tmp_path):
    rng = np.random.default_rng(6)
    solved = 0
    for trial in range(60):
        families = random_families(rng, 5, 1e-6)
        if trial % 3:
            families[0] = random_families(rng, 5, 1e12)[0]
        else:  # one of the large scores wins by far, whatever else
            families[0] = {frozenset({1}): "-1e-6", frozenset(): "-1e12", frozenset({2}): "-2e12"}
        solved += check(tmp_path, families)
    assert 10 <= solved < 60


def test_large_scores_alone_are_fine(tmp_path):
    rng = np.random.default_rng(7)
    for scale in (1e12, 1e200, 1e-200):
        for _ in range(10):
            assert check(tmp_path, random_families(rng, 5, scale))


def test_thousands_of_digits(tmp_path):
    rng = np.random.default_rng(8)
    for _ in range(10):
        families = random_families(rng, 4)
        for own in families:
            for parents in own:
                own[parents] += "".join(map(str, rng.integers(0, 10, 6000)))[: 2000 if parents else 6000]
        path = tmp_path / "scores.jkl"
        path.write_text(as_jkl(families))
        table = read_table(path)
        solution = solve(table)
        exact = written.check_written(table, solution, written.read(path))
        limited = [{p: text[:4000] for p, text in own.items()} for own in families]  # int() takes no more
        assert abs(optimum(limited) - exact) <= Fraction(table.tolerance)


def test_numbers_beyond_all_measure_are_refused_in_little_time():
    for text in ("1e-999999999", "1e999999999", "-1" + "0" * (1 << 21)):
        with pytest.raises(CheckFailed, match="too many digits"):
            written.fraction(text)


def test_verify_compares_with_the_file(tmp_path):
    families = random_families(np.random.default_rng(9), 4)
    path = tmp_path / "scores.jkl"
    path.write_text(as_jkl(families))
    table = read_table(path)
    solution = solve(table)
    assert solution.choice is not None
    row = solution.choice[1]
    parents = frozenset(table.parents(row))
    written.check_written(table, solution, written.read(path))
    for changed, message in (
        ({**families[1], parents: repr(float(families[1][parents]) + 1e-6)}, "add up to"),
        ({p: text for p, text in families[1].items() if p != parents}, "not in the score file"),
        ({**families[1], frozenset({0, 2, 3}): "-1"}, "missing from the table, and matters"),
    ):
        other = [*families[:1], changed, *families[2:]]
        path.write_text(as_jkl(other))
        with pytest.raises(CheckFailed, match=message):
            written.check_written(table, solution, written.read(path))


def test_an_unpruned_file_is_that_of_its_pruned_table(tmp_path):
    rng = np.random.default_rng(10)
    for kind in ("jkl", "pss"):
        families = random_families(rng, 5)
        path = tmp_path / f"scores.{kind}"
        lines = as_jkl(families)
        if kind == "pss":
            lines = "".join(
                f"VAR v{v}\n" + "".join(f"{' '.join([text, *(f'v{u}' for u in p)])}\n" for p, text in own.items())
                for v, own in enumerate(families)
            )
        path.write_text(lines)
        table = read_table(path)
        assert len(table) < len(read_rows(path))
        written.check_written(table, solve(table), written.read(path))


@pytest.mark.twin
def test_the_greedy_graph_has_the_least_largest_loss():
    rng = np.random.default_rng(11)
    for _ in range(40):
        n = int(rng.integers(2, 6))
        families = random_families(rng, n) if n > 2 else [{frozenset(): "0"}, {frozenset({0}): "-1"}]
        table = read_back(families)
        losses = np.repeat(table.scores[table.offsets[:-1]], np.diff(table.offsets)) - table.scores
        lost = greedy_loss(table.offsets, table.masks, losses)
        exact = float(table.scores[table.offsets[:-1]].sum()) - float(optimum(families))
        assert exact - 1e-9 <= lost <= n * max(exact, 1e-9)
        children = table.children
        kept = usable(table.n, children, table.masks, table.scores)
        assert set(solve(table).choice or ()) <= set(kept.tolist())


def read_back(families: Families) -> ScoreTable:
    n = len(families)
    flat = [(v, sorted(p), float(text)) for v, own in enumerate(families) for p, text in own.items()]
    children, sets, scores = zip(*flat, strict=True)
    masks = pack_sets(list(sets), n)
    return ScoreTable.build([f"v{v}" for v in range(n)], np.array(children), masks, np.array(scores))


def test_what_is_refused_leaves_much_open():
    scores = np.array([-1e12, -1.0, -1.0 - 1e-7])
    masks = pack_sets([[], [], [0]], 2)
    with pytest.raises(TableError, match="take the same number away"):
        ScoreTable.build(["a", "b"], np.array([0, 1, 1]), masks, scores, keep_dominated=True)
    assert ScoreTable.build(["a", "b"], np.array([0, 1, 1]), masks, scores / 1e6).tolerance < COARSE
