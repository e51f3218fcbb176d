"""An answer of `optbn solve` as a certificate needs it: read by names, without the table of scores it came from."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from optbn.base.errors import CheckError, UnsupportedError
from optbn_solvers.base.evidence_json import AnyEvidence, read
from optbn_solvers.base.solution import Evidence, Proof, Tree


class _File(msgspec.Struct):
    parents: dict[str, tuple[str, ...]] | None
    score: float | None = None
    variables: tuple[str, ...] | None = None
    tolerance: float | None = None
    evidence: AnyEvidence | None = None
    constraints: dict[str, Any] = {}
    statistics: dict[str, Any] = {}


@dataclass(frozen=True)
class Answer:
    """names in the order by which the evidence counts them; about: what the scores were made of, if the answer says it.

    exponent   multipliers of the evidence are in units of 2^-exponent; None where there is no evidence
    """

    names: tuple[str, ...]
    parents: dict[str, tuple[str, ...]]
    score: float | None
    evidence: Evidence | None
    exponent: int | None
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def max_parents(self) -> int | None:
        """The limit by which the sets were made, if it was one for all variables and there was no other."""
        constraints = self.about.get("constraints")
        if not isinstance(constraints, dict) or set(constraints) - {"max_parents", "candidates"}:
            return None
        limits = constraints.get("max_parents")
        if isinstance(limits, dict) and set(limits) == {"*"}:
            limits = limits["*"]
        return limits if isinstance(limits, int) else None


def read_answer(path: str | Path) -> Answer:
    """The answer in a file; a proof file is looked for beside it."""
    try:
        file = msgspec.json.decode(Path(path).read_bytes(), type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CheckError(f"{path}: not an answer of optbn solve: {error}") from None
    if file.parents is None:
        raise UnsupportedError(f"{path} has no graph, so there is nothing to certify")
    if file.constraints:
        raise UnsupportedError(
            f"{path} obeys constraints ({', '.join(file.constraints)}), and a certificate is about all graphs: solve "
            "without constraints"
        )
    names = tuple(file.parents) if file.variables is None else file.variables
    known = set(names)
    for child, parents in file.parents.items():
        for name in (child, *parents):
            if name not in known:
                raise CheckError(f"{path}: the graph names {name!r}, which is not one of its variables")
    if len(known) < len(names) or known != set(file.parents):
        raise CheckError(f"{path}: expected each variable once, with its parents")
    evidence = None if file.evidence is None else read(file.evidence)
    if isinstance(evidence, Proof):
        evidence = _tree(Path(path).parent / Path(evidence.path).name)
    exponent = None
    if evidence is not None:
        exponent = _exponent(path, len(names), file.tolerance)
    about = file.statistics.get("scores")
    return Answer(names, file.parents, file.score, evidence, exponent, about if isinstance(about, dict) else {})


def _exponent(path: str | Path, n: int, tolerance: float | None) -> int:
    """Of the grid: its tolerance is n steps of 2^-exponent."""
    if tolerance is None or not 0 < tolerance < math.inf:
        raise CheckError(f"{path} does not say to which grid its evidence is rounded ('tolerance'); solve again")
    mantissa, power = math.frexp(tolerance / n)
    if mantissa != 0.5 or not -900 < power < 900:
        raise CheckError(f"{path}: its tolerance {tolerance!r} is not {n} steps of a grid of powers of two")
    return 1 - power


def _tree(path: Path) -> Tree:
    """The numbers of a proof file."""
    if not path.is_file():
        raise UnsupportedError(f"the proof of the answer is not beside it ({path})")
    with open(path, "rb") as file:
        line, body = file.readline(1 << 26), file.read()
    try:
        header = json.loads(line)
        return Tree(body, int(header["records"]), int(header["denominator"]))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise CheckError(f"{path} cannot be read as a proof: {error}") from None
