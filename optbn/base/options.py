"""What the verbs of the command line accept: one row per option, one per rule between options.

The command line, the checks of combinations, the settings of a report, the line "the same in Python" and the table in
docs/options.md are made from these rows. Adding an option is a row here and its use; an option with `python` is also a
keyword of the function behind the verb, by the same name and with the same default, which a test checks. A row that
concerns several verbs names them all; where a verb means something else by a name, it has a row of its own.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from optbn.base.errors import UnknownNameError, UnsupportedError
from optbn.base.registry import names_in, unknown
from optbn.base.settings import check_seed

GRAPH = "Constraints on the graph"

FUNCTIONS = {
    "learn": "optbn.learning.learn:learn",
    "score": "optbn.scores.pipeline:score_table",
    "solve": "optbn.learning.solving:solve",
    "fit": "optbn.smoothing.fitting:fit",
    "edges": "optbn.learning.edges:edges",
    "bootstrap": "optbn.learning.bootstrap:bootstrap",
    "gap": "optbn.learning.gap:gap",
    "related": "optbn.learning.differing:learn_differing",
}
"""The function behind a verb. `classify` has a class per model, which takes its settings."""


@dataclass(frozen=True)
class Option:
    """One option of one verb or several.

    verbs     which verbs have it, separated by spaces
    name      the keyword; on the command line --name with dashes, unless `flags` spells it
    kind      what its text is read as: str, int, float, bool, Path, or list[str] for one that may be repeated
    default   what holds without it; `shown` says so in words where the value does not
    help      {names} in it stands for the names in the registry `names`, which the shell also completes
    flags     further spellings; one that begins with -- replaces the name
    least     the smallest number allowed
    required  whether the verb needs it
    panel     the heading it stands under in the help
    python    whether it is a keyword of the function behind the verb
    label     its name among the settings in a report, if it is one of them
    repeats   whether the line "the same in Python" needs it
    """

    verbs: str
    name: str
    kind: Any
    default: Any
    help: str
    flags: tuple[str, ...] = ()
    least: float | None = None
    required: bool = False
    shown: str = ""
    names: str = ""
    panel: str = ""
    python: bool = False
    label: str = ""
    repeats: bool = False

    @property
    def spelling(self) -> str:
        """Its long flag."""
        own = [flag for flag in self.flags if flag.startswith("--")]
        return own[0] if own else f"--{self.name.replace('_', '-')}"

    def described(self) -> str:
        """The help text with the names filled in."""
        if "{names}" not in self.help:
            return self.help
        *first, last = names_in(self.names)
        return self.help.replace("{names}", f"{', '.join(first)} or {last}")


@dataclass(frozen=True)
class Rule:
    """Two options of a verb: `option` needs `other`, or does not go with it, and why.

    `values` are those of the option that the rule is about; without any, it is about all but the default.
    """

    verb: str
    option: str
    relation: str
    other: str
    why: str
    values: tuple[str, ...] = ()


NEEDS, EXCLUDES = "needs", "does not go with"

SCORES = "optbn.scores:SCORES"
SMOOTHERS = "optbn.smoothing:SMOOTHERS"
SOLVERS = "optbn_solvers.front.registry:SOLVERS"
NETWORK_FORMATS = "optbn.network.formats:FORMATS"
GRAPH_FORMATS = "optbn.learning:FORMATS"
CLASSIFIERS = "optbn.classifiers:CLASSIFIERS"
DISCRETIZERS = "optbn.data.discretise:DISCRETIZERS"

DEFAULT_SCORE = "pcartp"
DEFAULT_SMOOTHER = "hierarchical for trees, hdp for tables"

OPTIONS: tuple[Option, ...] = (
    # Files that are written
    Option("learn", "output", list[Path], None,
           "Write the network to this file, in the format of its ending: {names} (json keeps everything). "
           "- is json on stdout, for a pipe. May be repeated.", ("-o",), names=NETWORK_FORMATS),
    Option("learn", "report", Path, None,
           "Write the report to this file: a page (.html), or the record behind it (.json).", ("-r",)),
    Option("score", "output", str, "-",
           "Write the scores to this .jkl, .jaa or .parquet file (parquet also keeps how they were made); - is "
           "stdout.", ("-o",)),
    Option("solve", "output", str, "-", "Write the answer to this file; - is stdout.", ("-o",)),
    Option("fit", "output", str, "-",
           "Write the network to this file, in the format of its ending: {names}; - is JSON on stdout.", ("-o",),
           names=NETWORK_FORMATS),
    Option("classify", "output", str, "model.json", "Write the model to this .json file.", ("-o",)),
    Option("related", "output", str, None,
           "Write each data set's network to a file beside this one, its level before the ending: {names}.", ("-o",),
           names=NETWORK_FORMATS),
    Option("solve", "format", str, "json", "Write the answer as {names}; json includes the evidence.",
           names=GRAPH_FORMATS),
    # What is computed
    Option("learn score edges bootstrap gap", "score", str, DEFAULT_SCORE,
           "The score to maximise: {names}. The pcart and ft families take columns of any kind, bge real columns, "
           "the others categorical ones.", names=SCORES, python=True, label="score", repeats=True),
    Option("related", "score", str, "bdeu", "The score of each data set's rows: {names}.", names=SCORES, python=True),
    Option("classify", "target", str, None, "The column to predict.", ("-t",), required=True),
    Option("classify", "model", str, "auto",
           "The classifier: {names}; auto is eskdb, and skdb above 250,000 rows.", ("-m",), names=CLASSIFIERS),
    Option("fit", "structure", str, None,
           "The graph: a network or structure file, or the name of a bundled network.", ("-S",), required=True,
           names="optbn.network.catalog:catalog"),
    Option("learn", "max_parents", str, None,
           "The largest number of parents of any variable; all for no limit, where the score has bounds that end the "
           "enumeration (bic, aic, bdeu, bds, k2).", ("-D",), shown="3, or fewer to fit the time", python=True,
           label="max parents", repeats=True),
    Option("score", "max_parents", list[str], None,
           "The largest number of parents: a number or all, or NAME=NUMBER for one variable. May be repeated.", ("-D",),
           shown="3", python=True),
    Option("edges bootstrap gap related", "max_parents", int, 3, "The largest number of parents of any variable.",
           ("-D",), least=0, python=True),
    Option("learn score", "candidates", int, None,
           "Consider only this many likeliest parents for each variable. This heuristic makes hundreds of variables "
           "feasible; the answer is then optimal among these parents only.", least=1, python=True,
           label="candidate parents", repeats=True),
    Option("learn solve", "solver", str, "auto", "The search method: {names}; auto chooses one.", names=SOLVERS,
           python=True, label="solver", repeats=True),
    Option("learn", "smoother", str, None, "How to estimate the probabilities: {names}.", shown=DEFAULT_SMOOTHER,
           names=SMOOTHERS, python=True, label="smoother", repeats=True),
    Option("fit", "smoother", str, None, "How to estimate the probabilities: {names}.", shown=DEFAULT_SMOOTHER,
           names=SMOOTHERS),
    Option("related", "smoother", str, None, "How to estimate what the data sets have in common: {names}.",
           shown="hdp", names=SMOOTHERS, python=True),
    Option("learn fit", "trees", str, "best",
           "What answers for local trees: {names}; average gives categorical variables what all trees on their parents "
           "predict together.", names="optbn.smoothing:TREES", python=True, label="trees", repeats=True),
    Option("classify", "smoother", str, None, "How to estimate the probabilities: {names}.",
           shown="the model's own", names=SMOOTHERS),
    Option("classify", "discretizer", str, None, "How to cut numeric columns into intervals: {names}.",
           shown="the model's own", names=DISCRETIZERS),
    Option("learn score edges bootstrap gap related", "setting", list[str], None,
           "A setting of the score, NAME=VALUE (ess=10). May be repeated.", ("--set",)),
    Option("solve", "setting", list[str], None, "A setting of the solver, NAME=VALUE. May be repeated.", ("--set",)),
    Option("fit", "setting", list[str], None, "A setting of the smoother, NAME=VALUE. May be repeated.", ("--set",)),
    Option("classify", "setting", list[str], None, "A setting of the model, NAME=VALUE (k=3). May be repeated.",
           ("--set",)),
    Option("score", "ess", float, None, "bdeu, bds: the equivalent sample size.", shown="1"),
    Option("score", "max_splits", int, None,
           "pcart, pcartp: how often the rows of a real parent may be halved.", shown="4"),
    Option("learn", "targets", str, None,
           "The column that names which variables an experiment set in each row (names separated by ;); such rows do "
           "not count for the variable that was set.", python=True, label="targets", repeats=True),
    Option("learn", "lags", int, 0,
           "Treat rows as steps in time: values of up to this many earlier steps may be parents too; arcs never point "
           "back in time.", least=0, python=True, label="lags", repeats=True),
    Option("learn", "time_column", str, None, "With --lags: the column that puts the rows in order.", ("--time",),
           shown="as they are", python=True, repeats=True),
    Option("learn", "series_column", str, None, "With --lags: the column that tells one series from another.",
           ("--series",), python=True, repeats=True),
    Option("learn", "past_only", bool, False, "With --lags: no arcs within a step.", python=True, repeats=True),
    Option("fit", "domain", str, None,
           "The column that says which data set a row comes from, or several, the widest first, with commas between: "
           "each domain gets a network of its own beside OUTPUT, which is what they have in common."),
    Option("classify", "domain", str, None,
           "The column that says which data set a row comes from, or several, the widest first, with commas between: "
           "probabilities are each domain's own, and borrow strength from the others."),
    Option("related", "domain", str, None, "The column that says which data set a row comes from.", required=True),
    Option("related", "price", float, None,
           "Nats that an arc costs which a data set has and the common graph has not, or the other way round.",
           least=0.0, required=True),
    Option("learn score fit edges bootstrap gap", "weights", str, None,
           "The column that says how many rows each row counts for, whole or not; it is no variable.", python=True,
           label="weights", repeats=True),
    Option("classify", "weights", str, None,
           "The column that says how many rows each row counts for, whole or not; it is no attribute."),
    Option("fit", "leaves", str, "normal",
           "The distribution of real variables: normal, or student (the posterior predictive).", python=True),
    Option("learn", "missing", str, "value",
           'What to do with missing values: model (draw them from the best network, in rounds), or {names}; '
           '"value, age=impute" treats one column differently.', names="optbn.data.policies:POLICIES"),
    Option("score fit edges bootstrap gap related", "missing", str, "value",
           'What to do with missing values: {names}; "value, age=impute" treats one column differently.',
           names="optbn.data.policies:POLICIES"),
    Option("learn fit classify bootstrap gap related", "seed", int, 0, "The seed of everything random.", least=0,
           python=True, label="seed", repeats=True),
    # Limits
    Option("learn", "time_limit", float, None,
           "Stop after this many seconds in all, with the best network found by then.", least=0.1, python=True,
           label="time limit"),
    Option("solve", "time_limit", float, None,
           "Stop after this many seconds, with the best graph found by then.", least=0.0, python=True),
    Option("edges", "time_limit", float, None,
           "Stop after this many seconds in all; arcs that no time is left for are marked.", least=0.1,
           python=True),
    Option("bootstrap", "time_limit", float, None,
           "Stop after this many seconds in all, with the resamples done by then.", least=0.1, python=True),
    Option("gap", "time_limit", float, None,
           "Stop after this many seconds in all; tests that no time is left for are counted.", least=0.1, python=True),
    Option("related", "time_limit", float, None, "Stop the search after this many seconds.", least=0.1, python=True),
    Option("gap", "permutations", int, 199,
           "Test each independence that the graph implies by this many permutations of the rows; 0 tests none.",
           least=0, python=True),
    Option("bootstrap", "resamples", int, 200, "The number of resamples.", ("-B",), least=1, python=True),
    Option("bootstrap", "kind", str, "rows",
           "How rows are drawn: rows (with replacement), blocks (of consecutive rows), subsample (without "
           "replacement) or bayesian (every row, with a random weight)."),
    Option("bootstrap", "block", int, None, "The length of the blocks.", least=1),
    Option("bootstrap", "fraction", float, 0.5, "The share of the rows in a subsample."),
    Option("bootstrap", "stratify", str, None, "A column whose levels keep their numbers of rows."),
    Option("bootstrap", "store", str, None,
           "Keep finished resamples in this file, so that a stopped run can continue.", python=True),
    Option("bootstrap", "threshold", float, 0.5, "List the pairs that are adjacent in at least this share."),
    Option("solve", "cpu_limit", float, None,
           "Stop after this many seconds of CPU time, with the best graph found by then.", least=0.0, python=True),
    Option("solve", "gap", float, 0.0, "Stop once bound - score is at most this; 0 asks for a proof.", least=0.0,
           python=True),
    Option("learn score edges bootstrap gap", "jobs", int, None, "The number of threads.", ("-j",), least=1,
           shown="all cores", python=True),
    Option("fit", "threads", int, 1, "The number of threads; the result does not depend on it.", least=1,
           python=True),
    Option("learn score solve edges bootstrap gap", "memory", str, None, "The most memory to use, for example 4G.",
           shown="half of the machine", python=True),
    # Work that is kept, or done elsewhere
    Option("learn score", "store", str, None,
           "Keep finished scoring in this folder, so that a stopped run can continue.", python=True),
    Option("score", "scheduler", str, None,
           "Spread the work: local (processes here), or the address of a Dask scheduler (tcp://...).", python=True),
    Option("solve", "proof", str, None,
           "Write a proof of optimality to this file; auto then means cp. A .pbp file is for VeriPB, with the problem "
           "(.opb) beside it; auto then means ilp."),
    Option("solve", "certify", bool, False,
           "Prove what a search only claims, by a second search that leaves evidence. With --proof: search by branch "
           "and cut, and let the cluster search finish the proof."),
    Option("solve", "start", str, None, "Start from the answer in this file (json).", python=True),
    Option("solve", "checkpoint", str, None,
           "Keep the best graph and bound in this file, so that a killed run can continue.", python=True),
    # Other answers than the best network
    Option("learn", "alternatives", int, 0, "Report this many of the next best networks.", least=0, python=True,
           repeats=True),
    Option("learn", "posteriors", bool, False,
           "Report the probability of each arc over all networks, exactly or from samples; the answer says which.",
           python=True, repeats=True),
    Option("learn", "edges", bool, False,
           "Report how much score the best network loses without each arc and with it reversed, both proved.",
           python=True, repeats=True),
    Option("learn", "held_out", int, None, "Report how well networks learned this way explain unseen rows, over "
           "this many folds, next to simple models.", least=2, python=True, repeats=True),
    Option("solve", "k_best", int, None, "Find this many of the best graphs.", least=1),
    Option("solve", "per_class", bool, False,
           "Of graphs that imply the same independences, list only the best."),
    Option("solve", "within", float, None,
           "List all graphs that are at most this many times less probable than the best.", least=1.0),
    Option("solve", "data", str, None, "The data behind the scores. Options that need every parent set score them "
           "again, because score files usually lack the sets that a subset beats.", python=True),
    Option("solve", "only_listed", bool, False, "Treat the listed parent sets as all there are, although sets that a "
           "subset beats are missing: for --k-best, --per-class, --within and required arcs or paths.",
           python=True),
    Option("score", "keep_dominated", bool, False,
           "Also keep the parent sets that one of their subsets beats; constraints that require something need them."),
    Option("score", "families", str, None,
           "Score only these families and keep them all: lines 'child: parent, parent', or a score file."),
    Option("score", "structures", str, None,
           "With --families: write their local structures (trees, tables) to this file, a JSON object per line."),
    Option("fit", "report", str, None,
           "Write what the smoother reports to this JSON file: convergence, constants chosen, deviations."),
    Option("classify", "folds", int, 0, "Also estimate the quality by cross-validation with this many folds, in "
           "memory; 0 does not.", least=0),
    Option("classify", "sample", int, 100_000, "The number of rows from which cut points are found.", least=1),
    # What is shown
    Option("learn", "target", str, None,
           "The variable in question: the page puts it, and what changes it, on top; its Markov blanket is printed.",
           python=True, repeats=True),
    Option("learn", "only_estimate", bool, False,
           "Only print what scoring would cost, for each number of parents.", ("--estimate",)),
    Option("learn", "yes", bool, False, "Start long work without asking.", ("-y",)),
    Option("learn", "as_json", bool, False, "Print the report as JSON.", ("--json",)),
    Option("edges", "most", int, 10, "The number of absent arcs that are listed.", least=0),
    Option("edges", "as_json", bool, False, "Print all losses as JSON.", ("--json",)),
    Option("gap", "most", int, 10, "The number of families and of independences that are listed.", least=0),
    Option("gap related", "as_json", bool, False, "Print all of it as JSON.", ("--json",)),
    Option("bootstrap", "as_json", bool, False, "Print all shares as JSON.", ("--json",)),
    Option("learn", "constraints", str, None,
           "A file of constraints: optbn's (.json), benchpress' edgeConstraints (.json) or Tetrad's knowledge (text).",
           panel=GRAPH),
    # Constraints on the graph; `optbn.cli.texts` reads them into the fields of `Constraints`
    Option("learn score solve", "forbid", list[str], None, "Forbid an arc, 'A->B'. May be repeated.", panel=GRAPH),
    Option("learn score solve", "require", list[str], None, "Require an arc, 'A->B'. May be repeated.", panel=GRAPH),
    Option("learn solve", "forbid_edge", list[str], None, "Forbid arcs between two variables, 'A,B'. May be repeated.",
           panel=GRAPH),
    Option("learn solve", "require_edge", list[str], None,
           "Require an arc between two variables, in either direction, 'A,B'. May be repeated.", panel=GRAPH),
    Option("learn score solve", "tiers", str, None,
           "A file with one tier per line, names separated by commas, causes first: parents come from the same tier "
           "or an earlier one.", panel=GRAPH),
    Option("learn solve", "order", list[str], None,
           "Variables that must come in this topological order, 'A,B,C'. May be repeated.", panel=GRAPH),
    Option("learn solve", "ancestor", list[str], None, "Require a directed path, 'A->B'. May be repeated.",
           panel=GRAPH),
    Option("learn solve", "no_ancestor", list[str], None, "Forbid directed paths, 'A->B'. May be repeated.",
           panel=GRAPH),
    Option("learn solve", "max_children", list[str], None,
           "The largest number of children of every variable, '3', or of one, 'A=2'. May be repeated.", panel=GRAPH),
    Option("learn solve", "max_arcs", int, None, "The largest number of arcs.", least=0, panel=GRAPH),
    Option("learn score solve", "roots", str, None, "Variables without parents, separated by commas.", panel=GRAPH),
    Option("learn score solve", "leaves", str, None, "Variables without children, separated by commas.", panel=GRAPH),
    Option("learn solve", "independent", list[str], None,
           "Require a d-separation, 'A:B', or 'A:B|C,D' given C and D. May be repeated.", panel=GRAPH),
)  # fmt: skip


def _each(verb: str, options: str, relation: str, others: str, why: str) -> tuple[Rule, ...]:
    return tuple(Rule(verb, one, relation, other, why) for one in options.split() for other in others.split())


_SHORT = "choosing candidates leaves little work to keep or to spread"
_ONE_SIZE = "it keeps the work for one size"
_LISTED = "the list says which families are scored"
_AT_ONCE = "all families are scored at once"
_SEVERAL = "listing several graphs has a search of its own"

RULES: tuple[Rule, ...] = (
    *_each("learn", "constraints", EXCLUDES, "forbid require forbid_edge require_edge tiers order ancestor no_ancestor "
           "max_children max_arcs roots leaves independent only_estimate", "the file says it all"),
    Rule("learn", "store", NEEDS, "max_parents", _ONE_SIZE),
    Rule("learn", "store", EXCLUDES, "time_limit", _ONE_SIZE),
    Rule("learn", "max_parents", EXCLUDES, "store", "no size is the last before bounds say so", ("all",)),
    *(Rule("learn", "max_parents", EXCLUDES, other, "they need every family scored", ("all",))
      for other in ("posteriors", "edges")),
    Rule("learn", "candidates", EXCLUDES, "store", _SHORT),
    *_each("score", "candidates", EXCLUDES, "store scheduler", _SHORT),
    *_each("score", "max_parents store scheduler candidates forbid require tiers roots leaves keep_dominated",
           EXCLUDES, "families", _LISTED),
    Rule("score", "structures", NEEDS, "families", "only listed families have their structures written"),
    *_each("score", "store scheduler candidates", EXCLUDES, "keep_dominated", _AT_ONCE),
    *_each("solve", "solver proof certify start checkpoint gap setting", EXCLUDES, "k_best per_class within", _SEVERAL),
    *(Rule("solve", "format", EXCLUDES, other, "several graphs are written as json or adjacency", ("dot", "cpdag"))
      for other in ("k_best", "per_class", "within")),
    Rule("bootstrap", "kind", NEEDS, "block", "blocks have a length", ("blocks",)),
    Rule("bootstrap", "stratify", EXCLUDES, "block", "consecutive rows cannot be stratified"),
    *_each("learn", "time_column series_column past_only", NEEDS, "lags", "only series have a past"),
    *(Rule("learn", "missing", EXCLUDES, other, "a row is one of several draws", ("model",))
      for other in ("targets", "lags", "store")),
    Rule("learn", "targets", EXCLUDES, "lags", "a row would count for the present and not for the past"),
    Rule("learn", "trees", EXCLUDES, "targets", "trees would be averaged over other rows for each variable"),
    Rule("classify", "weights", EXCLUDES, "folds", "losses over folds count every row once"),
    Rule("fit", "trees", EXCLUDES, "domain", "the trees of a domain would have few rows"),
    Rule("fit", "report", EXCLUDES, "domain", "the report is about one network"),
    Rule("fit", "domain", NEEDS, "output", "each level's network gets a file beside it"),
)  # fmt: skip


def of(verb: str) -> dict[str, Option]:
    """The options of a verb by name, in the order of the table."""
    return {option.name: option for option in OPTIONS if verb in option.verbs.split()}


def checked(verb: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the values that are options of the verb, refused where they are wrong or do not go together."""
    chosen = {name: values[name] for name in of(verb) if name in values}
    check_seed(values.get("seed", 0))
    check_numbers(verb, chosen)
    check_together(verb, chosen)
    return chosen


def check_together(verb: str, values: Mapping[str, Any], shell: bool = False) -> None:
    """Refuse values that do not go together; options are named as on the command line, or as keywords."""
    options = of(verb)

    def present(name: str) -> bool:
        value = values.get(name)
        return value is not None and value is not False and value != [] and value != options[name].default

    def named(name: str) -> str:
        return options[name].spelling if shell else name

    for rule in RULES:
        if rule.verb != verb or not present(rule.option):
            continue
        value = values[rule.option]
        if (rule.values and value not in rule.values) or present(rule.other) == (rule.relation == NEEDS):
            continue
        first = f"{named(rule.option)} {value}" if rule.values else named(rule.option)
        raise UnsupportedError(f"{first} {rule.relation} {named(rule.other)}: {rule.why}")


def check_numbers(verb: str, values: Mapping[str, Any]) -> None:
    """Refuse what is no number where an option is one, whole numbers that are too small, and negative ones."""
    for name, value in values.items():
        option = of(verb)[name]
        if value is None or option.kind not in (int, float):
            continue
        least = 0 if option.kind is float or option.least is None else int(option.least)
        number = not isinstance(value, bool) and isinstance(value, Integral if option.kind is int else Real)
        if not (number and float(value) >= least):  # nan is not
            what = "a whole number" if option.kind is int else "a number"
            raise UnsupportedError(f"{name} is {value!r}, expected {what}, at least {least}")


def check_choice(verb: str, name: str, value: str) -> None:
    """Refuse a name that the registry of the option does not have."""
    known = names_in(of(verb)[name].names)
    if value not in known:
        raise unknown(name, value, known)


def check_arguments(call: Callable[..., Any] | None, names: Iterable[str], owner: str, settings: Iterable[str]) -> None:
    """Refuse a keyword that is neither an argument of the function nor a setting of its `owner` (score 'bdeu', say)."""
    known = sorted(settings)
    if call is None:
        for name in sorted(set(names) - set(known)):
            raise UnknownNameError(f"{owner} has no setting {name!r}; it has: {', '.join(known) or 'none'}")
        return
    arguments = [name for name, each in inspect.signature(call).parameters.items() if each.kind is not each.VAR_KEYWORD]
    for name in names:
        if name in known:
            continue
        near = difflib.get_close_matches(name, [*arguments, *known], n=1)
        if near:
            raise UnknownNameError(f"{call.__name__}() has no argument {name!r}; did you mean {near[0]}?")
        raise UnknownNameError(
            f"{call.__name__}() has no argument {name!r}, and {owner} has no setting {name!r}; it has: "
            f"{', '.join(known) or 'none'}"
        )


def reported(verb: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that a report lists: those with a label; of what was not chosen, only the limit of time."""
    return {
        option.label: values[name]
        for name, option in of(verb).items()
        if option.label and (values[name] is not None or name == "time_limit")
    }


def repeated(verb: str, values: Mapping[str, Any]) -> str:
    """The keywords with which a call gives the same result again: those that are not at their defaults."""
    chosen = ((name, values[name]) for name, option in of(verb).items() if option.repeats)
    always = ("score", "max_parents", "solver", "smoother", "seed")
    return ", ".join(f"{name}={value!r}" for name, value in chosen if name in always or value != of(verb)[name].default)


def table(verb: str) -> str:
    """The options of a verb as a table in Markdown."""
    lines = ["| option | in Python | without it | |", "| --- | --- | --- | --- |"]
    for name, option in of(verb).items():
        spelled = ", ".join([option.spelling, *(flag for flag in option.flags if flag != option.spelling)])
        without = option.shown or ("required" if option.required else "" if option.default is None else option.default)
        keyword = f"`{name}`" if option.python else ""
        text = option.described().replace("|", "\\|")
        lines.append(f"| `{spelled}` | {keyword} | {'' if without is False else without} | {text} |")
    rules = [
        f"- `{options[rule.option].spelling}{' ' + ' or '.join(rule.values) if rule.values else ''}` {rule.relation} "
        f"`{options[rule.other].spelling}`: {rule.why}."
        for options in [of(verb)]
        for rule in RULES
        if rule.verb == verb
    ]
    return "\n".join([*lines, *([""] if rules else []), *rules])
