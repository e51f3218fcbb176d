"""Which options of a verb need each other or do not go together, a row each."""

from __future__ import annotations

from optbn.base.options.row import EXCLUDES, NEEDS, Rule


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
