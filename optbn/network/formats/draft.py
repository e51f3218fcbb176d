"""Between a file and a network: what every table format says, and the checks they share.

A reader fills a Draft with variables and tables as they stand in the file, each with the place it came from; `build`
checks that they fit together and makes the network. A writer asks `tables` for the same view of a network.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import NetworkError
from optbn.data.dataset import Categorical
from optbn.network.cpds import CPD, TableCPD
from optbn.network.formats.dialects import ORIGINAL, originals
from optbn.network.formats.scanner import one_line
from optbn.network.leaves import SUM_TOLERANCE, CategoricalLeaves
from optbn.network.network import BayesianNetwork
from optbn_solvers.base.errors import repeated

LARGEST_TABLE = 1 << 27  # entries; 1 GB
ORDERED = "optbn_ordered = true"  # the property that marks an ordinal variable where a format has no word for it

log = logging.getLogger(__name__)


@dataclass
class Variable:
    levels: tuple[str, ...]
    where: str  # "file:line:column"


@dataclass
class Factor:
    """P(child | parents): the table float64[cells, r], the last parent fastest, and the place of each row."""

    parents: tuple[str, ...]
    rows: NDArray[np.float64]
    where: Callable[[int], str]


@dataclass
class Draft:
    source: str
    name: str = ""
    properties: dict[str, list[str]] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    factors: dict[str, Factor] = field(default_factory=dict)

    def declare(self, name: str, levels: Sequence[str], where: str) -> None:
        """Add a variable."""
        if name in self.variables:
            first = self.variables[name].where
            raise NetworkError(f"{where}: expected one variable {name!r}, found a second (the first is at {first})")
        if not levels:
            raise NetworkError(f"{where}: expected levels of {name!r}, found none")
        if len(set(levels)) != len(levels):
            raise NetworkError(f"{where}: expected different levels of {name!r}, found {repeated(levels)!r} twice")
        self.variables[name] = Variable(tuple(levels), where)

    def sizes(self, child: str, parents: Sequence[str], where: str) -> tuple[int, ...]:
        """The shape of the table of P(child | parents): one size per parent, then the child's."""
        for name in (child, *parents):
            if name not in self.variables:
                raise NetworkError(f"{where}: expected a declared variable, found {name!r}")
        if len({child, *parents}) != 1 + len(parents):
            raise NetworkError(f"{where}: expected different variables, found {child!r} and its parents to share one")
        if child in self.factors:
            raise NetworkError(f"{where}: expected one distribution of {child!r}, found a second")
        sizes = tuple(len(self.variables[name].levels) for name in (*parents, child))
        if math.prod(sizes) > LARGEST_TABLE:
            raise NetworkError(f"{where}: the table of {child!r} would have {math.prod(sizes)} entries; too large")
        return sizes

    def note(self, variable: str, text: str) -> None:
        """Keep a property of a variable, or of the network for ""."""
        self.properties.setdefault(variable, []).append(tidy_property(text))

    def build(self, rescale: bool) -> BayesianNetwork:
        """The network; rows that do not sum to one within the tolerance are refused, or divided by their sum."""
        if not self.variables:
            raise NetworkError(f"{self.source}:1:1: expected a network, found no variable")
        self._give_back_names()
        for name, variable in self.variables.items():
            if name not in self.factors:
                raise NetworkError(f"{variable.where}: expected a distribution of {name!r} in the file, found none")
        domains = {}
        for name, variable in self.variables.items():
            ordered = ORDERED in self.properties.get(name, ())
            if ordered:
                self.properties[name].remove(ORDERED)
            domains[name] = Categorical(variable.levels, ordered)
        cpds = []
        for name in self.variables:
            factor = self.factors[name]
            rows = factor.rows
            if rescale:
                rows = _rescaled(name, factor)
            parent_domains = tuple(domains[p] for p in factor.parents)
            shape = (*(len(d.levels) for d in parent_domains), rows.shape[1])
            bad = CategoricalLeaves.invalid_row(rows)
            if bad is not None:
                codes = np.unravel_index(bad[0], shape[:-1])
                row = one_line(", ".join(d.levels[int(c)] for d, c in zip(parent_domains, codes, strict=True)))
                of = f"{name!r} given ({row})" if row else f"{name!r}"
                hint = "; read it with rescale (--rescale) to divide by the sum" if "sum to" in bad[1] else ""
                raise NetworkError(f"{factor.where(bad[0])}: distribution of {of}: {bad[1]}{hint}")
            cpds.append(TableCPD(domains[name], factor.parents, parent_domains, rows.reshape(shape)))
        try:
            return BayesianNetwork(
                tuple(self.variables),
                tuple(domains.values()),
                tuple(cpds),
                self.name,
                {key: tuple(texts) for key, texts in self.properties.items() if texts},
            )
        except NetworkError as error:
            raise NetworkError(f"{self.source}: {error}") from None

    def _give_back_names(self) -> None:
        """Undo what `dialects.legal` did, where the file says how."""
        try:
            found = originals(self.properties)
        except NetworkError as error:
            raise NetworkError(f"{self.source}: {error}") from None
        self.name = "".join(found.get("", [self.name])[:1])
        names = {name: (found.get(name) or [name])[0] for name in self.variables}
        if len(set(names.values())) < len(names):
            raise NetworkError(f"{self.source}: expected different original names, found two variables of one name")
        for old, words in found.items():
            self.properties[old] = [text for text in self.properties[old] if not text.startswith(ORIGINAL)]
            variable = self.variables.get(old)
            if variable is not None and len(words) == 1 + len(variable.levels) == 1 + len(set(words[1:])):
                variable.levels = tuple(words[1:])  # unless another program has changed their number
        self.variables = {names[name]: variable for name, variable in self.variables.items()}
        self.properties = {names.get(key, key): texts for key, texts in self.properties.items()}
        self.factors = {
            names[name]: replace(factor, parents=tuple(names[p] for p in factor.parents))
            for name, factor in self.factors.items()
        }


NUMBER_LIST = re.compile(r"\([-+.0-9eE,\s]*\)")
_PROPERTY = re.compile(r"([A-Za-z_]\w*)\s*=\s*(.*)", re.DOTALL)


def tidy_property(text: str) -> str:
    """A property's text without the freedoms that formats differ in: "key = value", lists of numbers as "(1, 2)"."""
    match = _PROPERTY.fullmatch(text.strip())
    if match is None:
        return text.strip()
    value = match[2]
    if NUMBER_LIST.fullmatch(value):
        value = f"({', '.join(value[1:-1].replace(',', ' ').split())})"
    return f"{match[1]} = {value}"


def split_property(text: str) -> tuple[str, str] | None:
    """(key, value) of a property of the form "key = value", else None."""
    match = re.fullmatch(r"([A-Za-z_]\w*) = (.*)", text, re.DOTALL)
    return (match[1], match[2]) if match else None


def _rescaled(name: str, factor: Factor) -> NDArray[np.float64]:
    with np.errstate(all="ignore"):
        totals = factor.rows.sum(axis=1)
        off = ~(np.abs(totals - 1.0) <= SUM_TOLERANCE)
        usable = np.isfinite(totals) & (totals > 0) & (factor.rows >= 0).all(axis=1)
    if (off & ~usable).any():
        row = int(np.argmax(off & ~usable))
        raise NetworkError(f"{factor.where(row)}: a row of {name!r} sums to {totals[row]:.10g} and cannot be rescaled")
    if off.any():
        log.warning("%s: %d rows of %r divided by their sums", factor.where(int(np.argmax(off))), int(off.sum()), name)
    rows = factor.rows.copy()
    rows[off] /= totals[off, None]
    return rows


def tables(network: BayesianNetwork, format: str) -> Iterator[tuple[str, TableCPD, list[str]]]:
    """(name, table, properties) of every variable, for a format that holds nothing but tables."""
    trees = []
    for name, domain, cpd in zip(network.names, network.domains, network.cpds, strict=True):
        if not isinstance(domain, Categorical):
            raise NetworkError(f"variable {name!r} is real, which {format} cannot say; write optbn's JSON (.json)")
        properties = list(network.properties.get(name, ()))
        if domain.ordered:
            properties.append(ORDERED)
        table = as_table(name, cpd, format)
        if table is not cpd:
            trees.append((name, table.probabilities.size))
        yield name, table, properties
    if len(trees) == 1:
        log.warning("variable %r: %s has no trees, written as a table of %d entries", trees[0][0], format, trees[0][1])
    elif trees:
        entries = sum(size for _, size in trees)
        log.warning("%s has no trees: %d are written as tables, of %d entries in all", format, len(trees), entries)


def as_table(name: str, cpd: CPD, format: str) -> TableCPD:
    """The same distribution as a table, where that is exact; otherwise an error that names the variable."""
    if isinstance(cpd, TableCPD):
        return cpd
    real = [p for p, d in zip(cpd.parents, cpd.parent_domains, strict=True) if not isinstance(d, Categorical)]
    if real or not isinstance(cpd.domain, Categorical) or not isinstance(cpd.leaves, CategoricalLeaves):
        what = f"has the real parent {real[0]!r}" if real else "is real"
        raise NetworkError(f"variable {name!r} {what}, which {format} cannot say; write optbn's JSON (.json)")
    sizes = [len(d.levels) for d in cpd.parent_domains if isinstance(d, Categorical)]
    entries = math.prod(sizes) * len(cpd.domain.levels)
    if entries > LARGEST_TABLE // 8:
        raise NetworkError(f"variable {name!r}: its table would have {entries} entries; write optbn's JSON (.json)")
    cells = math.prod(sizes)
    codes = np.unravel_index(np.arange(cells), sizes) if sizes else ()
    rows = cpd.leaves.probabilities[cpd.cells(codes, cells)]
    return TableCPD(cpd.domain, cpd.parents, cpd.parent_domains, rows.reshape(*sizes, -1))


def number_text(values: Sequence[float]) -> list[str]:
    """The shortest decimal of each float that reads back as the same float."""
    return [repr(value) for value in values]
