"""A program that checks certificates of `optbn certify`, and shares no code with it: the standard library alone.

    python tests/certificate.py data.csv certificate.json

It reads the csv file by itself, counts the rows, encloses the logarithms (`decimal` rounds ln correctly), makes an
upper end in whole units of 2^-exponent for the score of every family of at most max_parents parents, and applies the
evidence to them. It prints the statement when its own bound is no higher, and its own lower end of the graph no lower,
than those of the certificate; otherwise it says what is wrong and ends with 1. Plain Python: alarm with 1,000 rows and
three parents takes eight seconds of bdeu or bic, and hours of pcart.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import math
import sys
import zlib
from collections import Counter
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from itertools import combinations

FINE = 40  # bits of sums beyond the certificate's grid
NEAR = 4  # units: a family that beats a subset of its parents by no more is left out, and the difference paid for
MOST_SETS = 1 << 20  # of equal size, in the search for something better: a claim that takes more is not believed
ABSENT = {"", "na", "n/a", "nan", "null", "none", "?"}


class Refused(Exception):
    """Something in the certificate is not true of the data."""


def require(true: bool, words: str) -> None:
    if not true:
        raise Refused(words)


# The data


def read(path: str, columns: list[dict]) -> list[list[int]]:
    """Per column the codes of its rows."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        text = file.read()
    names = [column["name"] for column in columns]
    for delimiter in ",;\t ":
        header, *rows = [row for row in csv.reader(text.splitlines(), delimiter=delimiter) if row]
        header = [name.strip() for name in header]
        if set(names) <= set(header):
            break
    else:
        raise Refused("the header of the data does not name the columns of the certificate")
    found = []
    for column in columns:
        at, code = header.index(column["name"]), {level: i for i, level in enumerate(column["levels"])}
        require(len(code) == len(column["levels"]), f"column {column['name']} has a level twice")
        if "missing" in code:
            code = {**dict.fromkeys(ABSENT, code["missing"]), **code}
        try:
            found.append(
                [code[row[at].strip()] if row[at].strip() in code else code[row[at].strip().lower()] for row in rows]
            )
        except (KeyError, IndexError) as error:
            raise Refused(f"column {column['name']}: {error} is none of its levels") from None
    return found


# Numbers: (low, high), whole, in units of 2^-bits

CONTEXT = Context(prec=60, Emin=-(10**9), Emax=10**9)
SLIP = Fraction(1, 10**50)  # more than a rounded logarithm of a number below 10^9 digits is off


@cache
def whole_log(number: int) -> Fraction:
    """ln to within SLIP."""
    return Fraction(CONTEXT.ln(Decimal(number)))


def log(number: Fraction, bits: int) -> tuple[int, int]:
    middle = (whole_log(number.numerator) - whole_log(number.denominator)) * 2**bits
    slip = 2 * SLIP * 2**bits
    return math.floor(middle - slip), math.ceil(middle + slip)


def add(*numbers: tuple[int, int]) -> tuple[int, int]:
    return sum(low for low, _ in numbers), sum(high for _, high in numbers)


def less(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    return a[0] - b[1], a[1] - b[0]


def times(number: tuple[int, int], n: int) -> tuple[int, int]:
    return number[0] * n, number[1] * n  # n >= 0


class Rising:
    """n -> ln(a (a + 1) .. (a + n - 1)), as far as it was asked for."""

    def __init__(self, a: Fraction, bits: int) -> None:
        self.a, self.bits, self.sums = a, bits, [(0, 0)]

    def __call__(self, n: int) -> tuple[int, int]:
        while len(self.sums) <= n:
            self.sums.append(add(self.sums[-1], log(self.a + len(self.sums) - 1, self.bits)))
        return self.sums[n]


# Scores


class Contingency:
    """BDeu and BIC: a sum over cells of family, less one over cells of the parents, less a penalty."""

    def __init__(self, score: dict, codes: list[list[int]], levels: list[int], bits: int) -> None:
        self.bdeu, self.codes, self.levels, self.bits = score["name"] == "bdeu", codes, levels, bits
        self.rows, self.terms = len(codes[0]), {}
        self.ess = Fraction(score.get("ess", 1))
        self.price = log(Fraction(self.rows), bits - 1)  # log(N) / 2
        self.over = cache(self.over)

    def term(self, product: int):
        if product not in self.terms:
            rising = Rising(self.ess / product, self.bits)
            self.terms[product] = cache(rising if self.bdeu else lambda n: times(log(Fraction(n), self.bits), n))
        return self.terms[product]

    def over(self, variables: tuple[int, ...]) -> tuple[int, int]:
        term = self.term(math.prod(self.levels[v] for v in variables) if self.bdeu else 1)
        cells = Counter(zip(*(self.codes[v] for v in variables), strict=True)).values() if variables else [self.rows]
        low = high = 0
        for size, many in Counter(cells).items():
            ends = term(size)
            low, high = low + many * ends[0], high + many * ends[1]
        return low, high

    def score(self, v: int, parents: tuple[int, ...]) -> tuple[int, int]:
        found = less(self.over(tuple(sorted((*parents, v)))), self.over(parents))
        if self.bdeu:
            return found
        return less(found, times(self.price, math.prod(self.levels[u] for u in parents) * (self.levels[v] - 1)))


class Trees:
    """PCART: the best tree by looking at every box, upper and lower ends apart."""

    def __init__(self, score: dict, codes: list[list[int]], columns: list[dict], bits: int) -> None:
        self.codes, self.bits, self.n = codes, bits, len(codes)
        self.levels = [len(column["levels"]) for column in columns]
        self.alpha, self.gamma, self.prior = Fraction(score["alpha"]), Fraction(score["gamma"]), score["size_prior"]
        self.each = Rising(self.alpha, bits)
        self.total = {r: Rising(r * self.alpha, bits) for r in set(self.levels)}
        self.ordered = [column["ordered"] for column in columns]
        self.places, self.sizes = list(codes), list(self.levels)
        for v, most in enumerate([score["most_levels"]] * self.n):
            if most is not None and not self.ordered[v] and self.sizes[v] > most:
                counts = Counter(codes[v])
                frequent = sorted(range(self.sizes[v]), key=lambda x: (-counts[x], x))[: most - 1]
                self.places[v] = [frequent.index(x) if x in frequent else most - 1 for x in codes[v]]
                self.sizes[v] = most

    def score(self, v: int, parents: tuple[int, ...]) -> tuple[int, int]:
        splits = sum(s - 1 if o else 2 ** (s - 1) - 1 for o, s in self.kinds(parents))
        cost = log(splits / self.gamma, self.bits) if splits else (0, 0)
        trees = all_trees(tuple(sorted(self.kinds(parents))), self.gamma / splits) if splits else Fraction(1)
        constant = log(trees * (math.comb(self.n - 1, len(parents)) if self.prior else 1), self.bits)
        rows = Counter(zip(*(self.places[u] for u in parents), self.codes[v], strict=True))

        @cache
        def best(box: tuple[tuple[int, ...], ...]) -> tuple[int, int]:
            counts: Counter[int] = Counter()
            for (*cell, x), times_ in rows.items():
                if all(level in part for level, part in zip(cell, box, strict=True)):
                    counts[x] += times_
            leaf = less(add(*map(self.each, counts.values())), self.total[self.levels[v]](counts.total()))
            low, high = less(leaf, cost)
            if counts.total() > 1:
                for j, part in enumerate(box):
                    for half in halves(part, self.ordered[parents[j]]):
                        other = tuple(x for x in part if x not in half)
                        both = add(*(best((*box[:j], side, *box[j + 1 :])) for side in (half, other)))
                        low, high = max(low, both[0]), max(high, both[1])
            return low, high

        return less(best(tuple(tuple(range(self.sizes[u])) for u in parents)), constant)

    def kinds(self, parents: tuple[int, ...]) -> list[tuple[bool, int]]:
        return [(self.ordered[u], self.sizes[u]) for u in parents]


def halves(part: tuple[int, ...], ordered: bool):
    """One side of every split of some levels, that of the first."""
    for size in range(1, len(part)):
        yield from [part[:size]] if ordered else ((part[0], *more) for more in combinations(part[1:], size - 1))


@cache
def all_trees(box: tuple[tuple[bool, int], ...], leaf: Fraction) -> Fraction:
    """The sum over all trees of leaf^leaves."""
    found = leaf
    for j, (ordered, size) in enumerate(box):
        for a in range(1, size):
            sides = (all_trees(tuple(sorted((*box[:j], (ordered, s), *box[j + 1 :]))), leaf) for s in (a, size - a))
            found += (1 if ordered else math.comb(size - 1, a - 1)) * math.prod(sides)
    return found


# From scores to families: per variable {parents as bits: units}


def upper_ends(scores, n: int, most: int, exponent: int, graph: list[tuple[int, ...]]) -> tuple[list[dict], int]:
    """Families with upper ends, without those that a subset matches; and what must be added to a bound of theirs."""
    families, spare = [], 0
    for v in range(n):
        own: dict[int, int] = {}
        over = 0
        others = [u for u in range(n) if u != v]
        for size in range(min(most, n - 1) + 1):
            for parents in combinations(others, size):
                units = -(-scores.score(v, parents)[1] >> (scores.bits - exponent))
                mask = sum(1 << u for u in parents)
                less_of = [own[s] for s in subsets(parents) if s in own and s != mask]
                if less_of and units <= max(less_of) + NEAR and parents != graph[v]:
                    over = max(over, units - max(less_of))
                else:
                    own[mask] = units
        families.append(own)
        spare += over
    return families, spare


def subsets(parents: tuple[int, ...]):
    for size in range(len(parents) + 1):
        for some in combinations(parents, size):
            yield sum(1 << u for u in some)


# Evidence


class Evidence:
    """Families, the masks of a graph, and what evidence proves of them."""

    def __init__(self, families: list[dict], graph: list[int]) -> None:
        self.families, self.graph = families, graph

    def bound(self, evidence: dict | None) -> int:
        everything = list(range(len(self.graph)))
        if evidence is None or evidence["kind"] != "parts":
            return self.part(everything, evidence)
        listed = [v for part in evidence["parts"] for v in part["members"]]
        require(len(set(listed)) == len(listed) and set(listed) <= set(everything), "the parts are not disjoint")
        rest = sum(max(self.families[v].values()) for v in set(everything) - set(listed))
        return rest + sum(self.part(part["members"], part["evidence"]) for part in evidence["parts"])

    def part(self, members: list[int], evidence: dict | None) -> int:
        inside = sum(1 << v for v in members)
        families: dict[int, dict[int, int]] = {v: {} for v in members}
        for v in members:
            for mask, units in self.families[v].items():
                families[v][mask & inside] = max(units, families[v].get(mask & inside, units))
        target = sum(self.families[v][self.graph[v]] for v in members)
        kind = "nothing" if evidence is None else evidence["kind"]
        if kind == "tree":
            Tree(members, families, target, evidence).check()
            return target
        rows = evidence if kind == "rows" else (evidence or {}).get("rows")
        found = staged(members, families, target, rows or {"stages": [], "denominator": 1})
        if found > target and kind in ("nothing", "exhausted"):
            return min(found, searched(families, target))
        return found


def staged(members: list[int], families: dict, target: int, evidence: dict) -> int:
    """The bound of stages of rows; each drops what cannot be part of more than the target."""
    fine = evidence["denominator"]
    require(isinstance(fine, int) and fine >= 1, "a denominator is not a whole number")
    alive = {v: dict(own) for v, own in families.items()}
    best = sum(max(own.values()) for own in alive.values())
    for stage in evidence["stages"]:
        adjusted = {v: {mask: units * fine for mask, units in own.items()} for v, own in alive.items()}
        constant = 0
        for row in stage:
            constant += apply(row, row["multiplier"], adjusted, set(members))
        tops = {v: max(own.values()) for v, own in adjusted.items()}
        bound = constant + sum(tops.values())
        best = min(best, max(bound // fine, target))
        for v, own in adjusted.items():
            alive[v] = {mask: alive[v][mask] for mask, s in own.items() if bound - tops[v] + s >= (target + 1) * fine}
        if not all(alive.values()):
            return target
    return best


def apply(row: dict, y: int, adjusted: dict, members: set[int]) -> int:
    """Add a row's multiplier to the families; what it adds to the bound."""
    require(row["row"] in ("cluster", "subset") and isinstance(y, int) and y >= 0, "a row is of an unknown kind")
    inside = set(row["members"])
    require(bool(inside) and inside <= members and len(inside) == len(row["members"]), "a row is on no set of the part")
    within = sum(1 << v for v in inside)
    if row["row"] == "cluster":
        for v in inside:
            own = adjusted[v]
            for mask in own:
                if not mask & within:
                    own[mask] += y
        return -y
    worth = subset_row(json.dumps([row["members"], row["coefficients"], row["rhs"]]))
    for v in inside:
        own = adjusted[v]
        for mask in own:
            own[mask] -= y * worth[v].get(mask & within, 0)
    return row["rhs"] * y


@cache
def subset_row(text: str) -> dict[int, dict[int, int]]:
    """The coefficients of a subset row, once it is proved that no acyclic graph exceeds its right side."""
    members, coefficients, rhs = json.loads(text)
    require(len(members) <= 12, "a subset row has too many members")
    worth: dict[int, dict[int, int]] = {v: {0: 0} for v in members}
    for child, parents, a in coefficients:
        require(child in worth and set(parents) <= set(members) - {child}, "a subset row has an impossible coefficient")
        require(isinstance(a, int) and a > 0, "a subset row has a coefficient that is not above 0")
        mask = sum(1 << u for u in parents)
        require(not worth[child].get(mask), "a subset row has two coefficients for one family")
        worth[child][mask] = a
    require(isinstance(rhs, int) and recursion(members, worth) <= rhs, "a subset row is not true of every graph")
    return worth


def recursion(members: list[int], families: dict[int, dict[int, int]]) -> int:
    """The best acyclic choice: f(U) = max over v in U of f(U - v) and the best family of v with parents in U - v."""

    @cache
    def best(v: int, among: int) -> float:
        own = [units for mask, units in families[v].items() if not mask & ~among]
        return max(own, default=-math.inf)

    @cache
    def f(among: int) -> float:
        return max((f(among & ~(1 << v)) + best(v, among & ~(1 << v)) for v in members if among >> v & 1), default=0)

    return int(f(sum(1 << v for v in members)))


def searched(families: dict[int, dict[int, int]], target: int) -> float:
    """The best acyclic choice if it is above the target, else the target: sets of placed variables, layer by layer.

    What a set has, and the best that is left for the others, are above the target, or nothing better comes of it.
    """
    tops = {v: max(own.values()) for v, own in families.items()}
    spare = sum(tops.values()) - target
    useful = {
        v: sorted(((s, mask) for mask, s in own.items() if tops[v] - s < spare), reverse=True)
        for v, own in families.items()
    }
    lost = {0: 0}  # of a set: what its best graph loses against the tops
    for _ in families:
        layer: dict[int, int] = {}
        for placed, loss in lost.items():
            for v, own in useful.items():
                if placed >> v & 1:
                    continue
                found = next((s for s, mask in own if not mask & ~placed), None)
                if found is None or (after := loss + tops[v] - found) >= spare:
                    continue
                if after < layer.get(placed | 1 << v, spare):
                    layer[placed | 1 << v] = after
            if len(layer) > MOST_SETS:
                return math.inf
        lost = layer
    return target + spare - min(lost.values(), default=spare)


class Tree:
    """A search tree (solvers/optbn_solvers/proofs/README.md); variables count by their place among the members."""

    def __init__(self, members: list[int], families: dict, target: int, evidence: dict) -> None:
        place = {v: i for i, v in enumerate(members)}
        self.fine = evidence["denominator"]
        require(isinstance(self.fine, int) and self.fine >= 1, "a denominator is not a whole number")
        self.goal = target * self.fine + self.fine - 1
        self.n = len(members)
        self.root = [
            {sum(1 << place[u] for u in members if mask >> u & 1): s * self.fine for mask, s in families[v].items()}
            for v in members
        ]
        self.numbers, self.rows = self.unpacked(base64.b64decode(evidence["body"])), []

    @staticmethod
    def unpacked(packed: bytes):
        value = shift = 0
        for byte in zlib.decompress(packed):
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                yield value >> 1 if not value & 1 else -(value >> 1) - 1
                value = shift = 0

    def check(self) -> None:
        """Every leaf is closed."""
        open_nodes: list = [(self.root, {}, 0)]
        try:
            while open_nodes:
                kind = next(self.numbers)
                if kind < 2:
                    self.define(kind)
                    continue
                node = self.changed(open_nodes.pop())
                node = None if node is None or self.closed(node) else node
                if node is not None:
                    node = (self.supported(node[0]), *node[1:])
                    node = None if self.closed(node) else node
                require(node is None or kind != 2, "a leaf of a tree is open")
                if node is not None:
                    spare = self.height(node) - self.goal
                    tops = [max(own.values()) for own in node[0]]
                    kept = [
                        {m: s for m, s in own.items() if s > top - spare}
                        for own, top in zip(node[0], tops, strict=True)
                    ]
                    node = (kept, *node[1:])
                if kind == 3:
                    open_nodes.append(node)
                elif kind != 2:
                    require(kind == 4, "a tree has a record of an unknown kind")
                    v, number, first = (next(self.numbers) for _ in range(3))
                    require(0 <= v < self.n and 0 <= number < len(self.rows), "a tree branches on nothing")
                    for disjoint in (not first, bool(first)):
                        open_nodes.append(None if node is None else self.side(node, v, self.rows[number][0], disjoint))
        except (StopIteration, RuntimeError):
            raise Refused("a tree ends too early") from None

    def define(self, kind: int) -> None:
        members = [next(self.numbers) for _ in range(next(self.numbers))]
        require(bool(members) and len(set(members)) == len(members), "a tree has a row on no set")
        require(all(0 <= v < self.n for v in members), "a tree has a row on strange variables")
        within, worth, rhs = sum(1 << v for v in members), None, 1
        if kind == 1:
            rhs, coefficients = next(self.numbers), []
            for _ in range(next(self.numbers)):
                child, pattern, a = (next(self.numbers) for _ in range(3))
                require(0 <= child < len(members) and 0 <= pattern < 1 << len(members), "a tree has a strange row")
                coefficients.append([members[child], [u for i, u in enumerate(members) if pattern >> i & 1], a])
            worth = subset_row(json.dumps([members, coefficients, rhs]))
        self.rows.append((within, worth, rhs))

    def changed(self, node):
        changes = [(next(self.numbers), next(self.numbers)) for _ in range(next(self.numbers))]
        require(all(0 <= number < len(self.rows) for number, _ in changes), "a tree uses a row that it does not define")
        if node is None:
            return None
        families, multipliers, constant = [dict(own) for own in node[0]], dict(node[1]), node[2]
        for number, y in changes:
            within, worth, rhs = self.rows[number]
            multipliers[number] = multipliers.get(number, 0) + y
            require(multipliers[number] >= 0, "a tree makes a multiplier negative")
            constant += -y if worth is None else rhs * y
            for v, own in enumerate(families):
                if within >> v & 1:
                    for mask in own:
                        own[mask] += y * (not mask & within) if worth is None else -y * worth[v].get(mask & within, 0)
        return families, multipliers, constant

    def height(self, node) -> int:
        return node[2] + sum(max(own.values()) for own in node[0])

    def closed(self, node) -> bool:
        return not all(node[0]) or self.height(node) <= self.goal

    def supported(self, families: list[dict]) -> list[dict]:
        kept = []
        for v, own in enumerate(families):
            placed, before = 0, -1
            while placed != before:
                before = placed
                for u, others in enumerate(families):
                    if u != v and any(not mask & ~placed for mask in others):
                        placed |= 1 << u
            kept.append({mask: s for mask, s in own.items() if not mask & ~placed})
        return kept

    @staticmethod
    def side(node, v: int, within: int, disjoint: bool):
        own = {mask: s for mask, s in node[0][v].items() if (not mask & within) == disjoint}
        return [*node[0][:v], own, *node[0][v + 1 :]], node[1], node[2]


# All of it


def check(data: str, certificate: dict) -> None:
    """Refused, unless the certificate is true of the file."""
    require(certificate["format"] == "optbn-certificate-1", "not a certificate of this format")
    with open(data, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    require(certificate["data"].get("sha256") in (None, digest), "the certificate is about another file")
    columns, exponent, score = certificate["columns"], certificate["exponent"], certificate["score"]
    codes = read(data, columns)
    require(len(codes[0]) == certificate["data"]["rows"], "the file has another number of rows")
    names = [column["name"] for column in columns]
    graph = [tuple(sorted(names.index(u) for u in certificate["parents"][name])) for name in names]
    most = certificate["max_parents"]
    require(certificate["slack"] >= 0, "the slack is below 0")
    require(all(len(parents) <= most for parents in graph), "the graph has too many parents")
    left = set(range(len(names)))
    while ready := {v for v in left if not left & set(graph[v])}:
        left -= ready
    require(not left, "the graph has a cycle")
    bits = exponent + FINE
    require(score["name"] in ("bdeu", "bic", "pcart"), "an unknown score")
    if score["name"] == "pcart":
        scores = Trees(score, codes, columns, bits)
    else:
        scores = Contingency(score, codes, [len(column["levels"]) for column in columns], bits)
    lower = sum(scores.score(v, parents)[0] for v, parents in enumerate(graph)) >> FINE
    require(lower >= certificate["lower"], "the graph scores less than the certificate says")
    families, spare = upper_ends(scores, len(names), most, exponent, graph)
    masks = [sum(1 << u for u in parents) for parents in graph]
    for v, mask in enumerate(masks):
        families[v][mask] += certificate["slack"]
    bound = Evidence(families, masks).bound(certificate["evidence"]) + spare
    require(bound <= certificate["bound"], "the evidence proves less than the certificate says")
    gap = Fraction(certificate["bound"] - certificate["lower"]) / Fraction(2) ** exponent
    require(gap <= Fraction(certificate["epsilon"]), "epsilon is smaller than the gap")


if __name__ == "__main__":
    with open(sys.argv[2], encoding="utf-8") as opened:
        claim = json.load(opened)
    try:
        check(sys.argv[1], claim)
    except Refused as error:
        sys.exit(f"REFUSED: {error}")
    print(f"checked: {claim['statement']}")
