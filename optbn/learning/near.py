"""What else the data would bear: the best networks after the best, and how probable each arc is over other networks.

Alternatives are the k best graphs of the score table, that is of those graphs in which no variable could lose a parent
without loss of score; each is described by how it differs from the best.

Arc probabilities average over networks weighted by the exponential of their scores (with a uniform prior over graphs
the exact posterior, when the score is a marginal likelihood). For them every candidate set is scored again, and none
is left out. How depends on what is feasible, and a note says so:
    sums over all of them            to MOST_OF_ALL variables (3^n steps)
    sums over their orders           as far as memory and time go: 16 x 2^n bytes, n 2^n steps (25 variables: 50 s)
    samples of their orders          beyond: an estimate, with the agreement of its chains (front/sampled.py)
    a credible set                   under constraints that scoring cannot respect: the networks that are at most
                                     FACTORS times less probable than the best, none of them left out. What part of
                                     the probability of all networks such a set has is not known.

In a credible set no family can be that is beaten by one of its own subsets by more than the set's width: the same
graph with the subset would be better by as much. So of hundreds of thousands of families few need to be searched.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from optbn.learning.constraints import SCORING, all_families, demanding
from optbn.learning.estimate import in_words
from optbn.scores.selection import among
from optbn_solvers.base.clock import working
from optbn_solvers.base.errors import StoppedError, TooLargeError
from optbn_solvers.base.memory import check_memory
from optbn_solvers.base.protocol import Budget
from optbn_solvers.front.near import best_graphs
from optbn_solvers.front.posterior import posterior
from optbn_solvers.front.sampled import SampledPosterior, sampled_posterior

if TYPE_CHECKING:
    from optbn.network.structure import Structure
    from optbn.scores.scoring import Scoring
    from optbn_solvers import Constraints, ScoreTable, Solution
    from optbn_solvers.front.near import Near

MOST_OF_ALL = 14  # variables for sums over graphs
ORDERS_SECONDS = 6e-8  # per n 2^n of the sums over orders, one core
FACTORS = (2, 10, 100)  # widths of credible sets; the largest that can be had is taken
LARGEST_SET = 10_000  # graphs

Chances = dict[tuple[str, str], float]


def alternatives(table: ScoreTable, solution: Solution, k: int, seconds: float = math.inf) -> tuple[list[str], str]:
    """The k best networks after the best, a line each, and what to tell of that (or "")."""
    assert solution.choice is not None and solution.score is not None
    if solution.gap > 0:
        return [], "the next best networks are not known, as the best is not"
    best = _arcs(table, solution.choice)
    try:
        found = best_graphs(
            table,
            k + 1,
            constraints=solution.constraints,
            budget=Budget(wall=seconds),
            best=solution.choice,
            only_listed=True,
        )
    except StoppedError:
        return [], f"the next best networks were not found in the {in_words(seconds)} there were for them"
    lines: list[str] = []
    for choice in found.choices:
        arcs = _arcs(table, choice)
        if arcs != best and len(lines) < k:
            score = float(sum(table.scores[row] for row in choice))
            lines.append(f"{_lost(solution.score - score)}: {_difference(best, arcs)}")
    return lines, ""


def arc_posteriors(
    scoring: Scoring,
    constraints: Constraints | None = None,
    best: Structure | None = None,
    jobs: int | None = None,
    seconds: float = math.inf,
    needed: float = 0.0,
) -> tuple[Chances, str]:
    """({(parent, child): probability}, over what it was taken); none, and why, when time runs out.

    `best` is an optimal network, where it is known. Nothing is begun when `needed`, what scoring took before, is more
    than the seconds there are.
    """
    end = working() + seconds
    size = scoring.sets.largest
    sets = f"of at most {size} parent{'s' if size != 1 else ''}"
    if k := scoring.candidates:
        sets += f" {among(k)}"
    late = f"probabilities of arcs were not computed: the {in_words(seconds)} there were for them did not suffice"
    if needed > seconds:
        return {}, late

    def watch(done: int, of: int) -> None:
        if working() > end and done < of:
            raise StoppedError(late)

    try:
        table = all_families(scoring, jobs, watch)
        beyond = constraints is not None and any(name not in SCORING for name in constraints.stated())
        if beyond:
            return credible(table, constraints, best, sets, end)
        budget = Budget(wall=max(0.0, end - working()), memory=scoring.memory)
        if table.n > MOST_OF_ALL and not _orders_can_be_summed(table.n, budget):
            sampled = sampled_posterior(table, budget=budget)
            return _named(table, sampled.arcs), _in_short(sampled, sets)
        over = posterior(table, "graphs" if table.n <= MOST_OF_ALL else "orders", budget)
    except StoppedError:
        return {}, late
    networks = "all networks" if over.over == "graphs" else "all networks, weighted by their orders,"
    return _named(table, over.arcs), f"probabilities of arcs are over {networks} {sets}"


def _orders_can_be_summed(n: int, budget: Budget) -> bool:
    """Whether memory and time are enough for that."""
    try:
        check_memory(n, 16, budget)
    except TooLargeError:
        return False
    return ORDERS_SECONDS * n * 2.0**n <= budget.remaining()


def _in_short(sampled: SampledPosterior, sets: str) -> str:
    """What the probabilities are, and whether they can be believed."""
    how = f"R-hat {sampled.r_hat:.2f}, {sampled.effective:,.0f} effective draws of the worst arc"
    chains = "agree" if sampled.agreed else "do not agree yet, so give more time"
    return (
        f"probabilities of arcs are estimates from {sampled.draws:,} sampled orders, over all networks {sets}, "
        f"weighted by their orders; the chains {chains} ({how}); standard errors: at most {sampled.errors.max():.3f}"
    )


def credible(
    table: ScoreTable, constraints: Constraints | None, best: Structure | None, sets: str, end: float
) -> tuple[Chances, str]:
    """The same over the widest credible set that can be had until the end."""
    found: tuple[Near, int] | None = None
    why = ""
    for factor in FACTORS:
        window = math.log(factor)
        narrow = table if demanding(constraints) else table.restricted(_within(table, window))
        budget = Budget(wall=max(0.0, end - working()))
        rows = None if best is None else _rows(narrow, best)
        try:
            near = best_graphs(
                narrow, LARGEST_SET, window, constraints=constraints, budget=budget, best=rows, only_listed=True
            )
        except StoppedError:
            break
        if not near.complete:
            if not budget.exhausted():
                why = f"; more than {LARGEST_SET:,} are at most {factor} times less probable"
            break
        found = near, factor
    if found is None:
        return {}, f"probabilities of arcs were not computed: {why[2:] or 'there was not the time for it'}"
    near, factor = found
    return _named(table, near.probabilities()), (
        f"probabilities of arcs are over the {len(near.choices):,} networks {sets} that are at most {factor} times "
        f"less probable than the best{why}; what part of the probability of all networks these have is not known "
        f"(it can be computed for at most {MOST_OF_ALL} variables)"
    )


def _rows(table: ScoreTable, best: Structure) -> list[int] | None:
    """The rows of a network; None if the table has not all of its families."""
    place = {name: v for v, name in enumerate(table.names)}
    rows = [table.find(v, [place[parent] for parent in best.parents(name)]) for name, v in place.items()]
    return [row for row in rows if row is not None] if None not in rows else None


def _within(table: ScoreTable, window: float) -> NDArray[np.int64]:
    """The rows that no subset of theirs beats by more than the window."""
    keep: list[int] = []
    units, least = table.units.tolist(), window * 2.0**table.exponent
    words = table.masks.tolist()
    for child in range(table.n):
        masks = {row: sum(word << 64 * i for i, word in enumerate(words[row])) for row in table.rows(child)}
        best: dict[int, int] = {}  # of a set and its subsets
        for row, mask in sorted(masks.items(), key=lambda item: item[1].bit_count()):
            fewer = [mask ^ 1 << u for u in range(mask.bit_length()) if mask >> u & 1]
            best[mask] = max([units[row], *(best[each] for each in fewer if each in best)])
            if best[mask] - units[row] <= least:
                keep.append(row)
    return np.array(sorted(keep), dtype=np.int64)


def _named(table: ScoreTable, arcs: NDArray[np.float64]) -> Chances:
    return {
        (parent, child): float(np.clip(arcs[u, v], 0.0, 1.0))
        for u, parent in enumerate(table.names)
        for v, child in enumerate(table.names)
        if u != v
    }


def _arcs(table: ScoreTable, choice: Any) -> set[tuple[str, str]]:
    return {(parent, child) for child, parents in table.graph(choice).items() for parent in parents}


def _lost(difference: float) -> str:
    if difference <= 0:
        return "equal score"
    return f"{difference:.3f} nat less" if difference >= 0.0005 else "equal score but for rounding"


def _difference(best: set[tuple[str, str]], other: set[tuple[str, str]]) -> str:
    turned = {(v, u) for u, v in best - other} & other
    lost = {arc for arc in best - other if (arc[1], arc[0]) not in turned}
    gained = other - best - turned
    parts = []
    for word, arcs in (("turned round", turned), ("without", lost), ("with", gained)):
        if arcs:
            parts.append(f"{word} {', '.join(f'{u} → {v}' for u, v in sorted(arcs))}")
    return "; ".join(parts)
