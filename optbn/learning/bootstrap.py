"""How often each arc comes back: the optimum of many resamples of the data, each solved to proof.

A resample has rows of the data, drawn again; its best network is found like that of the data and is as exact. Shares
over the resamples say how stable an arc, an adjacency or a v-structure is, which is not how probable it is: a resample
repeats rows and so believes in more arcs than new data would (results/stability compares the two).

Directions are those of the equivalence class: an arc that the class of a resample leaves open is counted as undirected.
Resample b of a seed has the same rows whatever the number of resamples, so a run that was stopped goes on in its
`store`. Where graphs of more than a dozen variables score exactly the same, which one a resample shows may depend on
the resamples before it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Integral
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import UnsupportedError
from optbn.base.numbers import counted
from optbn.base.options import DEFAULT_SCORE
from optbn.base.settings import check_seed
from optbn.data.anything import DataLike, WeightsLike, as_dataset
from optbn.data.dataset import Dataset
from optbn.learning.kept import Kept
from optbn.learning.resampling import Resampling
from optbn.learning.restrictions import restrictions_of
from optbn.learning.within import CHECK_SHARE, SEARCH_SHARE, size_within
from optbn.network.structure import Structure
from optbn.scores import load_score
from optbn.scores.pipeline import score_table
from optbn.scores.protocol import LocalScore
from optbn_solvers import Budget, ScoreTable, Solution, solve
from optbn_solvers.base.clock import working
from optbn_solvers.base.standing import Standing, standing
from optbn_solvers.front.warm import Resembling

CONFIDENCE = 1.959963984540054  # of a normal: 95 %
WIDEST = 12  # likely parents per variable of a consensus

ResampleProgress = Callable[[str, int, int], None]
"""Called as progress("resamples", done, of how many)."""


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """The optima of the resamples.

    graphs   bool[B, n, n]: [b, u, v], u is a parent of v in the best network of resample b
    proved   bool[B]: that network was proved the best, and the proof checked
    max_parents  the largest number of parents in these networks, less than the option where time was short
    restrictions   what the networks have in common of which these are the best, in words
    """

    names: tuple[str, ...]
    graphs: NDArray[np.bool_]
    proved: NDArray[np.bool_]
    scores: NDArray[np.float64]
    max_parents: int | None = None
    restrictions: tuple[str, ...] = ()
    _classes: list[tuple[frozenset[tuple[int, int]], frozenset[tuple[int, int]]]] = field(
        default_factory=list, repr=False
    )

    def __len__(self) -> int:
        return len(self.graphs)

    @property
    def adjacent(self) -> NDArray[np.float64]:
        """float64[n, n], symmetric: the share of resamples in which u and v are adjacent."""
        return np.asarray((self.graphs | self.graphs.transpose(0, 2, 1)).mean(axis=0))

    @property
    def directed(self) -> NDArray[np.float64]:
        """float64[n, n]: the share of resamples whose equivalence class has u -> v."""
        total = np.zeros((len(self.names),) * 2)
        for arcs, _ in self.classes():
            for u, v in arcs:
                total[u, v] += 1
        return total / len(self)

    def classes(self) -> list[tuple[frozenset[tuple[int, int]], frozenset[tuple[int, int]]]]:
        """Per resample the compelled arcs and the reversible edges of its class."""
        if not self._classes:
            for graph in self.graphs:
                essential = self._structure(graph).to_cpdag()
                self._classes.append((essential.arcs, essential.edges))
        return self._classes

    def v_structures(self) -> dict[tuple[str, str, str], float]:
        """(a, child, b): the share of resamples with a -> child <- b, a and b not adjacent; the most frequent first."""
        counts: dict[tuple[str, str, str], int] = {}
        for graph in self.graphs:
            joined = graph | graph.T
            for v in range(len(self.names)):
                parents = np.flatnonzero(graph[:, v])
                for i, a in enumerate(parents):
                    for b in parents[i + 1 :]:
                        if not joined[a, b]:
                            key = (self.names[a], self.names[v], self.names[b])
                            counts[key] = counts.get(key, 0) + 1
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return {key: count / len(self) for key, count in ordered}

    def rows(self) -> list[dict[str, Any]]:
        """A row per pair that is adjacent in some resample: shares with 95 % intervals (Wilson), strongest first.

        adjacent, low, high   of resamples in which the two are adjacent
        forward, backward     of resamples whose class has the arc from -> to, or the arc to -> from
        undirected            of resamples whose class leaves the direction open
        The pair is named in the direction that more resamples have.
        """
        adjacent, directed = self.adjacent, self.directed
        found = []
        for u in range(len(self.names)):
            for v in range(u + 1, len(self.names)):
                share = float(adjacent[u, v])
                if share == 0.0:
                    continue
                a, b = (u, v) if directed[u, v] >= directed[v, u] else (v, u)
                low, high = wilson(share, len(self))
                forward, backward = float(directed[a, b]), float(directed[b, a])
                found.append(
                    {
                        "from": self.names[a],
                        "to": self.names[b],
                        "adjacent": share,
                        "low": low,
                        "high": high,
                        "forward": forward,
                        "backward": backward,
                        "undirected": max(0.0, share - forward - backward),
                    }
                )
        return sorted(found, key=lambda row: (-row["adjacent"], -row["forward"], row["from"], row["to"]))

    def to_frame(self) -> Any:
        """`rows` as a pandas data frame."""
        import pandas

        return pandas.DataFrame(self.rows())

    def consensus(self) -> Structure:
        """The acyclic graph that agrees best with the resamples, by the project's own exact search.

        An arc is worth the share of resamples in which the two are adjacent, less the share in which they are not, plus
        how much more often its direction is compelled than the other one.
        """
        worth = 2 * self.adjacent - 1 + self.directed - self.directed.T
        families: dict[str, dict[Iterable[str], float]] = {}
        for v, name in enumerate(self.names):
            likely = [u for u in np.argsort(-worth[:, v], kind="stable") if u != v and worth[u, v] > 0][:WIDEST]
            sets = families.setdefault(name, {})
            for mask in range(1 << len(likely)):
                members = [u for i, u in enumerate(likely) if mask >> i & 1]
                sets[tuple(self.names[u] for u in members)] = float(sum(worth[u, v] for u in members))
        table = ScoreTable.from_dict(families)
        choice = solve(table).choice
        assert choice is not None
        return Structure.from_parents(table.graph(choice))

    def _structure(self, graph: NDArray[np.bool_]) -> Structure:
        return Structure(self.names, tuple(tuple(np.flatnonzero(graph[:, v]).tolist()) for v in range(len(graph))))

    def __repr__(self) -> str:
        parents = "" if self.max_parents is None else f", at most {counted(self.max_parents, 'parent')} each"
        proved = int(self.proved.sum())
        return f"Bootstrap({counted(len(self), 'resample')} of {len(self.names)} variables{parents}, {proved} proved)"


def bootstrap(
    data: DataLike,
    score: str | LocalScore = DEFAULT_SCORE,
    max_parents: int = 3,
    resamples: int = 200,
    *,
    resampling: Resampling | None = None,
    seed: int = 0,
    weights: WeightsLike = None,
    reading: Mapping[str, Any] | None = None,
    time_limit: float | None = None,
    jobs: int | None = None,
    memory: int | str | None = None,
    store: str | PathLike[str] | None = None,
    progress: ResampleProgress | None = None,
    **settings: Any,
) -> Bootstrap:
    """The best network of every resample, each proved where the time allows.

    data         a file, a Dataset or a data frame; `reading` are options of `optbn.read`
    score        a name in optbn.scores.SCORES (with its `settings`, ess=10 say) or a score itself
    max_parents  the largest number of parents of any variable
    weights      how many rows each row counts for: a column's name, or an array
    resampling   how rows are drawn, `Resampling()`: rows with replacement
    seed         of the resamples
    time_limit   seconds for everything: there are fewer resamples then, and parent sets may be smaller
    jobs, memory as in `score_table`
    store        a file that keeps finished resamples: a run that was stopped goes on there
    progress     called with ("resamples", done, of how many)
    """
    _check(resamples, resampling, seed)
    until = math.inf if time_limit is None else working() + time_limit
    rows = as_dataset(data, missing="value", reading=reading, weights=weights)
    method, how = load_score(score, caller=bootstrap, **settings), resampling or Resampling()
    if time_limit is not None and store is None:
        size = size_within(rows, method, min(max_parents, rows.n_variables - 1), until, jobs, memory)
        max_parents = size if size < rows.n_variables - 1 else max_parents
    kept = Kept.at(store, rows, method, max_parents, how, seed)

    def table_of(resample: Dataset) -> ScoreTable:
        return score_table(resample, method, max_parents, jobs=jobs, memory=memory)

    like, longest, tell = _Like(rows, table_of, until), 0.0, progress or (lambda *_: None)
    for b in range(resamples):
        tell("resamples", b, resamples)
        if b in kept.found:
            continue
        begun = working()
        if b and begun + longest > until:
            resamples = b
            break
        generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(b,)))
        table, solution = like.best(how.resample(rows, generator))
        assert solution.choice is not None and solution.score is not None
        proved = standing(solution) is Standing.PROVED
        kept.add(b, [table.parents(row) for row in solution.choice], solution.score, proved)
        longest = max(longest, working() - begun)
    tell("resamples", resamples, resamples)
    return _gathered(kept, resamples, max_parents, restrictions_of(rows, method, max_parents, memory))


def _check(resamples: int, resampling: Resampling | None, seed: int) -> None:
    if isinstance(resamples, bool) or not isinstance(resamples, Integral) or resamples < 1:
        raise UnsupportedError(f"{resamples} resamples, expected a whole number, at least 1")
    if resampling is not None and not isinstance(resampling, Resampling):
        raise UnsupportedError(f"resampling is {resampling!r}, expected Resampling('rows') or another kind")
    check_seed(seed)


@dataclass
class _Like:
    """Searches that begin from what was found for the data themselves, and for resamples before."""

    rows: Dataset
    table_of: Callable[[Dataset], ScoreTable]
    until: float
    begun: Resembling | None = None

    def best(self, resample: Dataset) -> tuple[ScoreTable, Solution]:
        if self.begun is None:
            self.begun = Resembling()
            self.begun.solve(self.table_of(self.rows), self._budget())
        table = self.table_of(resample)
        return table, self.begun.solve(table, self._budget())

    def _budget(self) -> Budget:
        left = self.until - working()
        return Budget(wall=max(0.1, SEARCH_SHARE * left), grace=max(0.1, CHECK_SHARE * left))


def wilson(share: float, n: int) -> tuple[float, float]:
    """The 95 % interval of a share of n independent resamples (Wilson 1927)."""
    z2 = CONFIDENCE**2
    centre, spread = share + z2 / (2 * n), CONFIDENCE * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    return max(0.0, (centre - spread) / (1 + z2 / n)), min(1.0, (centre + spread) / (1 + z2 / n))


def _gathered(kept: Kept, resamples: int, max_parents: int, restrictions: tuple[str, ...]) -> Bootstrap:
    n = len(kept.names)
    graphs = np.zeros((resamples, n, n), dtype=np.bool_)
    for b in range(resamples):
        for v, parents in enumerate(kept.found[b][0]):
            graphs[b, parents, v] = True
    scores = np.array([kept.found[b][1] for b in range(resamples)])
    proved = np.array([kept.found[b][2] for b in range(resamples)])
    return Bootstrap(kept.names, graphs, proved, scores, max_parents, restrictions)
