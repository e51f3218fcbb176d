"""How questions are read."""

from __future__ import annotations

import json

import pytest

import optbn
from optbn.base.errors import UnsupportedError
from optbn.cli.question import parse
from optbn.network.formats import encode
from tests.network.test_network import mixed_network


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("P(lung)", ("P", ["lung"], {}, {})),
        ("P(lung, tub | xray=yes, smoke = no )", ("P", ["lung", "tub"], {}, {"xray": "yes", "smoke": "no"})),
        ('P("a|b, c" | "x=1"="<5, 6")', ("P", ["a|b, c"], {}, {"x=1": "<5, 6"})),
        ("P(Lung Parench | Age=>65)", ("P", ["Lung Parench"], {}, {"Age": ">65"})),
        ("P(lung=yes, age>60 | 3<=x<4)", ("P", [], {"lung": "yes", "age": ">60"}, {"x": "3<=x<4"})),
        ("MPE(xray=yes)", ("MPE", [], {}, {"xray": "yes"})),
        ("MPE()", ("MPE", [], {}, {})),
        ("MPE(| xray=yes)", ("MPE", [], {}, {"xray": "yes"})),
    ],
)
def test_questions(question, expected):
    assert parse(question) == expected


@pytest.mark.parametrize(
    "question", ["", "lung", "P()", "P(lung", "P(a | b)", "P(a, | b=1)", "P(,a)", "Q(a)", "P(a|b==c)", "P(a|b=1|c=2)"]
)
def test_what_is_no_question_is_said_to_be_none(question):
    with pytest.raises(UnsupportedError, match="cannot read the question"):
        parse(question)


@pytest.fixture
def mixed(tmp_path):
    path = tmp_path / "mixed.json"
    path.write_bytes(encode(mixed_network(), "json"))
    return str(path)


def test_posteriors_and_explanations(run):
    code, out, err = run("query", "asia", "P(lung | xray=yes, smoke=yes)")
    assert (code, err) == (0, "") and "lung" in out and "0.645991" in out
    found = json.loads(run("query", "asia", "P(lung, bronc | xray=yes)", "--json")[1])
    assert len(found["posterior"]) == 4 and sum(row["probability"] for row in found["posterior"]) == pytest.approx(1)
    assert "xray = yes  (given)" in run("query", "asia", "MPE(xray=yes)")[1]
    assert json.loads(run("query", "asia", "MPE()", "--json")[1])["assignment"]["asia"] == "no"


def test_mixed_networks_are_asked_the_same_way(run, mixed):
    network = mixed_network()
    out = run("query", mixed, "P(T | A=b, X=2.5, S=1)", "--json")[1]
    expected = network.query("T", {"A": "b", "X": 2.5, "S": 1.0})
    assert [row["probability"] for row in json.loads(out)["posterior"]] == pytest.approx(expected.probabilities)
    code, out, _ = run("query", mixed, "P(S | T=y)")
    assert code == 0 and out.startswith("S: mean ") and "1.5" in out
    found = json.loads(run("query", mixed, "P(Y | S=1.2)", "--json")[1])
    assert found["mean"] == network.query("Y", {"S": 1.2}).mean and found["sd"] > 0


def test_every_variable_at_once(run, mixed):
    code, out, err = run("query", "asia", "P(* | xray=yes)")
    assert (code, err) == (0, "") and "0.488711" in out and "0.506326" in out and "xray" not in out
    network = mixed_network()
    found = json.loads(run("query", mixed, "P(* | T=y)", "--json")[1])
    assert sorted(found) == sorted(set(network.names) - {"T"})
    for name, answer in found.items():
        expected = network.query(name, {"T": "y"})
        assert [row["probability"] for row in answer["posterior"]] == pytest.approx(list(expected.probabilities))
    assert found["S"]["mean"] == pytest.approx(network.query("S", {"T": "y"}).mean)
    assert "mean" in run("query", mixed, "P(* | T=y)")[1]


def test_rows_that_fit_the_evidence(run, mixed):
    code, out, _ = run("query", "asia", "P(lung, xray | smoke=yes)", "--sample", "50")
    lines = out.splitlines()
    assert code == 0 and lines[0] == "lung,xray" and len(lines) == 51
    assert run("query", "asia", "P(lung, xray | smoke=yes)", "--sample", "50")[1] == out
    assert run("query", "asia", "P(lung, xray | smoke=yes)", "--sample", "50", "--seed", "2")[1] != out
    every = run("query", mixed, "P(* | X=1.5)", "--sample", "20")[1].splitlines()
    assert every[0] == "T,A,B,X,S,Y" and all(line.split(",")[3] == "1.5" for line in every[1:])
    assert run("query", "asia", "P(*)", "--sample", "3")[1].count("\n") == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("P(lungs)",), "no variable 'lungs' (did you mean 'lung'?)"),
        (("P(lung | xray=maybe)",), "no level of 'xray' called 'maybe'"),
        (("MPE()", "--sample", "5"), "--sample draws rows of P(...)"),
        (("P(lungs)", "--sample", "5"), "no variable 'lungs'"),
    ],
)
def test_mistakes_are_one_line(run, arguments, message):
    code, out, err = run("query", "asia", *arguments)
    assert (code, out) == (2, "") and message in err and err.count("\n") == 1


def test_in_a_pipe_no_name_is_cut(run, tmp_path):
    network = optbn.load_network("asia")
    names = tuple(f"{name} {'and so on ' * 12}end" for name in network.names)
    data = network.sample(50, 1)
    long = optbn.fit(optbn.Structure.from_arcs(names, []), optbn.Dataset(names, data.domains, data.columns), "laplace")
    optbn.write_network(long, tmp_path / "long.json")
    _, out, _ = run("query", str(tmp_path / "long.json"), "P(*)")
    assert all(name in out for name in names)


def test_intervals_from_a_file(run, tmp_path):
    path = str(tmp_path / "fitted.json")
    asia = optbn.load_network("asia")
    optbn.write_network(optbn.fit(asia, asia.sample(300, 1), "hierarchical"), path)
    code, out, _ = run("query", path, "P(lung | xray=yes)", "--interval", "0.9", "--json")
    rows = json.loads(out)["posterior"]
    assert code == 0 and all(row["low"] < row["probability"] < row["high"] for row in rows)
    code, out, _ = run("query", path, "P(* | xray=yes)", "--interval", "0.9")
    assert code == 0 and "high" in out and "bronc" in out
    for question, options, message in [
        ("MPE(xray=yes)", ["--interval", "0.9"], "without MPE"),
        ("P(lung)", ["--interval", "90"], "between 0 and 1"),
    ]:
        code, _, err = run("query", path, question, *options)
        assert code == 2 and message in err
    assert "does not say how sure it is" in run("query", "asia", "P(lung)", "--interval", "0.9")[2]


def test_dates_are_words_for_all_variables_too(run, tmp_path):
    rows = "".join(f"2021-03-{1 + i % 28:02d},{'ab'[i % 2]}\n" for i in range(84))
    (tmp_path / "d.csv").write_text("when,k\n" + rows)
    (tmp_path / "later.csv").write_text("when,k\n" + rows.replace("2021-03", "2021-06"))
    network = str(tmp_path / "d.json")
    assert run("learn", str(tmp_path / "d.csv"), "-o", network)[0] == 0
    out = run("query", network, "P(*)")[1]
    assert "2021-03-14" in out and "187" not in out
    assert run("query", network, "P(*)", "--json")[1].count("187") > 2  # numbers for machines
    out = run("describe", str(tmp_path / "d.csv"), str(tmp_path / "later.csv"))[1]
    assert "column 'when': mean 2021-03-14 12:00, then 2021-06-14 12:00" in out
