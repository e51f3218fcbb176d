"""Certificates: intervals hold the scores, statements are true, another program agrees, and forged ones are refused."""

from __future__ import annotations

import copy
import itertools
import json
import random
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

import optbn
from optbn.base.errors import UnsupportedError
from optbn.certify.certificate import certify, to_json
from optbn.certify.constants import n_log_n, rising
from optbn.certify.contingency import Contingency
from optbn.certify.definition import definition_of
from optbn.certify.ranks import Ranks
from optbn.certify.trees import Trees
from optbn.cli import main
from optbn.data.dataset import Categorical, Dataset
from optbn.learning.solving import solve, structure_of
from optbn.scores import load_score
from optbn_solvers.front.components import Components
from optbn_solvers.front.registry import load_solver
from optbn_solvers.proofs.writer import CARRIED
from tests import certificate as program
from tests.fuzz.forge import changed

pytest.importorskip("flint", reason="python-flint is not installed")
SCORES = ("bdeu", "bic", "pcart", "pcartp")
FINE = 90  # bits by which the other program encloses here


def random_data(seed, levels, ordered=(), rows=60):
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, r, rows) for r in levels]
    columns[1] = np.where(rng.random(rows) < 0.7, columns[0] % levels[1], columns[1])
    domains = [Categorical(tuple(f"l{x}" for x in range(r)), v in ordered) for v, r in enumerate(levels)]
    return Dataset(tuple("abcdefgh"[: len(levels)]), tuple(domains), tuple(c.astype(np.uint8) for c in columns))


def intervals_of(data, definition, largest):
    codes = np.array([column.astype(np.int64) for column in data.columns])
    ranks = Ranks(data.n_variables, largest + (definition.name != "pcart"))
    if definition.name != "pcart":
        return Contingency(definition, codes, data.cardinalities, ranks, 45), ranks
    ordered = [domain.ordered for domain in data.domains]
    return Trees(definition, codes, data.cardinalities, ordered, data.names, ranks, 45), ranks


def others(data, definition):
    """The scores by the other program."""
    codes, score = [column.tolist() for column in data.columns], definition.fields()
    if definition.name != "pcart":
        return program.Contingency(score, codes, list(data.cardinalities), FINE)
    columns = [{"levels": domain.levels, "ordered": domain.ordered} for domain in data.domains]
    return program.Trees(score, codes, columns, FINE)


def test_logarithms_lie_between_their_ends():
    exact = program.Rising(Fraction(1, 3), FINE)
    logs = [program.times(program.log(Fraction(max(n, 1)), FINE), n) for n in range(51)]
    for table, ends in ((rising(Fraction(1, 3), 50, 40), [exact(n) for n in range(51)]), (n_log_n(50, 40), logs)):
        for n, (low, high) in enumerate(ends):
            down, up = int(table.low[n]), int(table.high[n])
            assert down << FINE - 40 <= high and low <= up << FINE - 40 and up - down <= 2


@pytest.mark.twin
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("levels, ordered", [((2, 3, 2, 4), (3,)), ((3, 10, 2, 1), ()), ((2, 5), (1,))])
def test_intervals_hold_the_scores_of_all_families(score, levels, ordered):
    data = random_data(1, levels, ordered)
    definition = definition_of(repr(load_score(score)))
    n = len(levels)
    (intervals, ranks), exact = intervals_of(data, definition, n - 1), others(data, definition)
    for size in range(n):
        uppers = intervals.upper(size)
        for child, parents in itertools.product(range(n), itertools.combinations(range(n), size)):
            if child in parents:
                continue
            low, high = intervals.interval(child, parents)
            assert uppers[ranks.position(parents) - ranks.first[size], child] == high
            more = FINE - intervals.bits
            inner = exact.score(child, parents)
            assert low << more <= inner[1] and inner[0] <= high << more and inner[1] - inner[0] < 1 << more
            assert high - low < 1e-9 * 2**intervals.bits
            names = [data.names[u] for u in parents]
            assert float(inner[0]) / 2**FINE == pytest.approx(optbn.score(data, data.names[child], names, score), 1e-11)


def certified(data, score, most, find=solve, **how):
    """(certificate, solution) of the optimum of a score."""
    table = optbn.score_table(data, score, most)
    solution = find(table, **how)
    graph = {name: structure_of(table, solution).parents(name) for name in data.names}
    definition = definition_of(repr(load_score(score)))
    return certify(data, definition, most, graph, solution.score, solution.evidence, table.exponent), solution


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("seed", range(3))
def test_no_graph_scores_more_than_the_bound(score, seed):
    data = random_data(seed, (2, 3, 2, 4, 2), (1,), rows=200)
    found, _ = certified(data, score, 2)
    exact = others(data, definition_of(repr(load_score(score))))
    families = [
        {
            sum(1 << u for u in parents): exact.score(v, parents)[1]
            for size in range(3)
            for parents in itertools.combinations([u for u in range(5) if u != v], size)
        }
        for v in range(5)
    ]
    best = Fraction(program.recursion(list(range(5)), families), 2**FINE)
    assert best <= Fraction(found.bound) / Fraction(2) ** found.exponent
    assert Fraction(found.lower) / Fraction(2) ** found.exponent <= best
    assert 0 < found.epsilon < 1e-9


def test_epsilon_is_what_the_graph_in_hand_lacks():
    data = random_data(0, (2, 3, 2, 4, 2), rows=200)
    found = certify(data, definition_of("BIC()"), 2, {name: () for name in data.names}, None, None)
    _, solution = certified(data, "bic", 2)
    lacks = solution.score - found.lower / 2**found.exponent
    assert found.epsilon == pytest.approx(lacks, abs=1e-9) and lacks > 1


@pytest.fixture(scope="module")
def on_disk(tmp_path_factory):
    """(data file, certificate) of rows, of a tree in a part, of a claim in a part, and of PCART."""
    folder, found = tmp_path_factory.mktemp("certificates"), {}
    for kind, network, rows, score, find in (
        ("rows", "asia", 300, "bdeu", solve),
        ("tree", "child", 500, "bdeu", Components(load_solver("cp", carried=CARRIED)).solve),
        ("exhausted", "child", 500, "bdeu", Components(load_solver("dp")).solve),
        ("trees", "asia", 200, "pcartp", solve),
    ):
        data = optbn.load_network(network).sample(rows, 1)
        optbn.write(data, folder / f"{kind}.csv")
        found[kind] = folder / f"{kind}.csv", json.loads(to_json(certified(data, score, 2, find)[0]))
    return found


@pytest.mark.parametrize("kind", ["rows", "tree", "exhausted", "trees"])
def test_another_program_agrees(on_disk, kind):
    data, certificate = on_disk[kind]
    program.check(str(data), certificate)
    parts = certificate["evidence"].get("parts", [])
    assert kind in ("rows", "trees") or [part["evidence"]["kind"] for part in parts] == [kind]


def test_the_other_program_finds_what_is_above_a_target():
    """Its search of sets, layer by layer, against its recursion over subsets."""
    rng = random.Random(2)
    for n in (1, 2, 3, 5, 7) * 10:
        families = {
            v: {0: -20} | {rng.getrandbits(n) & ~(1 << v): rng.randint(-19, 0) for _ in range(rng.randint(0, 12))}
            for v in range(n)
        }
        best = program.recursion(list(range(n)), families)
        for target in range(best - 3, best + 3):
            assert program.searched(families, target) == max(best, target)


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda c: c.update(bound=c["lower"]), "proves less"),
        (lambda c: c.update(lower=c["lower"] + 10**6), "scores less"),
        (lambda c: c.update(epsilon=c["epsilon"] / 2), "epsilon"),
        (lambda c: c.update(slack=-8), "slack"),
        (lambda c: c.update(max_parents=3), "proves less"),
        (lambda c: c.update(evidence=None, bound=c["lower"]), "proves less"),
        (lambda c: c["score"].update(ess="1/3"), "scores less"),
        (lambda c: c["data"].update(sha256="0" * 64), "another file"),
        (lambda c: c["parents"].update(asia=["tub"], tub=["asia"]), "cycle"),
    ],
)
def test_forged_certificates_are_refused(on_disk, change, words):
    data, certificate = on_disk["rows"]
    forged = copy.deepcopy(certificate)
    change(forged)
    with pytest.raises(program.Refused, match=words):
        program.check(str(data), forged)


CHANGED = [
    "evidence",
    "evidence",
    "bound",
    "lower",
    "epsilon",
    "max_parents",
    "parents",
    "slack",
    "score",
    "exponent",
    "columns",
]


@pytest.mark.parametrize("score", ["bdeu", "bic", "pcart"])
def test_no_changed_certificate_says_what_is_false(score, tmp_path):
    """Whatever is changed, several things at once: what the other program accepts is true of all graphs."""
    data = random_data(1, (2, 3, 2, 2), rows=40)
    optbn.write(data, tmp_path / "d.csv")
    fields = json.loads(to_json(certified(data, score, 2)[0]))
    rng, accepted, refused = np.random.default_rng(4), 0, 0
    for _ in range(150):
        forged = fields
        for _ in range(int(rng.integers(1, 4))):
            forged = changed(rng, forged, CHANGED)
        if not 0 <= forged["exponent"] <= 60 or abs(forged["max_parents"]) > 9:
            continue  # only slow
        try:
            program.check(str(tmp_path / "d.csv"), forged)
        except (program.Refused, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            refused += 1
        else:
            accepted += 1
            assert Fraction(*best_graph(tmp_path / "d.csv", forged)) <= Fraction(forged["bound"])
            assert forged["bound"] - forged["lower"] <= forged["epsilon"] * 2 ** forged["exponent"]
    assert refused > 60 and accepted > 5


def best_graph(path, certificate):
    """What the best graph scores at least, in units of the certificate, as (numerator, denominator)."""
    columns, bits = certificate["columns"], certificate["exponent"] + FINE
    codes, n = program.read(str(path), columns), len(columns)
    if certificate["score"]["name"] == "pcart":
        scores = program.Trees(certificate["score"], codes, columns, bits)
    else:
        scores = program.Contingency(certificate["score"], codes, [len(c["levels"]) for c in columns], bits)
    families = [
        {
            sum(1 << u for u in parents): scores.score(v, parents)[0]
            for size in range(min(n - 1, certificate["max_parents"]) + 1)
            for parents in itertools.combinations([u for u in range(n) if u != v], size)
        }
        for v in range(n)
    ]
    return program.recursion(list(range(n)), dict(enumerate(families))), 1 << program.FINE


def numbers_in(value, path=()):
    """The paths of all whole numbers in JSON values."""
    if isinstance(value, int) and not isinstance(value, bool):
        yield path
    elif isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            yield from numbers_in(item, (*path, key))


def test_no_forged_evidence_proves_too_much():
    """Any change of any number in the evidence is refused, or the bound is one."""
    data, rng = optbn.load_network("asia").sample(300, 1), random.Random(1)
    certificate, _ = certified(data, "bdeu", 2, solver="ilp", search_nodes=0)
    evidence = json.loads(to_json(certificate))["evidence"]
    exact = others(data, definition_of("BDeu(ess=1.0)"))
    families, _ = program.upper_ends(exact, 8, 2, certificate.exponent, [()] * 8)
    best = program.recursion(list(range(8)), families)
    rows = [row["row"] for stage in evidence["stages"] for row in stage]
    assert "subset" in rows and "cluster" in rows

    def bound(rows):  # a target that some graph exceeds is no bound
        return program.staged(list(range(8)), dict(enumerate(families)), best - 1, rows)

    assert best <= bound(evidence)
    paths, refused = list(numbers_in(evidence)), 0
    for _ in range(1500):
        forged = json.loads(json.dumps(evidence))
        for path in rng.sample(paths, rng.choice((1, 1, 2, 5))):
            at = forged
            for key in path[:-1]:
                at = at[key]
            at[path[-1]] = rng.choice((at[path[-1]] * 2, at[path[-1]] + 1, at[path[-1]] - 1, 0, -5, 10**18))
        try:
            assert bound(forged) >= best
        except program.Refused:
            refused += 1
    assert refused > 100


@pytest.mark.parametrize(
    "score, words",
    [
        ("WithPrior(score=BDeu(ess=1.0), prior='size')", "without a prior"),
        ("K2()", "bdeu, bic, pcart and pcartp can"),
        ("PCART(alpha=0.5, leaf='bic', gamma=0.25, most_levels=8)", "only Dirichlet leaves"),
        ("PCART(alpha={'a': 0.5}, leaf='dirichlet', gamma=0.25, most_levels=8)", "one alpha"),
        ("BDeu()", "cannot be read"),
        ("BDeu(ess=float('nan'))", "cannot be read"),
        ("BDeu(", "cannot be read"),
        ("", "cannot be read"),
    ],
)
def test_scores_without_a_certificate_are_refused_in_a_line(score, words):
    with pytest.raises(UnsupportedError, match=words):
        definition_of(score)


def test_weights_are_refused():
    data = random_data(0, (2, 3)).weighted(np.full(60, 2.0))
    with pytest.raises(UnsupportedError, match="weights"):
        certify(data, definition_of("BIC()"), 1, {"a": (), "b": ()}, None, None)


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return end.value.code, capsys.readouterr()


def test_from_data_to_a_certificate_on_the_command_line(tmp_path, capsys):
    optbn.write(optbn.load_network("asia").sample(200, 1), tmp_path / "asia.csv")
    for arguments in (
        ("score", tmp_path / "asia.csv", "--score", "bdeu", "-o", tmp_path / "s.jkl"),
        ("solve", tmp_path / "s.jkl", "-o", tmp_path / "a.json"),
        ("certify", tmp_path / "asia.csv", tmp_path / "a.json", "-o", tmp_path / "c.json"),
    ):
        code, said = run(capsys, *arguments)
        assert code == 0, said.err
    assert "no graph of at most 3 parents per variable has a BDeu (ess 1) above" in said.out
    checked = [sys.executable, program.__file__, tmp_path / "asia.csv", tmp_path / "c.json"]
    assert subprocess.run(checked, capture_output=True, text=True, check=True).stdout.startswith(
        "checked: on these 200"
    )
    with open(tmp_path / "asia.csv", "a") as file:
        file.write("yes,yes,yes,yes,yes,yes,yes,yes\n")
    assert subprocess.run(checked, capture_output=True).returncode == 1
    answer = json.loads((tmp_path / "a.json").read_text())
    asia = tmp_path / "asia.csv"
    optbn.write(optbn.load_network("asia").sample(200, 1), asia)

    def refused(words, *options, data=asia, **changes):
        (tmp_path / "b.json").write_text(json.dumps(answer | changes))
        code, said = run(capsys, "certify", data, tmp_path / "b.json", *options)
        assert words in said.err and code in (2, 4), (code, said)

    refused("--score and --set", "--score", "bdeu", "--set", "ess=5")
    refused("say it with --score", statistics={})
    refused("say how many with --max-parents", "--score", "bic", statistics={})
    refused("can", "--score", "k2")
    refused("more than --max-parents 0", "--max-parents", 0)
    refused("constraints", constraints={"max_arcs": 3})
    refused("to which grid", tolerance=None)
    refused("refuse and value", "--missing", "drop")
    refused("cycle", parents=answer["parents"] | {"asia": ["tub"], "tub": ["asia"]})
    (tmp_path / "real.csv").write_text(asia.read_text().replace("yes", "1.5").replace("no", "2.25"))
    refused(
        "is real",
        "--score",
        "bdeu",
        data=tmp_path / "real.csv",
        statistics={"scores": {"constraints": {"max_parents": 2}}},
    )
