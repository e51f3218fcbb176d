"""The statement about data, and the file that says everything another program needs to check it.

    {"format": "optbn-certificate-1", "statement": "...", "data": {"sha256": .., "rows": 1000},
     "columns": [{"name": "a", "levels": ["no", "yes"], "ordered": false}, ..],
     "score": {"name": "bdeu", "ess": "1"}, "max_parents": 3, "parents": {"a": [], "b": ["a"]},
     "exponent": 35, "lower": <the least the graph scores, in units of 2^-exponent>,
     "bound": <no graph scores more>, "epsilon": (bound - lower) 2^-exponent, "slack": 8, "evidence": {..}}

The upper ends of the graph's own families are raised by `slack` units each: where two graphs tie but for rounding, the
one in hand wins, and evidence that closes on the grid closes here. The bound has a unit per variable to spare, for a
program that rounds otherwise. tests/certificate.py is such a program, which shares nothing with this one.
"""

from __future__ import annotations

import hashlib
import json
import math
from fractions import Fraction
from typing import Any, Literal

import msgspec
import numpy as np

from optbn.base.errors import CheckError, DataError, UnsupportedError
from optbn.base.numbers import counted
from optbn.certify.contingency import Contingency
from optbn.certify.definition import Definition
from optbn.certify.evidence import Evidenced
from optbn.certify.ranks import Ranks
from optbn.certify.trees import Trees
from optbn.certify.upper import Intervals, Upper, upper_ends
from optbn.data.dataset import Categorical, Dataset
from optbn_solvers.base.errors import CheckFailed
from optbn_solvers.base.evidence_json import AnyEvidence, written
from optbn_solvers.base.solution import Evidence

FORMAT: Literal["optbn-certificate-1"] = "optbn-certificate-1"
FINER = 10  # bits of intervals beyond the grid's
SLACKS = (8, 64, 1024)
MOST_FAMILIES = 1 << 25
NEAR = 1e-6  # of the score: by how much floats of the answer may be off
ENOUGH = 1e-6  # what is left open beyond it is more than rounding


class Column(msgspec.Struct, frozen=True):
    """A column as it is counted: its levels are its codes."""

    name: str
    levels: tuple[str, ...]
    ordered: bool


class Certificate(msgspec.Struct, frozen=True, kw_only=True):
    """See the module's header."""

    format: Literal["optbn-certificate-1"] = FORMAT
    statement: str
    data: dict[str, Any]
    columns: tuple[Column, ...]
    score: dict[str, Any]
    max_parents: int
    families: int
    parents: dict[str, tuple[str, ...]]
    exponent: int
    lower: int
    bound: int
    epsilon: float
    slack: int
    evidence: AnyEvidence | None

    def about(self, content: bytes) -> Certificate:
        """With the digest of the file that the rows were read from."""
        return msgspec.structs.replace(self, data={**self.data, "sha256": hashlib.sha256(content).hexdigest()})


def to_json(certificate: Certificate) -> bytes:
    """A line per field."""
    fields = msgspec.to_builtins(certificate)
    lines = (f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items())
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def certify(
    data: Dataset,
    definition: Definition,
    max_parents: int,
    parents: dict[str, tuple[str, ...]],
    score: float | None,
    evidence: Evidence | None,
    exponent: int | None = None,
) -> Certificate:
    """What the evidence proves of all graphs of at most `max_parents` parents per variable on these rows.

    parents    the graph in hand; score: what its finder says, if anything
    evidence   rows, trees or parts, whose multipliers are in units of 2^-exponent
    """
    if data.weights is not None:
        raise UnsupportedError("rows with weights cannot be certified: a certificate counts rows")
    columns = _columns(data)
    names = data.names
    place = {name: v for v, name in enumerate(names)}
    graph = [sorted(place[parent] for parent in parents[name]) for name in names]
    _check_graph(names, graph, max_parents)
    exponent = exponent if exponent is not None else 48 - math.frexp(data.n_variables * data.n_rows)[1]
    n = len(names)
    ranks = Ranks(n, min(max_parents, n - 1) + (definition.name != "pcart"))
    if n * ranks.count > MOST_FAMILIES:
        raise UnsupportedError(
            f"{n} variables have about {n * ranks.count:,} families of at most {max_parents} parents, and a "
            f"certificate goes through at most {MOST_FAMILIES:,}: take fewer parents"
        )
    intervals = _intervals(data, definition, columns, ranks, exponent + FINER)
    ends = [intervals.interval(v, tuple(members)) for v, members in enumerate(graph)]
    low, high = (Fraction(sum(side)) / Fraction(2) ** intervals.bits for side in zip(*ends, strict=True))
    if score is not None and not low - abs(low) * Fraction(NEAR) <= Fraction(score) <= high + abs(high) * Fraction(
        NEAR
    ):
        raise CheckError(
            f"the answer says {score!r}, but on these data its graph has a {in_words(definition)} of {float(low)!r}: "
            "say with --score and --set which score it was found by, and give the data that were scored"
        )
    upper = upper_ends(intervals, ranks, max_parents, exponent, graph)
    bound, slack = _bound(upper, graph, evidence)
    bound += upper.spare + n
    lower = math.floor(low * Fraction(2) ** exponent)
    epsilon = math.nextafter(float(Fraction(bound - lower) / Fraction(2) ** exponent), math.inf)
    return Certificate(
        statement=_statement(data.n_rows, max_parents, definition, float(low), epsilon),
        data={"rows": data.n_rows},
        columns=columns,
        score=definition.fields(),
        max_parents=max_parents,
        families=upper.count,
        parents={name: tuple(names[u] for u in members) for name, members in zip(names, graph, strict=True)},
        exponent=exponent,
        lower=lower,
        bound=bound,
        epsilon=epsilon,
        slack=slack,
        evidence=None if evidence is None else written(evidence),
    )


def _statement(rows: int, max_parents: int, definition: Definition, score: float, epsilon: float) -> str:
    return (
        f"on these {counted(rows, 'row')}, no graph of at most {counted(max_parents, 'parent')} per variable has a "
        f"{in_words(definition)} above that of this one, {score:.10g}, by more than {epsilon:.2g}"
    )


def in_words(definition: Definition) -> str:
    """The score's name with its settings."""
    if definition.name == "bic":
        return "BIC"
    if definition.name == "bdeu":
        return f"BDeu (ess {float(definition.parameter):g})"
    return f"PCART{'p' * definition.size_prior} (alpha {float(definition.parameter):g})"


def _bound(upper: Upper, graph: list[list[int]], evidence: Evidence | None) -> tuple[int, int]:
    """(the bound in units, the slack) with the smallest slack for which the evidence closes; else the least bound."""
    masks = [sum(1 << u for u in members) for members in graph]
    best: tuple[int, int] | None = None
    failed: CheckFailed | None = None
    for slack in SLACKS:
        raised = [
            [(mask, units + slack * (mask == masks[v])) for mask, units in own] for v, own in enumerate(upper.families)
        ]
        evidenced = Evidenced(raised, masks)
        try:
            found = evidenced.bound(evidence)
        except CheckFailed as error:
            failed = error
            continue
        if best is None or found < best[0]:
            best = found, slack
        if found <= evidenced.score:
            break
    if best is None:
        raise CheckError(f"the evidence does not hold for all families of these data: {failed}")
    return best


def _intervals(
    data: Dataset, definition: Definition, columns: tuple[Column, ...], ranks: Ranks, bits: int
) -> Intervals:
    codes = np.array([column.astype(np.int64) for column in data.columns])
    levels = [len(column.levels) for column in columns]
    if definition.name != "pcart":
        return Contingency(definition, codes, levels, ranks, bits)
    return Trees(definition, codes, levels, [column.ordered for column in columns], data.names, ranks, bits)


def _columns(data: Dataset) -> tuple[Column, ...]:
    """The columns; real ones are refused."""
    if data.weights is not None:
        raise UnsupportedError("a certificate is of rows that count alike: leave the weights away")
    for name, domain in zip(data.names, data.domains, strict=True):
        if not isinstance(domain, Categorical):
            raise UnsupportedError(
                f"column {name!r} is real, and certificates are about counts: discretise it, or, if its numbers are "
                f"levels, read it with --column {name}=categorical"
            )
    return tuple(
        Column(name, domain.levels, domain.ordered)
        for name, domain in zip(data.names, data.domains, strict=True)
        if isinstance(domain, Categorical)
    )


def _check_graph(names: tuple[str, ...], graph: list[list[int]], most: int) -> None:
    """Refuse a graph that is none of those the certificate is about."""
    for name, members in zip(names, graph, strict=True):
        if len(members) > most:
            raise DataError(f"{name!r} has {len(members)} parents in the graph, more than --max-parents {most}")
    left = set(range(len(names)))
    while ready := {v for v in left if not left.intersection(graph[v])}:
        left -= ready
    if left:
        raise CheckError(f"the graph has a cycle among {', '.join(names[v] for v in sorted(left)[:5])}")
