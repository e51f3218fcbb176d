"""Where PCART's time goes: a sample of parent sets, part by part, with what each part visits and moves.

A part's figure is the time with it less the time without: sites (rows to counts), entries (boxes that differ, and the
plan of all members but the last), leaves, splits, the latter two as the sieve does them. Bytes are what these read and
write: per entry and 32 responses two rows of counts and one written, per split two rows of costs.

What a core of the machine that results/roofline comes from (Zen 5, about 4 GHz) could do: two vectors of sixteen floats
per cycle, so that leaves, sixteen instructions per vector of counts, could take 8,000 million counts a second, and
sums of 16 bits are bounded by what the second cache hands out, 64 bytes per cycle, 250 GB/s. To number entries is
neither: it waits for branches and for entries just numbered.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator

import numpy as np

from optbn.scores import load_score
from optbn.scores.kernels.product import prefix_plan
from optbn.scores.kernels.runs import LEAST_ROWS, lay_lattice
from optbn.scores.kernels.sieve import lay_columns, roots, roots_of_runs
from optbn.scores.kernels.sums import LANES
from optbn.scores.kernels.trees import find_sites
from optbn.scores.trees.sieve import last_of_most_parts, sieve_space
from optbn.scores.trees.space import product_space, site_space
from optbn_solvers.base.compiled import leaf
from tests.benchmarks import Figure
from tests.benchmarks.phase1 import load

SAMPLES = [
    ("alarm", 1600, 4, 2000),
    ("alarm", 25_600, 4, 1000),
    ("alarm", 1600, 5, 500),
    ("insurance", 1600, 4, 1000),
    ("hailfinder", 1600, 3, 200),
]
RUN, REPEATS = 20, 3
SITES, ENTRIES, LEAVES, SPLITS = range(4)


def measure() -> Iterator[Figure]:
    for name, rows, size, sample in SAMPLES:
        bound = load_score("pcart").bind(load(name, rows))
        n = bound.columns.data.n_variables
        every = np.array(list(itertools.combinations(range(n), size)), np.int32)
        begin = np.random.default_rng(1).choice(len(every) - RUN, sample // RUN, replace=False)
        sets = every[(np.sort(begin)[:, None] + np.arange(RUN)).ravel()]
        sets = sets[bound.costs.laid_out(sets, *bound.costs.extent(sets))]
        boxes = bound.costs.extent(sets)[0]
        most_boxes = int(boxes.max())
        sets = last_of_most_parts(sets, bound.columns.predictors.parts, boxes >= LEAST_ROWS)
        before = tuple(int(extent.max()) for extent in bound.costs.extent(sets[:, :-1]))
        lanes = bound.leaves.responses.order
        width = int(bound.leaves.responses.levels.max())
        predictors, responses = bound.columns.predictors, bound.leaves.responses
        space = site_space(sets, predictors, responses)
        most_parts = int(predictors.parts.max())
        work = sieve_space(most_boxes + most_parts + 1, width, n, rows, 1 << 40)
        work[2][:] = np.array([[0.5], [-3.0], [-20.0]])
        priors = bound._priors(sets)
        scratch = tuple(bound._terms[0.5]), product_space(sets, predictors, most_boxes, before), work, space
        each = bound._digits(sets), priors.leaf_rows
        found = np.zeros(5, np.int64)
        least = np.full(4, np.inf)
        for _ in range(REPEATS + 1):
            for stage in range(4):
                found[:] = 0
                start = time.process_time()
                _run(stage, sets, each, tuple(predictors), tuple(responses), lanes, scratch, found)
                least[stage] = min(least[stage], time.process_time() - start)
        micro = np.diff(1e6 * least / len(sets), prepend=0)
        entries, cells, moved, pairs, rows_seen = found / len(sets)
        work_name = f"{name}, N = {rows:,}, D = {size}"
        yield Figure(f"{work_name}, sites", micro[SITES], unit="us", note=f"{rows_seen:,.0f} sites a set")
        yield Figure(f"{work_name}, entries", micro[ENTRIES], unit="us", note=f"{entries:,.0f} entries a set")
        blocks = -(-len(lanes) // LANES)
        note = f"{cells / micro[LEAVES]:,.0f} million counts/s, {moved / micro[LEAVES] / 1e3:.1f} GB/s"
        yield Figure(f"{work_name}, leaves", micro[LEAVES], unit="us", note=note)
        sums = pairs * LANES * blocks
        note = f"{pairs:,.0f} splits a set, {sums / micro[SPLITS]:,.0f} million sums/s, "
        note += f"{4 * sums / micro[SPLITS] / 1e3:.1f} GB/s"
        yield Figure(f"{work_name}, splits", micro[SPLITS], unit="us", note=note)


@leaf
def _run(stage, sets, each, predictors, responses, lanes, scratch, found):
    """The parts up to `stage`; adds to found: entries, counts and bytes of leaves, splits, sites."""
    digits, leaf_rows = each
    _, _, _, _, kinds, sizes, parts, table, halves, need = predictors
    start, levels = responses[2], responses[3]
    terms, (prefix, splits, product), work, space = scratch
    shapes = kinds, sizes, parts, table, halves, need
    k, slots = sets.shape[1], 0
    for i in range(len(sets)):
        shared = 0
        while i > 0 and shared < k and sets[i, shared] == sets[i - 1, shared]:
            shared += 1
        u = find_sites(sets[i], shared, i == 0, predictors, responses, space)
        found[4] += u
        if stage == SITES:
            continue
        if i == 0 or shared < k - 1:
            slots = prefix_plan(sets[i], digits[i], space[1][k - 1], space[2][k - 1], shapes, prefix)
        size = lay_lattice(sets[i], u, slots, prefix, space[3], space[4], shapes, splits, product)
        entries, _, run = size
        found[0] += entries
        if stage == ENTRIES:
            continue
        whole = leaf_rows[i] if stage == SPLITS else len(space[4])
        for e in range(1, entries):
            if product[5][e] > whole:
                s, p = (e // run, e % run) if run > 0 else (product[1][e], product[2][e])
                found[3] += prefix[2][3][s + 1] - prefix[2][3][s] + splits[0][p + 1] - splits[0][p]
        lattice = prefix[2], splits, product
        for q in range(0, len(lanes), LANES):
            some = lanes[q : min(q + LANES, len(lanes))]
            found[1] += entries * LANES * levels[some[0]]
            found[2] += entries * LANES * (6 * levels[some[0]] + 2)
            length, wide = lay_columns(some, start, levels, work)
            columns = length, wide, levels[some[0]]
            if run > 0:
                roots_of_runs(size, whole, lattice, space[5], columns, terms, work)
            else:
                roots(size, whole, lattice, space[5], columns, terms, work)
