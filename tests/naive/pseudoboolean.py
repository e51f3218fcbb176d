"""A checker of pseudo-Boolean proofs that knows nothing of graphs: soli, red, rup, pol, del of VeriPB's format 3.0.

A constraint is ({literal: coefficient > 0}, rhs), meaning sum >= rhs; no variable is there twice. Slow and short.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

Constraint = tuple[dict[str, int], int]


class Refused(Exception):
    """The proof is wrong."""


def opposite(literal: str) -> str:
    return literal[1:] if literal[0] == "~" else "~" + literal


def normal(terms: Iterable[tuple[int, str]], rhs: int) -> Constraint:
    """Coefficients positive, each variable once."""
    total: dict[str, int] = defaultdict(int)
    for coefficient, literal in terms:
        if literal[0] == "~":
            total[literal[1:]] -= coefficient
            rhs -= coefficient
        else:
            total[literal] += coefficient
    positive = {}
    for variable, coefficient in total.items():
        if coefficient > 0:
            positive[variable] = coefficient
        elif coefficient < 0:
            positive["~" + variable] = -coefficient
            rhs -= coefficient
    return positive, rhs


def parse(words: list[str]) -> Constraint:
    at = words.index(">=")
    if at % 2 or len(words) != at + 2:
        raise Refused(f"not a constraint: {words}")
    return normal([(int(words[i]), words[i + 1]) for i in range(0, at, 2)], int(words[at + 1]))


def negated(constraint: Constraint) -> Constraint:
    terms, rhs = constraint
    return normal([(-a, literal) for literal, a in terms.items()], 1 - rhs)


def implies(one: Constraint, other: Constraint) -> bool:
    """Whether the other follows from the one by leaving terms out."""
    return one[1] - sum(max(0, a - other[0].get(literal, 0)) for literal, a in one[0].items()) >= other[1]


class Checker:
    """The constraints by number (from 1), and where literals occur."""

    def __init__(self, problem: str) -> None:
        lines = [line.removesuffix(";").split() for line in problem.splitlines() if line and line[0] != "*"]
        assert lines[0][0] == "min:"
        words = lines[0][1:]
        self.objective = {words[i + 1]: int(words[i]) for i in range(0, len(words), 2)}
        self.constraints: list[Constraint | None] = []
        self.occurs: dict[str, list[int]] = defaultdict(list)
        self.units: dict[str, bool] = {}  # what follows from the constraints by propagation
        for line in lines[1:]:
            self.add(parse(line))
        self.best: int | None = None
        self.given = len(self.constraints)

    def add(self, constraint: Constraint) -> None:
        self.constraints.append(constraint)
        for literal in constraint[0]:
            self.occurs[literal.removeprefix("~")].append(len(self.constraints) - 1)
        self.propagate(self.units, [constraint])

    def propagate(self, known: dict[str, bool], waiting: list[Constraint]) -> bool:
        """Extend what is known; whether there is a conflict."""

        def false(literal: str) -> bool:
            value = known.get(literal.removeprefix("~"))
            return value is not None and value == literal.startswith("~")

        while waiting:
            terms, rhs = waiting.pop()
            slack = sum(a for literal, a in terms.items() if not false(literal)) - rhs
            if slack < 0:
                return True
            for literal, a in terms.items():
                variable = literal.removeprefix("~")
                if a > slack and variable not in known:
                    known[variable] = not literal.startswith("~")
                    waiting += filter(None, (self.constraints[i] for i in self.occurs[variable]))
        return False

    def follows(self, constraint: Constraint, premises: list[Constraint] | None = None) -> bool:
        """By reverse unit propagation, or from one of the premises alone."""
        if any(implies(premise, constraint) for premise in premises or ()):
            return True
        known = dict(self.units)
        everything = [negated(constraint), *(premises or [])]
        if self.propagate(known, list(everything)):
            return True
        return any(self.propagate(known, [each]) for each in [*everything, *filter(None, self.constraints)])

    def quick(self, constraint: Constraint) -> bool:
        """The same, looking only at what the propagation touches, and at all constraints if that is not enough."""
        return self.propagate(dict(self.units), [negated(constraint)]) or self.follows(constraint)

    def check(self, proof: str) -> int:
        """The optimum that the proof proves."""
        lines = [line.removesuffix(";").split() for line in proof.splitlines()]
        if lines[0] != ["pseudo-Boolean", "proof", "version", "3.0"] or lines[1] != ["f", str(self.given)]:
            raise Refused("the header")
        for words in lines[2:-3]:
            self.rule(words[0], words[1:])
        if lines[-3] != ["output", "NONE"] or lines[-1] != ["end", "pseudo-Boolean", "proof"]:
            raise Refused("the end")
        conclusion, bounds, low, colon, number, high = lines[-2]
        terms, rhs = polish([number], self.constraints)
        if (conclusion, bounds, colon) != ("conclusion", "BOUNDS", ":") or not sum(terms.values()) < rhs:
            raise Refused("no contradiction")
        if not int(low) == int(high) == self.best:
            raise Refused("the bounds are not the value of the best solution")
        return int(low)

    def rule(self, name: str, words: list[str]) -> None:
        if name == "soli":
            self.solution(words)
        elif name == "rup":
            constraint = parse(words)
            if not self.quick(constraint):
                raise Refused(f"rup {words}")
            self.add(constraint)
        elif name == "pol":
            self.add(polish(words, self.constraints))
        elif name == "red":
            self.redundant(words)
        elif name == "del":
            self.forget(words)
        else:
            raise Refused(f"unknown rule {name}")

    def forget(self, words: list[str]) -> None:
        """Derived rows go; what was propagated from them without any assumption stays, as it is implied by the rest."""
        kind, first, end = words
        if kind != "range" or not self.given < int(first) < int(end) <= len(self.constraints) + 1:
            raise Refused(f"del {words}")
        for number in range(int(first) - 1, int(end) - 1):
            gone = self.constraints[number]
            if gone is None:
                raise Refused(f"del {words}: it is gone")
            for literal in gone[0]:
                self.occurs[literal.removeprefix("~")].remove(number)
            self.constraints[number] = None

    def solution(self, literals: list[str]) -> None:
        true = set(literals)
        for terms, rhs in filter(None, self.constraints[: self.given]):
            if sum(a for literal, a in terms.items() if literal in true) < rhs:
                raise Refused("the solution breaks a constraint")
        if any(opposite(literal) in true for literal in true):
            raise Refused("the solution contradicts itself")
        value = sum(a for literal, a in self.objective.items() if literal in true)
        if self.best is not None and value >= self.best:
            raise Refused("the solution is no better")
        self.best = value
        self.add(normal([(-a, literal) for literal, a in self.objective.items()], 1 - value))

    def redundant(self, words: list[str]) -> None:
        """The witness sets one variable, which the objective and the given rows do not have."""
        at = words.index(":")
        constraint = parse(words[:at])
        variable, arrow, value = words[at + 1 :]
        if arrow != "->" or value not in ("0", "1") or variable in self.objective:
            raise Refused("the witness")
        literal = variable if value == "1" else "~" + variable
        negation = negated(constraint)
        touched = list(filter(None, (self.constraints[i] for i in self.occurs[variable])))
        for terms, rhs in [constraint, *touched]:
            rest = {x: a for x, a in terms.items() if x not in (variable, "~" + variable)}
            if not self.follows((rest, rhs - terms.get(literal, 0)), [negation]):
                raise Refused(f"red {words}")
        self.add(constraint)


def polish(words: list[str], constraints: Sequence[Constraint | None]) -> Constraint:
    """Reverse Polish notation: numbers of constraints, literals, +, factor * and s."""
    stack: list[str | Constraint] = []

    def row(item: str | Constraint) -> Constraint:
        if not isinstance(item, str):
            return item
        if item.lstrip("~")[0].isalpha():
            return {item: 1}, 0
        found = constraints[int(item) - 1] if 1 <= int(item) <= len(constraints) else None
        if found is None:
            raise Refused(f"there is no constraint {item}")
        return found

    for word in words:
        if word == "+":
            (a, x), (b, y) = row(stack.pop()), row(stack.pop())
            stack.append(normal([(c, v) for part in (a, b) for v, c in part.items()], x + y))
        elif word == "s":
            terms, rhs = row(stack.pop())
            stack.append(({v: min(c, max(rhs, 0)) for v, c in terms.items() if rhs > 0}, max(rhs, 0)))
        elif word == "*":
            factor, (terms, rhs) = stack.pop(), row(stack.pop())
            if not isinstance(factor, str) or int(factor) < 0:
                raise Refused("a factor that is no number from 0")
            stack.append(({v: int(factor) * c for v, c in terms.items()}, int(factor) * rhs))
        else:
            stack.append(word)
    if len(stack) != 1:
        raise Refused("pol leaves more than one row")
    return row(stack[0])
