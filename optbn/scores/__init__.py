"""Phase I: local scores. SCORES lists them by name; adding one is a module and a line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from optbn.base.errors import UnknownNameError, UnsupportedError
from optbn.base.options import check_arguments
from optbn.base.registry import lookup

if TYPE_CHECKING:
    from optbn.scores.protocol import LocalScore

SCORES: dict[str, str] = {
    "aic": "optbn.scores.aic:AIC",
    "bdeu": "optbn.scores.bdeu:BDeu",
    "bds": "optbn.scores.bds:BDs",
    "bge": "optbn.scores.bge:BGe",
    "bic": "optbn.scores.bic:BIC",
    "fnml": "optbn.scores.fnml:FNML",
    "hmd": "optbn.scores.hmd:HMD",
    "k2": "optbn.scores.k2:K2",
    "pcart": "optbn.scores.pcart:PCART",
    "pcart-avg": "optbn.scores.pcart_avg:PCARTAverage",
    "pcartp": "optbn.scores.pcart:PCARTP",
    "ft": "optbn.scores.full_table:FT",
    "ftp": "optbn.scores.full_table:FTP",
    "qnml": "optbn.scores.qnml:QNML",
}

WITH_SIZE_PRIOR = ("pcartp", "ftp")
"""Scores that have a prior over parent sets of their own."""


def load_score(score: str | LocalScore, *, caller: Callable[..., Any] | None = None, **settings: Any) -> LocalScore:
    """The score of that name with these settings; a score that is one already is returned as it is.

    caller   the function whose keywords the settings are: a wrong one may be a slip in the name of an argument of it
    """
    if not isinstance(score, str):
        if settings:
            raise UnknownNameError(f"settings {', '.join(settings)} go with the name of a score, not with {score!r}")
        if not hasattr(score, "bind"):
            raise UnsupportedError(f"a score is a name ({', '.join(SCORES)}) or a score object, not {score!r}")
        return score
    made = lookup("score", SCORES, score)
    check_arguments(caller, settings, f"score {score!r}", settings_of(score))
    prior = settings.pop("prior", "uniform")
    found: LocalScore = made(**settings)
    if prior == "uniform":
        return found
    from optbn.scores.parent_priors import WithPrior, check_prior

    if score in WITH_SIZE_PRIOR:
        raise UnsupportedError(f"{score} is {score[:-1]} with prior 'size': take {score[:-1]} for another prior")
    check_prior(prior)
    return WithPrior(found, prior)


def settings_of(score: str) -> list[str]:
    """The names of the settings of a score; a prior over parent sets goes with every one (see parent_priors.py)."""
    return [*(field.name for field in fields(lookup("score", SCORES, score))), "prior"]


def named(method: LocalScore) -> dict[str, Any]:
    """{"name": .., "settings": {..}} by which `load_score` makes the score again; nothing where none do."""
    for name, place in SCORES.items():
        if place == f"{type(method).__module__}:{type(method).__name__}":
            return {"name": name, "settings": {field.name: getattr(method, field.name) for field in fields(method)}}  # type: ignore[arg-type]
    return {}
