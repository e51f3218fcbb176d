"""`optbn fit` as it is used."""

from __future__ import annotations

import json

import numpy as np
import pytest

import optbn
from optbn.cli import main
from optbn.network.cpds import BinnedTableCPD, TableCPD, TreeCPD
from optbn.network.leaves import CategoricalLeaves, NormalLeaves
from optbn.network.network import BayesianNetwork
from optbn.network.tree import Split, Tree


def run(capfd, *arguments):
    """Exit code, stdout, stderr."""
    with pytest.raises(SystemExit) as stopped:
        main([str(a) for a in arguments])
    out = capfd.readouterr()
    return stopped.value.code or 0, out.out, out.err


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "asia.csv"
    optbn.write(optbn.load_network("asia").sample(300, 1), path)
    return path


def test_a_network_to_bif(capfd, data, tmp_path):
    how = ("--structure", "asia", "--smoother", "bdeu", "--set", "ess=5")
    code, out, err = run(capfd, "fit", data, *how, "-o", tmp_path / "m.bif")
    assert (code, err) == (0, "") and out == f"{tmp_path / 'm.bif'}: 8 variables, 8 arcs, 18 parameters\n"
    assert optbn.read_network(tmp_path / "m.bif") == optbn.fit(optbn.load_network("asia"), data, "bdeu", ess=5)


def test_json_to_stdout_and_structure_files(capfd, data, tmp_path):
    optbn.load_network("asia").structure.save(tmp_path / "learned.json")
    code, out, _ = run(capfd, "fit", data, "-S", tmp_path / "learned.json", "--smoother", "laplace")
    assert code == 0 and json.loads(out)["format"].startswith("optbn")


def test_domains_write_a_file_each(capfd, data, tmp_path):
    asia = optbn.load_network("asia")
    structure = {n: [p for p in asia.parents(n) if p != "smoke"] for n in asia.names if n != "smoke"}
    (tmp_path / "s.json").write_text(json.dumps({"format": "optbn-structure", "parents": structure}))
    code, out, _ = run(capfd, "fit", data, "-S", tmp_path / "s.json", "--domain", "smoke", "-o", tmp_path / "m.bif")
    assert code == 0 and len(out.splitlines()) == 3
    assert (tmp_path / "m.yes.bif").exists() and (tmp_path / "m.no.bif").exists()
    assert optbn.read_network(tmp_path / "m.bif").names == optbn.read_network(tmp_path / "m.yes.bif").names
    code, _, err = run(capfd, "fit", data, "-S", tmp_path / "s.json", "--domain", "smoke", "-o", tmp_path / "m.bif.gz")
    assert code == 0, err
    assert optbn.read_network(tmp_path / "m.yes.bif.gz").names == optbn.read_network(tmp_path / "m.yes.bif").names


@pytest.mark.parametrize(
    ("output", "said"), [("m.doc", "cannot tell the format"), ("none/m.bif", "there is no folder")]
)
def test_a_file_that_cannot_be_written_is_refused_before_the_work(capfd, data, tmp_path, monkeypatch, output, said):
    monkeypatch.setattr("optbn.smoothing.fitting.fitted", lambda *_, **__: pytest.fail("it fitted"))
    code, _, err = run(capfd, "fit", data, "-S", "asia", "-o", tmp_path / output)
    assert code == 2 and said in err


def test_levels_that_look_alike_in_a_file_name_keep_a_file_each(capfd, tmp_path):
    levels = ["s t", "s_t", "s/t", "s_t-2", "st"]
    rows = [f"{level},{'xy'[i % 2]}" for i in range(20) for level in levels]
    (tmp_path / "d.csv").write_text("\n".join(["from,a", *rows]))
    (tmp_path / "s.json").write_text(json.dumps({"format": "optbn-structure", "parents": {"a": []}}))
    how = ("-S", tmp_path / "s.json", "--domain", "from", "-o", tmp_path / "m.json")
    code, out, err = run(capfd, "fit", tmp_path / "d.csv", *how)
    assert code == 0 and len(out.splitlines()) == 6, err
    written = {optbn.read_network(path).name: path.name for path in tmp_path.glob("m.*.json")}
    # in the order of the levels: "s t" is before "s/t"
    assert written == {
        "s_t": "m.s_t.json", "s_t-2": "m.s_t-2.json", "st": "m.st.json", "s t": "m.s_t-3.json", "s/t": "m.s_t-4.json"
    }  # fmt: skip


def test_domains_of_several_columns(capfd, tmp_path):
    places = [("it", "Rome"), ("it", "Bari"), ("fr", "Paris"), ("it-Rome", "x")]
    rows = [f"{country},{town},{'xy'[i % 2]}" for i in range(20) for country, town in places]
    (tmp_path / "d.csv").write_text("\n".join(["country,town,a", *rows]))
    (tmp_path / "s.json").write_text(json.dumps({"format": "optbn-structure", "parents": {"a": []}}))
    how = ("-S", tmp_path / "s.json", "--domain", "country, town", "-o", tmp_path / "m.json")
    code, _, err = run(capfd, "fit", tmp_path / "d.csv", *how)
    assert code == 0, err
    assert sorted(path.name for path in tmp_path.glob("m*.json")) == [
        "m.fr-Paris.json", "m.fr.json", "m.it-Bari.json", "m.it-Rome-2.json", "m.it-Rome-x.json", "m.it-Rome.json",
        "m.it.json", "m.json",
    ]  # fmt: skip


def test_every_verb_reads_a_file_of_another_country(capfd, tmp_path):
    """Semicolons, decimal commas, latin letters, a column of ids and a mark for what is missing."""
    path, scores, model = tmp_path / "d.csv", tmp_path / "d.parquet", tmp_path / "d.json"
    rows = [f"u{i};{i % 7},5;{'ä' if i % 2 else 'o'};{'-' if i == 9 else i % 3}" for i in range(80)]
    path.write_bytes("\n".join(["id;zahl;größe;c", *rows]).encode("cp1252"))
    how = ("--encoding", "cp1252", "--decimal", ",", "--ignore", "id", "--missing-token", "-")
    assert run(capfd, "describe", path, *how)[0] == 0
    assert run(capfd, "score", path, *how, "--missing", "drop", "--score", "pcart", "-o", scores)[0] == 0
    assert run(capfd, "learn", path, *how, "--missing", "drop", "-o", model)[0] == 0
    code, out, err = run(capfd, "fit", path, *how, "--missing", "drop", "-S", model, "-o", tmp_path / "again.json")
    assert (code, err) == (0, "") and "3 variables" in out
    assert (
        "1 missing value ("
        in run(capfd, "fit", path, *how, "--missing", "refuse", "-S", model, "-o", tmp_path / "again.json")[2]
    )
    assert run(capfd, "classify", path, *how, "-t", "größe", "-m", "nb", "-o", tmp_path / "nb.json")[0] == 0
    code, out, _ = run(capfd, "predict", tmp_path / "nb.json", path, *how[:4])
    assert code == 0 and len(out.splitlines()) == 81


def test_what_bif_cannot_say_goes_to_json_with_a_warning(capfd, tmp_path):
    a, x = optbn.Dataset.from_arrays({"A": ["a", "b"] * 20, "X": np.linspace(0.5, 9.5, 40)}).domains
    tree = Tree.build([Split(0, (0,), 1, 2), 0, 1], (a,))
    real = BayesianNetwork(
        ("A", "X"), (a, x),
        (TableCPD(a, (), (), np.array([0.5, 0.5])),
         BinnedTableCPD(x, ("A",), (a,), (np.zeros(0),), NormalLeaves([1.0, 2.0], [1.0, 1.0]))),
    )  # fmt: skip
    trees = BayesianNetwork(
        ("A", "B"), (a, a),
        (real.cpds[0], TreeCPD(a, ("A",), (a,), tree, CategoricalLeaves(np.full((2, 2), 0.5)))),
    )  # fmt: skip
    for network, name in ((real, "real"), (trees, "trees")):
        optbn.write_network(network, tmp_path / f"{name}.json")
        optbn.write(network.sample(50, 1), tmp_path / f"{name}.csv")
    code, out, err = run(capfd, "fit", tmp_path / "real.csv", "-S", tmp_path / "real.json", "-o", tmp_path / "m.bif")
    assert code == 0 and "warning" in err and "'X' is real" in err and out.startswith(str(tmp_path / "m.bif.json"))
    assert isinstance(optbn.read_network(tmp_path / "m.bif.json").cpd("X").leaves, NormalLeaves)
    code, out, err = run(capfd, "fit", tmp_path / "trees.csv", "-S", tmp_path / "trees.json", "-o", tmp_path / "t.bif")
    assert code == 0 and out.startswith(str(tmp_path / "t.bif"))
    assert isinstance(optbn.read_network(tmp_path / "t.bif").cpd("B"), TableCPD)


def test_chains_that_have_not_converged_are_told(capfd, data, tmp_path):
    code, _, err = run(capfd, "fit", data, "-S", "asia", "--set", "sweeps=16", "-o", tmp_path / "m.bif")
    assert code == 0 and "have not converged" in err and "R-hat" in err


def test_the_report_holds_convergence_and_deviations(capfd, data, tmp_path):
    how = ("--report", tmp_path / "r.json", "-o", tmp_path / "m.bif")
    code, _, err = run(capfd, "fit", data, "-S", "asia", *how)
    report = json.loads((tmp_path / "r.json").read_text())
    assert (code, err) == (0, "") and report["rows"] == 300 and len(report["variables"]) == 8
    dysp = report["variables"]["dysp"]
    assert dysp["converged"] and dysp["r_hat"] <= 1.01 and len(dysp["deviations"]) == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--smoother", "hdpp"], "did you mean 'hdp'"),
        (["--set", "sweeps"], "expected NAME=VALUE"),
        (["--set", "tying=all"], "there are: level, none, same_parent, single"),
        (["--weights", "w"], "no column 'w'"),
        (["-o", "model.doc"], "cannot tell the format"),
        (["--leaves", "t"], "normal, student"),
        (["--domain", "smoke"], "--domain needs --output"),
        (["--domain", "smoke", "-o", "m.bif", "--report", "r.json"], "does not go with --domain"),
    ],
)
def test_mistakes_are_one_line(capfd, data, arguments, said):
    code, out, err = run(capfd, "fit", data, "-S", "asia", *arguments)
    assert code == 2 and out == "" and said in err and len(err.splitlines()) == 1


def test_a_structure_that_is_not_there(capfd, data):
    code, _, err = run(capfd, "fit", data, "-S", "nowhere.json")
    assert code == 2 and "nowhere.json" in err and len(err.splitlines()) == 1
