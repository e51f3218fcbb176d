"""Which score a certificate speaks of: its name and settings as exact fractions.

    bdeu    sum over cells of P + v of log [a/qr]_n  -  sum over cells of P of log [a/q]_n
    bic     sum over cells of P + v of n log n  -  sum over cells of P of n log n  -  q (r - 1) log(N)/2
    pcart   the best decision tree over P: sum over its leaves of (sum over levels of log [alpha]_n) - log [r alpha]_n
            - log(C/gamma), plus log c(P), which makes all trees over P sum to one; pcartp adds -log binom(n - 1, |P|)
    [x]_n   x (x + 1) .. (x + n - 1), n rows being in the cell or leaf

r and q count declared levels. A float of the settings stands for the fraction that it is, to the last bit.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from optbn.base.errors import UnsupportedError

KNOWN = "bdeu, bic, pcart and pcartp"


@dataclass(frozen=True)
class Definition:
    """`parameter` is ess of bdeu, alpha of pcart; gamma, most_levels and size_prior are pcart's."""

    name: str
    parameter: Fraction = Fraction(0)
    gamma: Fraction = Fraction(1, 4)
    most_levels: int | None = None
    size_prior: bool = False

    def fields(self) -> dict[str, Any]:
        """As JSON values."""
        if self.name == "bic":
            return {"name": "bic"}
        if self.name == "bdeu":
            return {"name": "bdeu", "ess": str(self.parameter)}
        return {
            "name": "pcart",
            "alpha": str(self.parameter),
            "gamma": str(self.gamma),
            "most_levels": self.most_levels,
            "size_prior": self.size_prior,
        }


def definition_of(score: str) -> Definition:
    """The definition of a score as files name it, "BDeu(ess=1.0)"; one that cannot be certified is refused."""
    try:
        name, nodes = _call(score)
        if name not in ("BDeu", "BIC", "PCART", "PCARTP"):
            raise UnsupportedError(f"{score} cannot be certified; {KNOWN} can, without a prior or anything around them")
        settings = {field: ast.literal_eval(node) for field, node in nodes.items()}
        if name == "BDeu":
            return Definition("bdeu", Fraction(settings["ess"]))
        if name == "BIC":
            return Definition("bic")
        one_alpha = isinstance(settings["alpha"], float | int)
        if settings["leaf"] != "dirichlet" or settings["gamma"] is None or not one_alpha:
            raise UnsupportedError(f"{score}: only Dirichlet leaves with one alpha and a gamma can be certified")
        alpha, gamma = Fraction(settings["alpha"]), Fraction(settings["gamma"])
        return Definition("pcart", alpha, gamma, settings["most_levels"], name == "PCARTP")
    except UnsupportedError:
        raise
    except (SyntaxError, ValueError, TypeError, AttributeError, KeyError, RecursionError):
        raise UnsupportedError(f"the score {score!r} cannot be read; say which one it is with --score") from None


def _call(text: str) -> tuple[str, dict[str, ast.expr]]:
    """The name and the keywords of a call that is written down."""
    call: Any = ast.parse(text, mode="eval").body
    return str(call.func.id), {keyword.arg: keyword.value for keyword in call.keywords}
