"""Where PCART's time goes: a sample of parent sets, part by part, with what each part visits and moves.

A part's figure is the time with it less the time without: sites (rows to counts), plan (boxes to slots and splits),
leaves (in single precision), splits. Bytes are what the last two read and write: per slot and sixteen responses two
rows of counts and one written, per split two rows of values.

What a core of the machine that results/roofline comes from (Zen 5, about 4 GHz) could do: two vectors of sixteen floats
per cycle, so that leaves, seventeen instructions per vector of counts, could take 7,500 million counts a second, and
do half to two thirds of that; sums are bounded by what the second cache hands out, 64 bytes per cycle, 250 GB/s. The
plan is neither: it waits for branches and for slots just written.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator

import numpy as np

from optbn.scores import load_score
from optbn.scores.kernels.lattice import dense_plan
from optbn.scores.kernels.sieve import roots
from optbn.scores.kernels.simd32 import LANES
from optbn.scores.kernels.trees import find_sites
from optbn.scores.trees.sieve import sieve_space
from optbn.scores.trees.space import digit_space, lattice_space, site_space
from optbn_solvers.base.compiled import kernel
from tests.benchmarks import Figure
from tests.benchmarks.phase1 import load

SAMPLES = [("alarm", 1600, 4, 2000), ("alarm", 25_600, 4, 1000), ("alarm", 1600, 5, 500), ("insurance", 1600, 4, 1000)]
RUN, REPEATS = 20, 3
SITES, PLAN, LEAVES, SPLITS = range(4)


def measure() -> Iterator[Figure]:
    for name, rows, size, sample in SAMPLES:
        bound = load_score("pcart").bind(load(name, rows))
        n = bound.columns.data.n_variables
        every = np.array(list(itertools.combinations(range(n), size)), np.int32)
        begin = np.random.default_rng(1).choice(len(every) - RUN, sample // RUN, replace=False)
        sets = every[(np.sort(begin)[:, None] + np.arange(RUN)).ravel()]
        boxes, splits = (int(extent.max()) for extent in bound.costs.extent(sets))
        lanes = bound.leaves.responses.order
        width = int(bound.leaves.responses.levels.max())
        predictors, responses = bound.columns.predictors, bound.leaves.responses
        box, plan = lattice_space(boxes, splits)
        room, space = digit_space(sets, predictors), site_space(sets, predictors, responses)
        work = sieve_space(boxes + 1, width, n, 1 << 40)
        priors = bound._priors(sets)
        each = bound._digits(sets), priors.leaf_cost, priors.leaf_rows
        scratch = tuple(bound._terms[0.5]), box, room, plan, work, space
        found = np.zeros(5, np.int64)
        least = np.full(4, np.inf)
        for _ in range(REPEATS + 1):
            for stage in range(4):
                found[:] = 0
                start = time.process_time()
                _run(
                    stage,
                    sets,
                    each,
                    tuple(predictors),
                    tuple(responses),
                    lanes,
                    scratch,
                    found,
                )
                least[stage] = min(least[stage], time.process_time() - start)
        micro = np.diff(1e6 * least / len(sets), prepend=0)
        slots, cells, moved, pairs, rows_seen = found / len(sets)
        work_name = f"{name}, N = {rows:,}, D = {size}"
        yield Figure(f"{work_name}, sites", micro[SITES], unit="us", note=f"{rows_seen:,.0f} sites a set")
        yield Figure(f"{work_name}, plan", micro[PLAN], unit="us", note=f"{slots:,.0f} slots, {pairs:,.0f} splits")
        blocks = -(-len(lanes) // LANES)
        note = f"{cells / micro[LEAVES]:,.0f} million counts/s, {moved / micro[LEAVES] / 1e3:.1f} GB/s"
        yield Figure(f"{work_name}, leaves", micro[LEAVES], unit="us", note=note)
        sums = pairs * LANES * blocks
        note = f"{sums / micro[SPLITS]:,.0f} million sums/s, {8 * sums / micro[SPLITS] / 1e3:.1f} GB/s"
        yield Figure(f"{work_name}, splits", micro[SPLITS], unit="us", note=note)


@kernel
def _run(stage, sets, each, predictors, responses, lanes, scratch, found):
    """The parts up to `stage`; adds to found: slots, counts and bytes of leaves, splits, sites."""
    digits, leaf_cost, leaf_rows = each
    _, _, _, _, kinds, sizes, parts, table, halves, need = predictors
    start, levels = responses[2], responses[3]
    terms, box, room, plan, work, space = scratch
    shapes = kinds, sizes, parts, table, halves, need
    k = sets.shape[1]
    for i in range(len(sets)):
        shared = 0
        while i > 0 and shared < k and sets[i, shared] == sets[i - 1, shared]:
            shared += 1
        u = find_sites(sets[i], shared, i == 0, predictors, responses, space)
        found[4] += u
        if stage == SITES:
            continue
        n_slots = dense_plan(sets[i], digits[i], space[1][k], space[4], u, leaf_rows[i], shapes, box, room, plan)
        found[0] += n_slots
        found[3] += plan[3][n_slots]
        if stage == PLAN:
            continue
        if stage == LEAVES:
            for s in range(n_slots + 1):
                plan[3][s] = 0
        for q in range(0, len(lanes), LANES):
            some = lanes[q : min(q + LANES, len(lanes))]
            found[1] += n_slots * LANES * levels[some[0]]
            found[2] += n_slots * LANES * (12 * levels[some[0]] + 4)
            roots(plan, n_slots, leaf_cost[i], space[5], some, start, levels, terms, work)
