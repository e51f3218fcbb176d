"""The exact books: no row, multiplier, filter, end game or last digit ever loses a better graph."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import optbn_solvers.relaxation.replay as replay
from optbn_solvers.base.protocol import Budget
from optbn_solvers.base.solution import Solution, Status
from optbn_solvers.relaxation.ascent import dual_ascent, reduced_costs
from optbn_solvers.relaxation.evidence import row_bound
from optbn_solvers.relaxation.families import Families
from optbn_solvers.relaxation.finish import finish, parts_of
from optbn_solvers.relaxation.ledger import Ledger, Stage, WrongProof
from optbn_solvers.relaxation.localcuts import LocalCuts
from optbn_solvers.relaxation.orders import FamilyIndex
from optbn_solvers.relaxation.program import Relaxation
from optbn_solvers.relaxation.refine import refine, within_rounding
from optbn_solvers.relaxation.root import Root, RootSettings, first_relaxation
from optbn_solvers.relaxation.rows import Cluster, Pattern
from optbn_solvers.verify import verify
from tests.naive import ilp as naive
from tests.naive.solvers import KINDS, optimum, random_table, scores_of_all_dags


def poor_graph(table, rank: int = -1) -> np.ndarray:
    """The worst acyclic graph there is, or that of a rank (n <= 5)."""
    scores = scores_of_all_dags(table)
    chosen = sorted(scores, key=lambda graph: -scores[graph])[min(rank, len(scores) - 1)]
    rows = [table.find(v, [u for u in range(table.n) if mask >> u & 1]) for v, mask in enumerate(chosen)]
    return np.array(rows, dtype=np.int64)


def open_ledger(table, rows) -> Ledger:
    return Ledger(table, rows, Families.of(table, np.arange(len(table))))


def random_row(rng, n):
    """A cluster, or a pattern row made true by giving it its exact right-hand side."""
    members = tuple(sorted(rng.choice(n, size=rng.integers(2, min(4, n) + 1), replace=False).tolist()))
    if rng.random() < 0.5:
        return Cluster(members)
    m = len(members)
    table = rng.integers(0, 4, size=(m, 1 << m))
    for i in range(m):
        table[i, [t for t in range(1 << m) if t >> i & 1 or t == 0]] = 0
    return Pattern(members, table, int(naive.most(np.maximum(table, 0))))


def better_graphs(table, ledger):
    """The acyclic graphs that beat the incumbent, as rows."""
    for graph, units in scores_of_all_dags(table).items():
        if units > ledger.score:
            yield [table.find(v, [u for u in range(table.n) if mask >> u & 1]) for v, mask in enumerate(graph)]


@pytest.mark.parametrize("bits", [0, 3])
def test_settling_keeps_every_better_graph(bits):
    rng = np.random.default_rng(bits)
    dropped = 0
    for case in range(60):
        table = random_table(rng, int(rng.integers(2, 5)), KINDS[case % 5], rows=8)
        ledger = open_ledger(table, poor_graph(table, 4))
        better = list(better_graphs(table, ledger))
        unit = max(1, int(np.ptp(table.units)))
        for _ in range(3):
            rows = [random_row(rng, table.n) for _ in range(4)]
            stage = Stage([(row, int(rng.integers(0, unit // 8 + 1)) << bits) for row in rows], bits)
            before = int(ledger.alive.sum())
            ledger.settle(stage, [row.entries(ledger.families) for row in rows])
            dropped += before - int(ledger.alive.sum())
        best = optimum(table)
        assert ledger.bound >= best
        for graph in better:
            assert ledger.alive[ledger.families.positions(np.array(graph))].all()
        solution = as_solution(table, ledger)
        verify(table, solution)
    assert dropped > 5


def as_solution(table, ledger) -> Solution:
    """The ledger's state with its evidence."""
    bound = float(np.ldexp(float(ledger.bound), -table.exponent))
    score = table.total(ledger.rows)
    status = Status.OPTIMAL if bound == score else Status.FEASIBLE
    return Solution(status, tuple(ledger.rows.tolist()), score, bound, row_bound(ledger), table.digest, "test")


def test_bounds_are_those_of_fractions():
    rng = np.random.default_rng(7)
    for _ in range(20):
        table = random_table(rng, 4, "huge", rows=6)
        ledger = open_ledger(table, poor_graph(table))
        rows = [random_row(rng, 4) for _ in range(3)]
        stage = Stage([(row, int(rng.integers(0, 2**52))) for row in rows], 5)
        entries = [row.entries(ledger.families) for row in rows]
        expected = sum((Fraction(y, 32) * row.rhs for row, y in stage.rows), Fraction(0))
        for v in range(4):
            values = []
            for f in table.rows(v):
                value = Fraction(int(table.units[f]))
                for (_, y), (index, coefficient) in zip(stage.rows, entries, strict=True):
                    value -= sum(Fraction(y, 32) * int(a) for g, a in zip(index, coefficient, strict=True) if g == f)
                values.append(value)
            expected += max(values)
        before = ledger.bound
        ledger.settle(stage, entries)
        assert ledger.bound == max(ledger.score, min(before, expected.__floor__()))


@pytest.mark.parametrize("room", [0, 20_000_000])
def test_replayed_stages_leave_what_the_ledger_left(room, monkeypatch):
    """In arrays, whether entries are kept or not, and with Python's integers."""
    monkeypatch.setattr(replay, "MOST_ENTRIES", room)
    rng = np.random.default_rng(room % 7)
    dropped = 0
    for case in range(60):
        table = random_table(rng, int(rng.integers(2, 5)), KINDS[case % 5], rows=8)
        ledger = open_ledger(table, poor_graph(table, 4))
        unit = max(1, int(np.ptp(table.units)))
        stages = []
        for _ in range(4):
            bits = int(rng.integers(0, 60 if case % 4 == 0 else 4))
            rows = [random_row(rng, table.n) for _ in range(4)]
            stages.append(Stage([(row, int(rng.integers(0, unit // 8 + 1)) << bits) for row in rows], bits))
        again = replay.Replay(table, ledger.rows)
        for stage in stages:
            before = ledger.bound, int(ledger.alive.sum())
            ledger.settle(stage, [row.entries(ledger.families) for row, _ in stage.rows])
            changed = again.apply(stage)
            assert again.bound == ledger.bound
            assert ledger.closed or (again.alive == ledger.alive).all()
            assert ledger.closed or changed == (before != (ledger.bound, int(ledger.alive.sum())))
        dropped += len(table) - int(ledger.alive.sum())
        bound = ledger.bound
        few = replay.fewest(again, stages, lambda again=again, bound=bound: again.bound <= bound)
        again.begin()
        for stage in few:
            again.apply(stage)
        assert again.bound <= bound
    assert dropped > 10


def test_ascents_and_cases():
    rng = np.random.default_rng(2)
    for case in range(40):
        table = random_table(rng, 4, KINDS[case % 5])
        ledger = open_ledger(table, poor_graph(table))
        costs = reduced_costs(table.offsets, table.units)
        for _ in range(2):
            ledger.settle_ascent(dual_ascent(table.offsets, table.masks, costs, rng.permutation(4)))
        assert ledger.bound >= optimum(table)
        for graph in better_graphs(table, ledger):
            assert ledger.alive[np.array(graph)].all()
        verify(table, as_solution(table, ledger))
        none_of_the_last = ledger.alive & (ledger.families.children != 3)
        assert ledger.case(none_of_the_last, ledger.bound).closed or ledger.closed


def test_the_end_game_is_the_optimum_among_what_is_left():
    rng = np.random.default_rng(4)
    for case in range(80):
        table = random_table(rng, int(rng.integers(1, 6)), KINDS[case % len(KINDS)])
        if optimum(table) is None:
            continue
        ledger = open_ledger(table, poor_graph(table))
        assert finish(ledger)
        assert ledger.score == optimum(table)
        verdict = verify(table, as_solution(table, ledger))
        assert verdict.optimal


def test_the_end_game_leaves_large_parts_alone():
    table = random_table(np.random.default_rng(0), 6, rows=20)
    ledger = open_ledger(table, np.array([table.find(v, []) for v in range(6)]))
    assert max(len(part) for part in parts_of(ledger)) > 3
    assert not finish(ledger, 3)
    assert ledger.stages == []


@pytest.mark.parametrize("kind", ["plain", "ties", "tiny", "signs", "dense"])
def test_root_and_refinement_without_an_end_game(kind):
    """The LP's duals alone, refined, prove the optimum on most tables, ties included, and the proof is accepted."""
    rng = np.random.default_rng(len(kind))
    closed = 0
    for _ in range(12):
        table = random_table(rng, 5, kind)
        ledger = open_ledger(table, poor_graph(table))
        nearness = reduced_costs(table.offsets, table.units)
        lp = first_relaxation(ledger, nearness, [], 0.15, float(ledger.gap))
        index, local = FamilyIndex.of(table), LocalCuts(rng)
        Root(ledger, index, local, rng, RootSettings(largest_part=0), lp).run(Budget())
        if not ledger.closed and within_rounding(ledger, lp):
            refine(ledger, lp, index, local, rng, Budget(), 0)
        if ledger.closed:
            closed += 1
            assert ledger.score == optimum(table)
        assert ledger.bound >= optimum(table)
        verify(table, as_solution(table, ledger))
    assert closed >= 8


def test_slack_at_the_price_of_multipliers_leaves_the_same_optimum():
    """Whatever whole multipliers are taken out beforehand, bound - residual = the bound of the linear program."""
    rng = np.random.default_rng(11)
    for case in range(20):
        table = random_table(rng, 5, ["plain", "ties", "signs", "dense"][case % 4])
        ledger = open_ledger(table, poor_graph(table))
        rows = [random_row(rng, 5) for _ in range(12)]
        entries = [row.entries(ledger.families) for row in rows]
        every, costs = np.arange(len(table)), reduced_costs(table.offsets, table.units)
        lp = Relaxation(ledger.families, every, costs, float(ledger.gap))
        lp.add_rows(rows, entries)
        assert lp.solve(Budget())
        most = ledger.bound - lp.value
        y = rng.integers(0, 2 + ledger.gap // 4, len(rows)) * (rng.random(len(rows)) < 0.7)
        adjusted = ledger.families.units.astype(np.float64)
        for (index, value), paid in zip(entries, y.tolist(), strict=True):
            adjusted[index] -= value * float(paid)
        tops = np.maximum.reduceat(adjusted, table.offsets[:-1])
        bound = tops.sum() + sum(float(paid) * row.rhs for row, paid in zip(rows, y.tolist(), strict=True))
        left = Relaxation(ledger.families, every, np.repeat(tops, np.diff(table.offsets)) - adjusted, float(ledger.gap))
        left.add_rows(rows, entries, y.astype(np.float64))
        assert left.solve(Budget())
        assert bound - left.value == pytest.approx(most, abs=1e-6 * (abs(bound - most) + ledger.gap))
        assert (left.duals >= -y - 1e-6 * (1 + ledger.gap)).all()


def test_a_known_optimum_that_something_excludes_is_reported():
    rng = np.random.default_rng(9)
    table = random_table(rng, 4)
    best = max(scores_of_all_dags(table).items(), key=lambda item: item[1])[0]
    known = [table.find(v, [u for u in range(4) if mask >> u & 1]) for v, mask in enumerate(best)]
    false_row = Pattern((0, 1), np.zeros((2, 4), dtype=np.int64), -1)
    ledger = Ledger(table, poor_graph(table), Families.of(table, np.arange(len(table))), known)
    with pytest.raises(WrongProof, match="cuts off"):
        ledger.check_rows([false_row])
    with pytest.raises(WrongProof, match="below"):
        ledger.settle(Stage([(false_row, 2**60)]), [false_row.entries(ledger.families)])


def test_columns_and_rows_come_and_go():
    """The LP after deletions and additions is the LP made at once."""
    rng = np.random.default_rng(6)
    table = random_table(rng, 5)
    families = Families.of(table, np.arange(len(table)))
    costs = reduced_costs(table.offsets, table.units)
    rows = [Cluster(c) for size in (2, 3) for c in itertools.combinations(range(5), size)]
    whole = Relaxation(families, np.arange(len(families)), costs, float(costs.max()))
    whole.add_rows(rows)
    assert whole.solve(Budget())
    pieces = Relaxation(families, np.arange(0, len(families), 2), costs, float(costs.max()))
    first = families.offsets[:-1][~pieces.has(families.offsets[:-1])]
    pieces.add_columns(first)
    pieces.add_rows(rows[:7])
    gone = np.zeros(len(families), dtype=np.bool_)
    gone[pieces.columns[3:6]] = True
    gone[families.offsets[:-1]] = False
    pieces.delete_columns(gone)
    pieces.add_rows(rows[7:])
    pieces.add_columns(np.flatnonzero(~pieces.has(np.arange(len(families)))))
    assert pieces.solve(Budget())
    assert pieces.value == pytest.approx(whole.value)
    stopped = Budget()
    stopped.stop()
    assert whole.solve(stopped) in (True, False)  # never hangs; a solved LP may be returned at once
