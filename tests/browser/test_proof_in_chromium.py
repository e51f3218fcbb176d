"""The button "check this proof": right proofs of every kind are proved in the browser, and forged ones are not."""

from __future__ import annotations

import base64
import copy
import json
import random
import time
from dataclasses import replace

import msgspec
import pytest

import optbn
from optbn.learning import carried as carrying
from optbn.learning.carried import carried
from optbn.learning.solving import solve, structure_of
from optbn_solvers.base.solution import Exhausted
from tests.report.examples import report_of

CHECK = """
  return arguments[0].map((text) => {
    try {
      const found = optbn.check(JSON.parse(text));
      return [found.optimal, Number(found.bound - found.score), found.nodes];
    } catch (error) { return error.message; }
  });
"""


def proof_of(network, rows, score, most, evidence=None, **how):
    """What a page would carry of the optimum."""
    table = optbn.score_table(optbn.load_network(network).sample(rows, 1), score, most)
    solution = solve(table, **how)
    solution = solution if evidence is None else replace(solution, evidence=evidence)
    found = carried(table, solution, structure_of(table, solution))
    assert found is not None
    return found


@pytest.fixture(scope="module")
def proofs():
    found = {
        "rows": proof_of("asia", 300, "bdeu", 2, solver="ilp", search_nodes=0),
        "tree": proof_of("child", 500, "bdeu", 2, solver="cp", carried=1 << 22),
        "claim": proof_of("asia", 300, "bdeu", 2, Exhausted("dp")),
    }
    assert found["rows"]["evidence"]["kind"] == "rows"
    assert found["tree"]["evidence"]["kind"] == "tree"
    found["large claim"] = found["tree"] | {"evidence": {"kind": "exhausted"}}  # of 20 variables
    return found


def checked(driver, *proofs):
    return driver.execute_script(CHECK, [json.dumps(proof) for proof in proofs])


@pytest.mark.parametrize("kind", ["rows", "tree", "claim", "large claim"])
def test_right_proofs_are_proved(open_page, proofs, kind):
    driver = open_page(report_of(optbn.load_network("asia")))
    ((optimal, gap, nodes),) = checked(driver, proofs[kind])
    assert optimal and gap == 0 and (nodes > 0) == (kind == "tree")


def test_the_button_proves_what_is_drawn(open_page):
    data = optbn.load_network("alarm").sample(1000, 1)
    report = optbn.learn(data, score="bdeu", max_parents=3, smoother="laplace").report
    driver = open_page(report)
    driver.find_element("id", "check-proof").click()
    begun = time.monotonic()
    while (said := driver.find_element("id", "proof-result").text) in ("", "Checking…"):
        assert time.monotonic() - begun < 20
        time.sleep(0.05)
    assert said.startswith("Proved here in") and f"{report.outcome.score:.6f}" in said
    assert float(said.split()[3]) <= 5
    driver = open_page(msgspec.structs.replace(report, arcs=report.arcs[1:]))
    driver.find_element("id", "check-proof").click()
    time.sleep(0.5)
    assert "another network than the one that is drawn" in driver.find_element("id", "proof-result").text


def test_without_evidence_there_is_no_button(open_page):
    driver = open_page(report_of(optbn.load_network("asia")))
    assert not driver.find_elements("id", "check-proof")


def worse(proof):
    """The proof, of a network that is not the best: one variable has no parents."""
    found = copy.deepcopy(proof)
    found["graph"][max(range(len(found["graph"])), key=lambda v: len(found["graph"][v]))] = []
    return found


def numbers_in(value, path=()):
    """The paths of all whole numbers in JSON values."""
    if isinstance(value, int) or (isinstance(value, str) and value.lstrip("-").isdigit()):
        yield path
    elif isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers_in(each, (*path, key))


def forged(proof, rng):
    """The proof with some number of its evidence changed, or some byte of a tree."""
    found = copy.deepcopy(proof)
    parts = found["evidence"].get("parts", [{"evidence": found["evidence"]}])
    if parts[0]["evidence"]["kind"] == "tree":
        body = bytearray(base64.b64decode(parts[0]["evidence"]["numbers"]))
        for _ in range(rng.choice((1, 1, 3))):
            body[rng.randrange(len(body))] = rng.choice((0, 1, 2, 3, 127, 255, rng.randrange(256)))
        parts[0]["evidence"]["numbers"] = base64.b64encode(bytes(body)).decode()
        return found
    paths = list(numbers_in(found["evidence"]))
    for path in rng.sample(paths, min(len(paths), rng.choice((1, 1, 2, 5)))):
        at = found["evidence"]
        for key in path[:-1]:
            at = at[key]
        old = int(at[path[-1]])
        at[path[-1]] = str(rng.choice((old * 2, old + 1, old - 1, 0, -(10**15), 10**15)))
        if path[-2:-1] == ("members",):
            at[path[-1]] = int(at[path[-1]])
    return found


@pytest.mark.parametrize("kind", ["rows", "tree", "claim"])
def test_forged_proofs_are_not_believed(open_page, proofs, kind):
    """Whatever is changed in the evidence, a network that is not the best is never proved to be."""
    driver, rng = open_page(report_of(optbn.load_network("asia"))), random.Random(1)
    claimed = worse(proofs[kind])
    times = {"rows": 400, "tree": 60, "claim": 5}[kind]
    found = checked(driver, claimed, *(forged(claimed, rng) for _ in range(times)))
    assert all(isinstance(each, str) or not each[0] for each in found)
    assert any(isinstance(each, str) for each in found) or kind == "claim"


HUGE = str(10**15)  # units: more than the worse network lacks
LOW = {"row": "cluster", "members": [0, 1], "multiplier": f"-{HUGE}"}
FALSE = {"row": "subset", "members": [0, 1], "coefficients": [[0, [], 1], [1, [], 1]], "rhs": 1, "multiplier": HUGE}
BELOW = {**FALSE, "coefficients": [[0, [], -1], [0, [1], -1]], "rhs": -1}
ALWAYS = {**FALSE, "coefficients": [[0, [], 1]], "rhs": 0}


@pytest.mark.parametrize(
    "row, words",
    [
        (LOW, "multiplier is below 0"),
        (FALSE, "right side"),
        (ALWAYS, "right side"),
        (BELOW, "not above 0"),
        ({**FALSE, "coefficients": [[0, [], 1], [0, [], 2]]}, "two for one family"),
        ({**FALSE, "coefficients": [[0, [0], 1]]}, "impossible coefficient"),
        ({**FALSE, "members": list(range(13))}, "set of its variables"),
        ({"row": "cluster", "members": [], "multiplier": HUGE}, "set of its variables"),
        ({"row": "cluster", "members": [0, 0], "multiplier": HUGE}, "set of its variables"),
        ({"row": "cluster", "members": [0, 8], "multiplier": HUGE}, "set of its variables"),
        ({"row": "clause", "members": [0, 1], "multiplier": HUGE}, "is not checked here"),
        ({"row": "cluster", "members": [0, 1], "multiplier": 0.5}, "not a whole number"),
    ],
)
def test_false_rows_are_named(open_page, proofs, row, words):
    """Each of these rows would lower the bound of a network that is not the best."""
    driver, claimed = open_page(report_of(optbn.load_network("asia"))), worse(proofs["rows"])
    claimed["evidence"] = {"kind": "rows", "stages": [[row]], "denominator": 1}
    (found,) = checked(driver, claimed)
    assert isinstance(found, str) and words in found


@pytest.mark.parametrize(
    "numbers, words",
    [
        ((2, 0), "its bound is too high"),
        ((0, 2, 0, 1, 2, 1, 0, -(10**15)), "makes a multiplier negative"),
        ((1, 2, 0, 1, 0, 1, 0, 0, 5, 2, 0), "right side"),
        ((2, 1, 0, 5), "before it is defined"),
        ((0, 2, 0, 8), "strange variable"),
        ((4, 0, 0, 0, 1), "does not define"),
        ((5,), "unknown kind"),
        ((3, 0), "ends too early"),
    ],
)
def test_false_trees_are_named(open_page, proofs, numbers, words):
    driver, claimed = open_page(report_of(optbn.load_network("asia"))), worse(proofs["rows"])
    body = b"".join(map(varint, numbers))
    claimed["evidence"] = {"kind": "tree", "numbers": base64.b64encode(body).decode(), "nodes": 1, "denominator": 1}
    (found,) = checked(driver, claimed)
    assert isinstance(found, str) and words in found


def varint(number):
    """A zigzag varint, as in solvers/optbn_solvers/proofs/README.md."""
    z, found = 2 * number if number >= 0 else -2 * number - 1, bytearray()
    while z > 127:
        found.append(z & 127 | 128)
        z >>= 7
    return bytes([*found, z])


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda p: p["evidence"].update(kind="proof"), "is not checked here"),
        (lambda p: p["evidence"].update(denominator=0), "denominator"),
        (lambda p: p["evidence"].update(denominator=-1), "denominator"),
        (lambda p: p["graph"].__setitem__(0, [0]), "cycle"),
        (lambda p: p["families"][0][0].__setitem__(1, 0.5), "not a whole number"),
        (lambda p: p["families"][0].clear(), "has no families"),
        (lambda p: p["graph"].__setitem__(0, [1, 2, 3]), "none of its families"),
        (lambda p: p.update(evidence=parts([0, 1], [1, 2])), "set of its variables"),
        (lambda p: p.update(evidence=parts([])), "set of its variables"),
    ],
)
def test_mistakes_are_named(open_page, proofs, change, words):
    driver, proof = open_page(report_of(optbn.load_network("asia"))), copy.deepcopy(proofs["rows"])
    change(proof)
    (found,) = checked(driver, proof)
    assert isinstance(found, str) and words in found


def parts(*members):
    """Evidence for parts of the variables, in which there is nothing."""
    rows = {"kind": "rows", "stages": [], "denominator": 1}
    return {"kind": "parts", "parts": [{"members": each, "bound": 0, "evidence": rows} for each in members]}


def test_only_small_proofs_that_can_be_checked_are_carried(monkeypatch):
    table = optbn.score_table(optbn.load_network("asia").sample(300, 1), "bdeu", 2)
    solution = replace(solve(table, "dp"), evidence=Exhausted("dp"))
    graph = structure_of(table, solution)
    assert carried(table, solution, graph) is not None
    monkeypatch.setattr(carrying, "LARGEST_CLAIM", 7)
    assert carried(table, solution, graph) is None
    rows = solve(table, "ilp", search_nodes=0)
    assert carried(table, rows, structure_of(table, rows)) is not None
    monkeypatch.setattr(carrying, "LARGEST", 500)
    assert carried(table, rows, structure_of(table, rows)) is None
    constrained = solve(table, constraints={"max_arcs": 3})
    assert carried(table, constrained, structure_of(table, constrained)) is None
