"""What every solver in the registry promises, on random tables small enough to know everything about."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from optbn_solvers import SOLVERS, Budget, Status, load_solver, solve
from optbn_solvers.base.errors import InfeasibleError, TooLargeError, UnknownSolverError
from optbn_solvers.base.protocol import Progress, capabilities
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.front.registry import solver_class
from optbn_solvers.relaxation.orders import search
from optbn_solvers.verify import verify
from tests import agree
from tests.naive.solvers import KINDS, optimum, optimum_by_subsets, random_table

ABLE = {name: capabilities(solver_class(name)) for name in SOLVERS}
EXACT = sorted(name for name in SOLVERS if ABLE[name].exact)
SHORT = 0.02  # CPU seconds for those that would go on as long as they may
MANY = 4000  # looks at a fake clock that no solver needs for these sizes


def run(name: str, table: ScoreTable, **kwargs):
    """Whatever the solver declares about itself is all that is known here."""
    if not ABLE[name].exact:
        kwargs.setdefault("budget", Budget(cpu=SHORT))
    return solve(table, name, **kwargs)


def random_tables(name: str, count: int, sizes, kinds=KINDS, seed: int = 0, **kwargs):
    """Tables of these sizes, or the largest that the solver takes."""
    rng = np.random.default_rng(seed)
    for trial in range(count):
        size = min(sizes[trial % len(sizes)], ABLE[name].largest)
        yield random_table(rng, size, kinds[trial % len(kinds)], **kwargs)


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_against_all_acyclic_graphs(name):
    """n <= 5, every kind of table: the optimum to the bit, or that there is no graph at all."""
    count = 300 if ABLE[name].exact else 90
    infeasible = 0
    for table in random_tables(name, count, [1, 2, 3, 4, 5], seed=1):
        best = optimum(table)
        if best is None:
            infeasible += 1
            with pytest.raises(InfeasibleError) as caught:
                run(name, table)
            assert any(repr(v) in str(caught.value) for v in table.names)
            continue
        solution = run(name, table)
        assert table.total_units(solution.choice) <= best
        assert solution.bound >= table.score_of(best)
        if ABLE[name].exact:
            assert solution.status is Status.OPTIMAL
            assert table.total_units(solution.choice) == best
    assert infeasible > 0


@pytest.mark.parametrize("name", EXACT)
def test_against_recursion_over_subsets(name):
    for table in random_tables(name, 18, [7, 9, 10], seed=2, rows=25):
        best = optimum_by_subsets(table)
        if best is not None:
            solution = run(name, table)
            assert solution.status is Status.OPTIMAL and table.total_units(solution.choice) == best


@pytest.mark.parametrize("name", EXACT)
def test_agreement_to_the_bit(name):
    """n = 12, sparse to dense: the same optimum as dynamic programming."""
    for table in random_tables(name, 12, [12], ("plain", "dense", "ties", "signs", "blocks"), seed=9, rows=20):
        assert run(name, table).score == run("dp", table).score


@pytest.mark.parametrize("name", EXACT)
def test_two_words_per_mask(name):
    """70 variables in blocks of 7 that touch in one direction only: the optimum is the sum over the blocks."""
    rng = np.random.default_rng(3)
    families: dict[str, dict[tuple[str, ...], float]] = {}
    best = 0.0
    for block in range(10):
        rough = random_table(rng, 7, "plain", rows=10)
        inner = ScoreTable.from_dict(  # on a grid coarse enough for both sizes of table
            {
                f"b{block}v{v}": {
                    tuple(f"b{block}v{u}" for u in rough.parents(row)): round(float(rough.scores[row]) * 1024) / 1024
                    for row in rough.rows(v)
                }
                for v in range(7)
            }
        )
        for v, child in enumerate(inner.names):
            families[child] = {
                tuple(inner.names[u] for u in inner.parents(row)): float(inner.scores[row]) for row in inner.rows(v)
            }
        best += inner.score_of(optimum_by_subsets(inner))
    for block in range(1, 10):  # worse than what is there, so that they change nothing, but dominated by nothing
        child = families[f"b{block}v0"]
        child[(f"b{block - 1}v0", f"b{block}v1")] = min(child.values())
    table = ScoreTable.from_dict(families)
    if ABLE[name].largest < table.n:
        with pytest.raises(TooLargeError, match=f"{name} takes tables of at most .* variables, and this one has 70"):
            run(name, table)
        return
    solution = run(name, table, budget=Budget(cpu=120))
    assert solution.status is Status.OPTIMAL
    assert solution.score == best


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_progress_brackets_the_optimum(name):
    events: list[Progress] = []
    for table in random_tables(name, 12, [5, 9], ("plain", "dense", "ties"), seed=4, rows=25):
        events.clear()
        best = table.score_of(optimum_by_subsets(table))
        run(name, table, progress=events.append)
        for event in events:
            assert event.bound >= best
            assert event.score is None or event.score <= best
        assert [e.seconds for e in events] == sorted(e.seconds for e in events)


class Clock:
    """Advances by `step` at each look; counts the looks."""

    def __init__(self, step: float) -> None:
        self.now, self.step, self.looks = 0.0, step, 0

    def __call__(self) -> float:
        self.now += self.step
        self.looks += 1
        return self.now


@pytest.mark.parametrize("which", ["wall", "cpu"])
@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_a_clock_that_runs_out_stops_it(name, which):
    for table in random_tables(name, 6, [8, 11], ("plain", "dense"), seed=5, rows=30):
        best = table.score_of(optimum_by_subsets(table))
        for limit in (0.0, 1.0, 10.0):
            clock = Clock(1.0)
            clocks = {"clock": clock} if which == "wall" else {"cpu_clock": clock}
            budget = Budget(**{which: limit}, **clocks)
            solution = run(name, table, budget=budget)
            assert clock.looks < limit + MANY
            assert solution.bound >= best
            assert solution.score is None or solution.score <= best


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_it_stops_when_asked(name):
    """A table that takes longer, stopped from another thread: the answer comes at once."""
    rng = np.random.default_rng(10)
    run(name, random_table(rng, min(12, ABLE[name].largest), "dense", rows=40))  # nothing is compiled when it stops
    for n in (70, 45, 26, ABLE[name].largest):
        table = random_table(rng, n, "dense", most=4, rows=100)
        budget, stopped = Budget(cpu=60), []

        def stop(budget=budget, stopped=stopped):
            stopped.append(time.process_time())
            budget.stop()

        timer = threading.Timer(1.0, stop)
        timer.start()
        try:
            solution = load_solver(name).solve(table, budget)
        except TooLargeError:
            continue
        finally:
            timer.cancel()
        returned = time.process_time()
        assert not stopped or returned - stopped[0] < 1.0
        verify(table, solution)
        return


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_a_stopped_budget_returns_the_start(name):
    for table in random_tables(name, 4, [6, 10], ("plain", "dense"), seed=6, rows=25):
        start = search(table, starts=2, kicks=10).tolist()
        budget = Budget()
        budget.stop()
        solution = run(name, table, budget=budget, start=start)
        assert solution.score is not None and solution.score >= table.total(start)


@pytest.mark.parametrize("name", EXACT)
def test_a_poor_start_does_no_harm(name):
    for table in random_tables(name, 6, [5, 8], ("plain", "dense"), seed=7, rows=25):
        empty = [table.find(v, []) for v in range(table.n)]
        solution = run(name, table, start=empty)
        assert solution.status is Status.OPTIMAL
        assert table.total_units(solution.choice) == optimum_by_subsets(table)


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_the_same_question_has_the_same_answer(name):
    table = random_table(np.random.default_rng(8), min(9, ABLE[name].largest), "dense")
    first, second = run(name, table), run(name, table)
    assert first.score == second.score or not ABLE[name].exact
    assert first.choice == second.choice or not ABLE[name].deterministic
    assert first.table_digest == table.digest
    verify(table, first)


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_what_it_declares_is_true(name):
    """Its name, and that up to some variables every optimum of its is proved by evidence; a price is finite there."""
    able = ABLE[name]
    assert able.name == name
    assert able.price is None or able.price(min(able.largest, 8), Budget()) < 1.0
    for table in random_tables(name, 12, range(1, min(able.proves, 12) + 1), seed=11) if able.proves else ():
        if optimum_by_subsets(table) is not None:
            verdict = verify(table, run(name, table))
            assert verdict.optimal and not verdict.claimed


def test_an_unknown_solver_lists_what_exists():
    with pytest.raises(UnknownSolverError, match=r"did you mean 'greedy'.*greedy"):
        load_solver("gredy")


def test_all_solvers_agree():
    """The short form of `python -m tests.agree`."""
    assert agree.run(range(12), seconds=60) == 0
