"""Score files: what is read, what is refused and where, and that nothing is lost on the way."""

import numpy as np
import pytest

from optbn_solvers import ScoreTable
from optbn_solvers.base.errors import TableError
from optbn_solvers.base.files import read_rows, read_table, write_table
from optbn_solvers.base.files.native import read_about
from tests.naive import phase1 as naive
from tests.paths import shared_data, shared_neighbour

GOOD = "3\nA 2\n-1.5 0\n-1.25 2 B C\nB 1\n-2e0 0\nC 1\n-3 1 A\n"


def random_table(rng, n, rows):
    words = -(-n // 64)
    children = rng.integers(0, n, rows)
    children[:n] = np.arange(n)
    masks = rng.integers(0, 1 << 63, (rows, words), dtype=np.uint64) & rng.integers(
        0, 1 << 63, (rows, words), dtype=np.uint64
    )
    masks[np.arange(rows), children // 64] &= ~(np.uint64(1) << (children % 64).astype(np.uint64))
    if n % 64:
        masks[:, -1] &= np.uint64((1 << n % 64) - 1)
    _, first = np.unique(np.column_stack([children.astype(np.uint64), masks]), axis=0, return_index=True)
    scores = -rng.gamma(2.0, 1000.0, len(first))
    return ScoreTable.build([f"x{v}" for v in range(n)], children[first], masks[first], scores)


def test_reading():
    table = ScoreTable.from_dict({"A": {(): -1.5, ("B", "C"): -1.25}, "B": {(): -2.0}, "C": {("A",): -3.0}})
    for text in (GOOD, GOOD.replace("\n", "\r\n"), "\n" + GOOD.replace("\n", " \n\n"), "\ufeff" + GOOD, GOOD[:-1]):
        assert read_jkl(text) == table
    assert naive.read_jkl(GOOD) == {("A", ()): -1.5, ("A", ("B", "C")): -1.25, ("B", ()): -2.0, ("C", ("A",)): -3.0}


def read_jkl(text):
    from optbn_solvers.base.files.jkl import read

    return read(text.encode(), "x.jkl").table()


@pytest.mark.twin
@pytest.mark.parametrize("seed", range(4))
def test_round_trips(tmp_path, seed):
    rng = np.random.default_rng(seed)
    table = random_table(rng, int(rng.choice([3, 20, 64, 65, 130])), 400)
    for name in ("t.jkl", "t.jaa", "t.parquet"):
        write_table(table, tmp_path / name, about={"score": "test", "schema": {"x0": ["a", "b"]}})
        rows = read_rows(tmp_path / name)
        assert rows.names == table.names
        assert (rows.scores == table.scores).all()
        assert (rows.masks == table.masks).all()
        assert (rows.children == table.children).all()
    assert read_table(tmp_path / "t.parquet") == table
    sets = {} if table.whole is None else {"sets": "undominated"}
    assert read_about(tmp_path / "t.parquet") == {"score": "test", "schema": {"x0": ["a", "b"]}, **sets}
    text = (tmp_path / "t.jkl").read_text()
    twin = naive.read_jkl(text)
    assert len(twin) == len(table)
    for row in range(len(table)):
        names = tuple(table.names[u] for u in table.parents(row))
        assert twin[table.names[table.children[row]], names] == table.scores[row]
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("-1.5 0", "nan 0", "line 3: the score is nan"),
        ("-1.5 0", "-inf 0", "line 3: the score is -inf"),
        ("-1.5 0", "-1e999 0", "line 3: the score is too large"),
        ("-1.5 0", "-1..5 0", "line 3: expected a score .*'A'.* found '-1..5'"),
        ("-1.5 0", "-1.5", "line 3: expected the number of parents after the score, found 'nothing'"),
        ("-1.5 0", "-1.5 x", "line 3: expected the number of parents after the score, found 'x'"),
        ("2 B C", "2 B", "line 4: 2 parents are announced, 1 are listed"),
        ("2 B C", "1 B C", "line 4: 1 parents are announced, 2 are listed"),
        ("2 B C", "2 B D", "line 4: 'A' has an unknown parent 'D'"),
        ("2 B C", "2 B A", "line 4: 'A' is listed as a parent of itself"),
        ("2 B C", "2 B B", "line 4: 'A' has the parent 'B' twice"),
        ("A 2", "A 3", "line 6: expected 'name count' .*3 parent sets that 'A' announces"),
        ("B 1", "B 3", "3 variables are announced, the file ends after 2"),
        ("A 2", "A 1", "line 4: expected 'name count' of the next variable .*1 parent sets that 'A' announces"),
        ("B 1", "B 0", "line 6: expected 'name count' .*0 parent sets that 'B' announces"),
        ("C 1", "C 9", "line 7: 'C' announces 9 parent sets, the file holds 1 more"),
        ("3\nA", "4\nA", "4 variables are announced, the file ends after 3"),
        ("3\nA", "2\nA", "line 7: all 2 variables are complete, but the file goes on"),
        ("3\nA", "x\nA", "line 1: expected the number of variables, found 'x'"),
        ("C 1", "A 1", "variable 'A' appears twice"),
        (GOOD, "", "the file is empty"),
        ("C 1\n-3 1 A\n", "C 0\n", "'C' has no candidate parent set"),
        ("-1.25 2 B C", "-1.25 0", "'A' has two different scores"),
    ],
)
def test_bad_files_are_refused_with_the_line(tmp_path, old, new, message):
    assert old in GOOD
    path = tmp_path / "bad.jkl"
    path.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(TableError, match=message) as caught:
        read_table(path)
    assert str(caught.value).startswith(str(path))


def test_random_damage_is_never_more_than_a_table_error(tmp_path):
    rng = np.random.default_rng(5)
    path = tmp_path / "x.jkl"
    for _ in range(400):
        text = bytearray(GOOD.encode())
        for _ in range(int(rng.integers(1, 4))):
            at = int(rng.integers(len(text)))
            text[at : at + int(rng.integers(3))] = bytes(rng.integers(0, 256, int(rng.integers(3))).tolist())
        path.write_bytes(text)
        try:
            table = read_table(path)
        except TableError:
            continue
        assert np.isfinite(table.scores).all()


def test_pss(tmp_path):
    path = tmp_path / "x.pss"
    path.write_text(
        "META pss_version = 0.1\n\nVAR A\nMETA arity=2\n-1.5 \n-1.25 B C\n\nVAR B\n-2\n\nVAR C\n# c\n-3 A\n"
    )
    assert read_table(path) == read_jkl(GOOD)
    for text, message in (
        ("VAR A\n-1 A\n", "line 2: 'A' is listed as a parent of itself"),
        ("-1\nVAR A\n", "line 1: a score before the first"),
        ("VAR A\nfoo\n", "line 2: expected 'VAR name'"),
        ("", "no variable"),
    ):
        path.write_text(text)
        with pytest.raises(TableError, match=message):
            read_table(path)


def test_native_files_are_checked(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = random_table(np.random.default_rng(6), 5, 60)
    path = tmp_path / "t.parquet"
    write_table(table, path)
    content = pq.read_table(path)
    changed = content.set_column(2, "score", pa.array(content["score"].to_numpy() - 1.0))
    pq.write_table(changed.replace_schema_metadata(content.schema.metadata), path)
    with pytest.raises(TableError, match="digest differs"):
        read_table(path)
    changed = content.set_column(0, "child", pa.array(content["child"].to_numpy() + 3, pa.int32()))
    pq.write_table(changed.replace_schema_metadata(content.schema.metadata), path)
    with pytest.raises(TableError, match="beyond the 5 of the file"):
        read_table(path)
    pq.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(TableError, match="not a score table"):
        read_table(path)
    path.write_bytes(b"nonsense")
    with pytest.raises(TableError, match="not a parquet file"):
        read_table(path)


def test_kinds_of_files(tmp_path):
    table = random_table(np.random.default_rng(7), 3, 10)
    with pytest.raises(TableError, match=r"cannot write score files of kind 'csv'; the kinds are \.jkl, \.jaa"):
        write_table(table, tmp_path / "x.csv")
    with pytest.raises(TableError, match="cannot read score files of kind ''"):
        read_table(tmp_path / "x")
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "none.jkl")
    spaced = ScoreTable.from_dict({"a b": {(): -1.0}})
    with pytest.raises(TableError, match="white space"):
        write_table(spaced, tmp_path / "x.jkl")
    write_table(spaced, tmp_path / "x.parquet")
    assert read_table(tmp_path / "x.parquet") == spaced


@pytest.mark.parametrize("name", ["alarm_1000.jaa", "Mildew_100.jaa", "hailfinder_1000.jaa"])
def test_published_files(name):
    import json

    facts = {f["file"]: f for f in json.loads(shared_data("localscores", "localscores.json").read_text())["instances"]}
    rows = read_rows(shared_data("localscores", name))
    assert len(rows) == facts[name]["candidate_parent_sets"]
    best = [rows.scores[rows.children == v].max() for v in range(len(rows.names))]
    assert sum(best) == pytest.approx(facts[name]["upper_bound_ignoring_acyclicity"], rel=1e-12)


def test_a_large_file_reads_fast():
    import time

    path = shared_neighbour("golden", "solver", "steel_bic_p4.jkl")
    read_rows(path)
    start = time.process_time()
    rows = read_rows(path)
    assert len(rows) == 84231
    assert time.process_time() - start < 1.0
