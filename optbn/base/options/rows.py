"""The options of the verbs, a row each.

A row that concerns several verbs names them all; where a verb means something else by a name, it has a row of its own.
"""

from __future__ import annotations

from pathlib import Path

from optbn.base.options.row import Option

GRAPH = "Constraints on the graph"

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
           "enumeration (bic, aic, bdeu, bds, k2).", ("-D",), shown="3, or what the time limit bears", python=True,
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
