"""Methods to compare: anything that makes a graph from data, by one text.

bdeu:10                         a score of ours and the optimal graph; after the colon the equivalent sample size
bdeu:10+greedy                  the same with a solver by name (greedy, astar, ilp, ...)
pgmpy-hc                        another program's, from PEERS
mine.module:function            a function of the Dataset that returns a graph: whatever `as_graph` takes
name=program {data} {graph}     a command: it reads a csv file and writes a graph (formats: see evaluate/files);
                                {graph.graphml} and the like say which; {parents} is the largest number of parents

A method's row has its CPU seconds, those of programs that it starts included. A method that fails or runs out of time
is a row that says so, as any cell is (runner.py).
"""

from __future__ import annotations

import ctypes
import importlib
import re
import resource
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from optbn.base.errors import DataError
from optbn.base.registry import lookup, unknown
from optbn.data.write import write
from optbn.evaluate.files import read_graph
from optbn.evaluate.graphs import Graph
from optbn.evaluate.sources import as_graph
from optbn.experiments.evidence import evidence
from optbn.experiments.learning import learn, method
from optbn.scores import SCORES
from optbn_solvers.front.registry import SOLVERS

if TYPE_CHECKING:
    from optbn.data.dataset import Dataset


class Limits(NamedTuple):
    """What a method is allowed: parents of a variable, and seconds of search (for those that can be told)."""

    max_parents: int
    seconds: float


@dataclass(frozen=True)
class Found:
    """A method's graph, and what its row says besides: seconds, evidence, the score that it claims to maximise."""

    graph: Graph
    facts: Mapping[str, Any]


Method = Callable[["Dataset", Limits], Found]

PEERS: dict[str, str] = {
    "pgmpy-hc": "optbn.experiments.peers:pgmpy_hill_climbing",
    "pgmpy-ges": "optbn.experiments.peers:pgmpy_ges",
    "pgmpy-pc": "optbn.experiments.peers:pgmpy_pc",
    "pyagrum-hc": "optbn.experiments.peers:pyagrum_hill_climbing",
    "pyagrum-tabu": "optbn.experiments.peers:pyagrum_tabu",
    "pyagrum-miic": "optbn.experiments.peers:pyagrum_miic",
    "causallearn-pc": "optbn.experiments.peers:causallearn_pc",
    "causallearn-ges": "optbn.experiments.peers:causallearn_ges",
    "causallearn-exact": "optbn.experiments.peers:causallearn_exact",
    "bnlearn-hc": "optbn.experiments.peers:bnlearn_hill_climbing",
    "bnlearn-tabu": "optbn.experiments.peers:bnlearn_tabu",
    "bnlearn-mmhc": "optbn.experiments.peers:bnlearn_mmhc",
    "bnlearn-pc": "optbn.experiments.peers:bnlearn_pc",
}

OBJECTIVES: dict[str, str] = {
    "pgmpy-hc": "bic",
    "pgmpy-ges": "bic",
    "pyagrum-hc": "bic",
    "pyagrum-tabu": "bic",
    "bnlearn-hc": "bic",
    "bnlearn-tabu": "bic",
    "bnlearn-mmhc": "bic",
}
"""The score of ours that a peer claims to maximise."""

COMMAND = re.compile(r"(\w[\w .-]*)=(.+)", re.DOTALL)
CALLABLE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


def load_method(text: str, settings: Mapping[str, Any] | None = None, solver: str = "auto") -> Method:
    """The method behind a text; a wrong one fails here and says what there is.

    `settings` are those of our scores, `solver` is the one where the text names none.
    """
    if match := COMMAND.fullmatch(text):
        return _Command(match[2])
    if text in PEERS:
        return _Called(lookup("method", PEERS, text), OBJECTIVES.get(text))
    if _is_function(text):
        return _Called(_function(text), None)
    return _Exact(text, settings or {}, solver)


def name_of(text: str) -> str:
    """How reports call a method: a command by its name."""
    match = COMMAND.fullmatch(text)
    return match[1].strip() if match else text


def objective_of(text: str) -> str | None:
    """The score that a method claims to maximise, as a method of ours; None when that is not one of ours."""
    if COMMAND.fullmatch(text) or text in PEERS or _is_function(text):
        return OBJECTIVES.get(text)
    return text.partition("+")[0]


@dataclass(frozen=True)
class _Exact:
    """A score of ours, and a solver."""

    text: str
    settings: Mapping[str, Any]
    solver: str

    def __post_init__(self) -> None:
        score, _, solver = self.text.partition("+")
        if score.partition(":")[0] not in SCORES:
            raise unknown("method", score.partition(":")[0], [*SCORES, *PEERS])
        method(score)
        if solver and solver not in SOLVERS:
            raise unknown("solver", solver, SOLVERS)

    def __call__(self, data: Dataset, limits: Limits) -> Found:
        score, _, solver = self.text.partition("+")
        found = learn(data, score, limits.max_parents, solver or self.solver, limits.seconds, self.settings)
        gap = found.solution.gap
        seconds = {phase: found.seconds[phase][1] for phase in ("score", "solve")}
        facts = {
            "score": found.solution.score,
            "evidence": evidence(found.solution),
            "gap": gap if np.isfinite(gap) else None,
            "solver": found.solution.solver,
            "families": found.families,
            "kept": len(found.scores),
            "score_cpu": seconds["score"],
            "solve_cpu": seconds["solve"],
            "cpu": sum(seconds.values()),
        }
        return Found(as_graph(found.structure), facts)


@dataclass(frozen=True)
class _Called:
    """A function of the data, or of the data and the limits where it says that it takes them (`limits`)."""

    function: Callable[..., Any]
    objective: str | None

    def __call__(self, data: Dataset, limits: Limits) -> Found:
        takes_limits = "limits" in getattr(self.function, "__code__", self.__call__.__code__).co_varnames
        start = _cpu()
        graph = as_graph(self.function(data, limits=limits) if takes_limits else self.function(data))
        return Found(graph.aligned(data.names), {"cpu": _cpu() - start})


@dataclass(frozen=True)
class _Command:
    """A program; it ends with the process that started it."""

    command: str

    def __post_init__(self) -> None:
        if not re.search(r"\{graph(\.\w+)?\}", self.command):
            raise DataError(f"the command {self.command!r} has no {{graph}}, the file to which it writes its graph")

    def __call__(self, data: Dataset, limits: Limits) -> Found:
        with tempfile.TemporaryDirectory() as folder:
            rows = Path(folder) / "data.csv"
            write(data, rows)
            ending = re.search(r"\{graph(\.\w+)?\}", self.command)
            assert ending is not None
            graph = Path(folder) / f"graph{ending[1] or '.txt'}"
            places = {"{data}": str(rows), ending[0]: str(graph), "{parents}": str(limits.max_parents)}
            words = shlex.split(self.command)
            for place, value in places.items():
                words = [word.replace(place, value) for word in words]
            start = _cpu()
            done = subprocess.run(words, capture_output=True, text=True, errors="replace", preexec_fn=_die_with_parent)
            seconds = _cpu() - start
            if done.returncode or not graph.is_file():
                last = (done.stderr or done.stdout).strip().splitlines()[-1:]
                ended = f"ended with {done.returncode}" if done.returncode else "wrote no graph"
                raise DataError(f"{words[0]} {ended}{': ' + last[0] if last else ''}")
            return Found(read_graph(graph).aligned(data.names), {"cpu": seconds})


def _is_function(text: str) -> bool:
    """Whether it is module:function, and not a score with its sample size."""
    return CALLABLE.fullmatch(text) is not None and text.partition(":")[0] not in SCORES


def _function(text: str) -> Callable[..., Any]:
    module, _, name = text.partition(":")
    try:
        found: Callable[..., Any] = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise DataError(f"method {text!r}: {error}; expected package.module:function, found from here") from None
    return found


def _cpu() -> float:
    """CPU seconds of this process and of the children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _die_with_parent() -> None:
    """On Linux a program is killed when the process that started it is."""
    try:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    except (OSError, AttributeError):
        return
