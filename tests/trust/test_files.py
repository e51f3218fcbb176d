"""What no file may do: run code, fill the memory, nest without end, name files elsewhere."""

from __future__ import annotations

import ast
import gzip
import json
import time
import zlib
from pathlib import Path

import pytest

from optbn.base.errors import NetworkError, OptbnError
from optbn.cli import main
from optbn.network import formats
from optbn_solvers.base.errors import CheckFailed, SolverError, TableError
from optbn_solvers.base.files import read_table
from tests.fuzz.targets import TARGETS, optimum, table

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for package in ("optbn", "solvers") for path in (ROOT / package).rglob("*.py"))
BANNED = {"pickle", "shelve", "marshal", "dill", "yaml", "cloudpickle", "ctypes"}
RUNS = {"eval", "exec", "compile", "__import__"}
ASIDE = {("methods.py", "ctypes")}  # a system call: what an experiment starts ends with it


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_that_is_read_can_run(path):
    """No module that loads code with data, no eval, and numpy without its pickles."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = {alias.name.split(".")[0] for alias in node.names}
            assert not {name for name in BANNED & names if (path.name, name) not in ASIDE}
        elif isinstance(node, ast.ImportFrom):
            assert (node.module or "").split(".")[0] not in BANNED
        elif isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            assert not (isinstance(node.func, ast.Name) and name in RUNS), f"line {node.lineno}"
            assert ast.unparse(node.func) != "joblib.load"
            if name == "load" and isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "np":
                given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
                assert given.get("allow_pickle") == "False", f"line {node.lineno}"


DEEP = 200_000
NESTED = ["schema", "network", "structure", "solution", "classifier", "report", "run", "experiment"]


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize("opening", ["[", '{"a":', '{"parents":{"x":', '{"members":['])
def test_deep_nesting_is_refused(name, opening, tmp_path):
    assert not TARGETS[name].check(opening.encode() * DEEP, tmp_path)


def test_deep_xml_is_refused(tmp_path):
    assert not TARGETS["xmlbif"].check(b"<BIF>" * DEEP, tmp_path)


def test_xml_entities_are_refused(tmp_path):
    bomb = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><BIF><NETWORK><NAME>&b;</NAME></NETWORK></BIF>'
    outside = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><BIF><NETWORK><NAME>&a;</NAME></NETWORK></BIF>'
    for text in (bomb, outside):
        (tmp_path / "n.xml").write_text(text)
        with pytest.raises(NetworkError, match="entity declarations"):
            formats.read_network(tmp_path / "n.xml")


@pytest.mark.parametrize("limit", ["LARGEST", "SMALL"])
def test_a_gzip_bomb_is_refused(tmp_path, monkeypatch, limit):
    monkeypatch.setattr(formats, limit, 1 << 20)
    (tmp_path / "n.bif.gz").write_bytes(gzip.compress(b" " * (2 << 20)))
    with pytest.raises(NetworkError, match="unpacks to more than 1 MB"):
        formats.read_network(tmp_path / "n.bif.gz")


def test_a_bomb_of_a_proof_is_refused(tmp_path, monkeypatch):
    from optbn_solvers.proofs import check_proof, format

    monkeypatch.setattr(format, "LARGEST_BODY", 1 << 20)
    line = format.header_line(table(), optimum().choice, 1, 1)
    (tmp_path / "p").write_bytes(line + zlib.compress(bytes(2 << 20)))
    with pytest.raises(CheckFailed, match="unpacks to more than"):
        check_proof(table(), tmp_path / "p")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("jkl", "99999999999\nx 1\n-1 0\n"),
        ("jkl", "2\nx 999999999999\n-1 0\n"),
        ("jkl", "9" * 5000 + "\n"),
        ("bif", "network x {} variable a { type discrete [ 999999999 ] { b, c }; }"),
        ("net", "net {} node a { states = (" + '"x" ' * 50_000 + "); } potential (a) { data = (1); }"),
        (
            "network",
            json.dumps(
                {
                    "format": "optbn-network",
                    "version": 1,
                    "variables": [{"name": f"v{i}", "levels": ["a", "b"]} for i in range(60)],
                    "cpds": [{"kind": "table", "parents": [f"v{j}" for j in range(1, 60)], "rows": [[1.0, 0.0]]}] * 60,
                }
            ),
        ),
    ],
)
def test_huge_counts_take_no_memory(name, text, tmp_path):
    assert not TARGETS[name].check(text.encode(), tmp_path)


MANY = 200_000
DIGITS = "1" * MANY
ROWS = "@attribute x numeric\n@attribute y string\n@data\n"
LEVELS = ", ".join(f"l{i}" for i in range(MANY)) + f", l{MANY - 1}"
TABLE = (
    "<BIF><NETWORK><NAME>n</NAME><VARIABLE><NAME>a</NAME><OUTCOME>y</OUTCOME></VARIABLE><DEFINITION><FOR>a</FOR><TABLE>"
)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("csv", "x,y\n" + "".join(f"{i}.5,a\n" for i in range(20)) + f"{DIGITS[:100_000]}x,b\n"),
        ("arff", f"{ROWS}{DIGITS[:100_000]}x,a\n"),
        ("arff", f"{ROWS}a{' ' * 100_000}b,c,d\n"),
        ("arff", f"@attribute x{'{' * MANY}\n@data\n"),
        ("arff", f"@attribute x {{{LEVELS}}}\n@data\nl1\n"),
        ("bif", f"variable a {{ type discrete [ 2 ] {{ y, n }}; }} probability ( a ) {{ table {DIGITS}x, 0; }}"),
        ("bif", f"variable a {{ type discrete [ {MANY + 1} ] {{ {LEVELS} }}; }}"),
        ("net", f'net {{}} node a {{ states = ("y" "n"); }} potential (a) {{ data = ({DIGITS}x 1); }}'),
        ("xmlbif", f"{TABLE}{DIGITS}x</TABLE></DEFINITION></NETWORK></BIF>"),
        ("schema", '{"x": ' + json.dumps(LEVELS.split(", ")) + "}"),
        ("jkl", f"{MANY}\n" + "".join(f"v{min(i, MANY - 2)} 1\n-1 0\n" for i in range(MANY))),
    ],
    ids=lambda value: value[:20],
)
def test_the_time_to_refuse_a_file_grows_with_its_length_only(name, text, tmp_path):
    """Each of these took minutes: the file's length squared."""
    begun = time.process_time()
    assert not TARGETS[name].check(text.encode(), tmp_path)
    assert time.process_time() - begun < 10.0


def test_equal_texts_in_parquet_take_no_memory(tmp_path):
    """Some kilobytes that would be 650 MB, were each row to have a text of its own."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    import optbn

    rows = 65_536
    codes = pa.array([0] * (rows - 1) + [1], pa.int32())
    texts = pa.DictionaryArray.from_arrays(codes, pa.array(["x" * 10_000, "y"]))
    pq.write_table(pa.table({"a": texts}), tmp_path / "d.parquet", store_schema=False)
    before = pa.default_memory_pool().max_memory()
    data = optbn.read(tmp_path / "d.parquet")
    assert [len(level) for level in data.domains[0].levels] == [10_000, 1]
    assert pa.default_memory_pool().max_memory() <= max(before, 100 << 20)


@pytest.mark.parametrize("kind", ["jkl", "pss"])
def test_a_small_score_file_of_very_many_variables_is_refused(kind, tmp_path):
    """A parent set is a bit per variable: 100,000 empty ones would take 1.3 GB."""
    row = "v{0} 1\n-1 0\n" if kind == "jkl" else "VAR v{0}\n-1\n"
    text = (f"{MANY // 2}\n" if kind == "jkl" else "") + "".join(row.format(i) for i in range(MANY // 2))
    (tmp_path / f"s.{kind}").write_text(text)
    with pytest.raises(TableError, match=r"1\.3 GB"):
        read_table(tmp_path / f"s.{kind}")


def test_a_small_score_table_of_very_many_rows_is_refused(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    from optbn_solvers.base.files import write_table

    write_table(table(), tmp_path / "s.parquet")
    whole = pq.read_table(tmp_path / "s.parquet")
    zeros = pa.table([column.slice(0, 1).take(pa.array([0] * (6 << 20))) for column in whole.columns], whole.schema)
    pq.write_table(zeros, tmp_path / "s.parquet", compression="zstd")
    with pytest.raises(TableError, match="far too much for a file of its size"):
        read_table(tmp_path / "s.parquet")


def test_a_proof_is_looked_for_beside_the_answer_only(tmp_path, capsys):
    from optbn_solvers.base.files import write_table

    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    write_table(table(), inside / "s.parquet")
    main_ok("solve", inside / "s.parquet", "--proof", outside / "p.proof", "-o", inside / "a.json")
    with pytest.raises(SystemExit) as left:
        main(["verify", str(inside / "s.parquet"), str(inside / "a.json")])
    assert left.value.code == 2 and "is not beside it" in capsys.readouterr().err
    main_ok("verify", inside / "s.parquet", inside / "a.json", "--proof", outside / "p.proof")
    (inside / "p.proof").write_bytes((outside / "p.proof").read_bytes())
    (outside / "p.proof").unlink()
    main_ok("verify", inside / "s.parquet", inside / "a.json")


def main_ok(*arguments) -> None:
    with pytest.raises(SystemExit) as left:
        main([str(argument) for argument in arguments])
    assert left.value.code == 0


def test_a_cell_cannot_name_a_file_elsewhere():
    from optbn.experiments.spec import cell_name

    for value in ("../../x", "/etc/passwd", "..", "a\0b", "x" * 500, "\n"):
        name = cell_name({"a": value})
        assert "/" not in name and "\0" not in name and not name.startswith(".") and len(name) < 100


def test_errors_of_readers_are_our_own():
    assert issubclass(NetworkError, OptbnError) and issubclass(CheckFailed, SolverError)
