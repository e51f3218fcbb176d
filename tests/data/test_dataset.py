"""The Dataset itself: checked once, never changed, cheap to cut."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import optbn
from optbn.base.errors import DataError, UnknownNameError
from optbn.data.arrays import code_dtype
from optbn.data.dataset import Categorical, Dataset, Real
from optbn.data.schema import Schema


def small(n: int = 6) -> Dataset:
    rng = np.random.default_rng(n)
    return Dataset(
        ("a", "b", "x"),
        (Categorical(("u", "v")), Categorical(("1", "2", "3"), ordered=True), Real(0, 1)),
        (rng.integers(2, size=n).astype(np.uint8), rng.integers(3, size=n).astype(np.uint8), rng.random(n)),
    )


def same_column(data: Dataset, other: Dataset, name: str) -> bool:
    return np.shares_memory(data.column(name), other.column(name))


def test_what_it_says_about_itself() -> None:
    data = small()
    assert (data.n_rows, data.n_variables, len(data), data.cardinalities) == (6, 3, 6, (2, 3, 0))
    assert data.index("x") == 2 and data.domain("b").ordered
    assert repr(data) == "Dataset(6 rows, 2 categorical and 1 real columns)"
    with pytest.raises(UnknownNameError, match="no column 'y'"):
        data.column("y")


def test_selecting_and_slicing_share_memory() -> None:
    data = small()
    chosen = data.select(["x", "a"])
    assert chosen.names == ("x", "a") and chosen.n_rows == 6
    assert same_column(data, chosen, "a")
    part = data.take(slice(1, 5, 2))
    assert part.n_rows == 2 and same_column(data, part, "x")
    np.testing.assert_array_equal(part.column("x"), data.column("x")[1:5:2])
    assert data.select([]).n_rows == 6
    with pytest.raises(DataError, match="column 'a' is selected twice"):
        data.select(["a", "a"])


@pytest.mark.parametrize("seed", range(20))
def test_cuts_of_cuts_are_cuts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = small(50)
    whole = np.arange(50)
    for _ in range(4):
        n = data.n_rows
        kind = rng.integers(4)
        rows: Any
        if kind == 0:
            start, stop, step = (*rng.integers(-n, n + 1, size=2).tolist(), int(rng.choice([1, 2, -1])))
            rows = slice(start, stop, step)
        elif kind == 1:
            rows = rng.integers(-n, n, size=int(rng.integers(1, 2 * n + 1))) if n else np.empty(0, dtype=int)
        elif kind == 2:
            rows = rng.random(n) < 0.7
        else:
            rows = np.arange(n, dtype=np.uint16)
        data, whole = data.take(rows), whole[rows]
        if rng.random() < 0.3:
            data = data.select(list(rng.permutation(data.names)))
        assert data.n_rows == len(whole)
    for name in data.names:
        np.testing.assert_array_equal(data.column(name), small(50).column(name)[whole])
    assert pickle.loads(pickle.dumps(data)) == data
    assert data.domain("b") == small(50).domain("b")


def test_rows_are_copied_only_when_used() -> None:
    data = small(1000)
    part = data.take(np.arange(999, -1, -1))
    assert not part.columns._made  # type: ignore[attr-defined]
    assert part.column("a") is part.column("a")
    assert len(part.columns._made) == 1  # type: ignore[attr-defined]
    assert [len(column) for column in part.columns] == [1000] * 3


@pytest.mark.parametrize("rows", [[0, 6], [-7], [0.5], [[0]], [True, False]])
def test_rows_that_do_not_exist(rows: Any) -> None:
    with pytest.raises(DataError):
        small().take(np.array(rows))


def test_nothing_can_be_changed() -> None:
    for data in (small(), small().take(slice(2)), small().take(np.array([1])), pickle.loads(pickle.dumps(small()))):
        for column in data.columns:
            with pytest.raises(ValueError, match="read-only"):
                column[0] = 0
        with pytest.raises(AttributeError):
            data.names = ()  # type: ignore[misc]


def test_the_array_given_stays_the_callers() -> None:
    array = np.zeros(3, dtype=np.uint8)
    Dataset(("a",), (Categorical(("u",)),), (array,))
    array[0] = 0


def test_equal_content_is_equal() -> None:
    assert small() == small() and hash(small()) == hash(small()) and small().digest == small().digest
    assert small().take(np.arange(6)) == small()
    different = [small(7), small().select(["a", "b"]), small().take(np.arange(5, -1, -1))]
    a, b, x = small().columns
    different.append(Dataset(("a", "b", "x"), (Categorical(("v", "u")), *small().domains[1:]), (a, b, x)))
    different.append(Dataset(("a", "b", "x"), (*small().domains[:2], Real(0, 2)), (a, b, x)))
    assert len({*different, small()}) == len(different) + 1


def test_numbers_of_numpy_make_the_same_digest() -> None:
    values = np.array([0.0, 1.0])
    plain = Dataset(("x",), (Real(0, 1),), (values,))
    assert Dataset(("x",), (Real(np.float64(-0.0), np.float64(1)),), (values,)).digest == plain.digest


@pytest.mark.parametrize(
    ("domain", "column", "message"),
    [
        (Categorical(("u", "v")), np.array([0, 2], np.uint8), "column 'a', row 2: code 2 but 2 levels are declared"),
        (Categorical(("u", "v")), np.array([0, 1]), "codes of type int64, expected uint8"),
        (Real(0, 1), np.array([0, np.nan]), "column 'a', row 2: nan is not a finite number"),
        (Real(0, 1), np.array([0, 1.5]), r"column 'a', row 2: 1.5 is outside the declared range \[0.0, 1.0\]"),
        (Real(0, 1), np.array([0, 1]), "values of type int64, expected float64"),
        (Real(0, 1), np.zeros((2, 2)), "expected a one-dimensional array"),
    ],
)
def test_values_outside_their_domain(domain: Any, column: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Dataset(("a",), (domain,), (column,))


def test_parts_that_do_not_fit() -> None:
    zero = np.zeros(2, dtype=np.uint8)
    with pytest.raises(DataError, match="2 names, 1 domains and 1 columns"):
        Dataset(("a", "b"), (Categorical(("u",)),), (zero,))
    with pytest.raises(DataError, match="column 'a' is named twice"):
        Dataset(("a", "a"), (Categorical(("u",)),) * 2, (zero, zero))
    with pytest.raises(DataError, match="different lengths"):
        Dataset(("a", "b"), (Categorical(("u",)),) * 2, (zero, zero[:1]))
    with pytest.raises(DataError, match="level 'u' is declared twice"):
        Categorical(("u", "u"))
    with pytest.raises(DataError, match="not a finite range"):
        Real(1, 0)


def test_from_arrays() -> None:
    data = Dataset.from_arrays(
        {"i": [2, 0, 1], "x": [0.5, 1, 2], "s": ["b", "a", "b"], "t": np.array([True, False, True])}
    )
    assert data.domains == (
        Categorical(("0", "1", "2")),
        Real(0.5, 2),
        Categorical(("a", "b")),
        Categorical(("false", "true")),
    )
    np.testing.assert_array_equal(data.column("i"), [2, 0, 1])
    matrix = np.array([[0, 1], [1, 1], [2, 0]])
    assert Dataset.from_arrays(matrix).names == ("X1", "X2")
    assert Dataset.from_arrays(matrix, ["u", "v"], {"u": "real"}).domain("u") == Real(0, 2)
    assert Dataset.from_arrays({"x": [1.0, np.nan]}, missing="drop").n_rows == 1
    assert Dataset.from_arrays(np.array([[1, "a"], [None, "b"]], dtype=object), missing="as_level").cardinalities == (
        2,
        2,
    )
    for wrong in (np.zeros(3), {"a": [1, 2], "b": [1]}, {"a": [[1]]}, {"a": [1, "x"], "b": [object(), 1]}, {"a": 5}):
        with pytest.raises(DataError):
            Dataset.from_arrays(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_data_frames_there_and_back(library: str) -> None:
    if library != "pyarrow":
        pytest.importorskip(library)
    data = small(40)
    frame = data.to_frame(library)
    back = Dataset.from_frame(frame, data.schema)
    assert back == data
    again = Dataset.from_frame(frame)
    assert again.cardinalities == data.cardinalities
    assert [d.levels for d in again.domains[:2]] == [d.levels for d in data.domains[:2]]


def test_data_frames_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "c": pandas.Categorical(["b", "a", None], categories=["z", "b", "a"], ordered=True),
            "i": [1, 2, 1],
            "s": ["x", None, "y"],
            "x": [1.5, float("nan"), 2.5],
        }
    )
    with pytest.raises(DataError, match=r"3 missing values \('c' 1, 's' 1, 'x' 1\)"):
        Dataset.from_frame(frame)
    data = Dataset.from_frame(frame, missing={"c": "as_level", "s": "as_level", "x": "impute"})
    assert data.domain("c") == Categorical(("z", "b", "a", "missing"), ordered=True)
    assert data.domain("i") == Categorical(("1", "2"))
    np.testing.assert_array_equal(data.column("c"), [1, 2, 3])
    np.testing.assert_array_equal(data.column("x"), [1.5, 2, 2.5])


def test_row_labels_of_pandas_are_no_column(tmp_path: Any, caplog: pytest.LogCaptureFixture) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [3, 1, 2], "b": ["x", "y", "z"]})
    some = frame.iloc[[2, 0]]  # what sampling, splitting and dropping rows leave
    labelled = frame.set_axis(pandas.Index(["p", "q", "r"], name="id"))
    twice = frame.set_axis(pandas.MultiIndex.from_tuples([(0, 1), (0, 2), (1, 1)]))
    for given in (some, labelled, twice):
        assert Dataset.from_frame(given).names == ("a", "b")
        given.to_parquet(tmp_path / "d.parquet")
        assert optbn.read(tmp_path / "d.parquet").names == ("a", "b")
        table = pa.Table.from_pandas(given)
        with pa.ipc.new_file(tmp_path / "d.arrow", table.schema) as file:
            file.write_table(table)
        assert optbn.read(tmp_path / "d.arrow") == optbn.read(tmp_path / "d.parquet")
    np.testing.assert_array_equal(Dataset.from_frame(some).column("b"), [1, 0])
    assert {r.getMessage().partition(": ")[2] for r in caplog.records} == {
        "id: row labels of pandas, not read as a column (reset_index makes them one)"
    }
    for wrong, message in (
        (pandas.DataFrame({"a": [["x"], 1]}), "the data frame: .*column a"),
        (pandas.DataFrame([[1, 2]], columns=["a", "a"]), "the data frame: 2 columns are named 'a'"),
    ):
        with pytest.raises(DataError, match=message):
            Dataset.from_frame(wrong)


def test_masked_arrays_have_missing_values() -> None:
    masked = np.ma.MaskedArray([1.5, 2.5, 3.5], [False, True, False])
    with pytest.raises(DataError, match="1 missing value"):
        Dataset.from_arrays({"x": masked})
    np.testing.assert_array_equal(Dataset.from_arrays({"x": masked}, missing="drop").column("x"), [1.5, 3.5])
    assert Dataset.from_arrays(np.ma.stack([masked, masked], axis=1), missing="impute").domain("X2") == Real(1.5, 3.5)


def test_data_frames_of_polars() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(
        {"e": polars.Series(["b", "a"], dtype=polars.Enum(["z", "b", "a"])), "s": ["?", "NA"], "b": [True, False]}
    )
    for given in (frame, frame.lazy()):
        data = Dataset.from_frame(given)
        assert data.domain("e") == Categorical(("z", "b", "a"))
        assert data.domain("s") == Categorical(("?", "NA"))
        assert data.domain("b") == Categorical(("false", "true"))


def test_what_is_no_data_frame() -> None:
    with pytest.raises(DataError, match="a dict is not a data frame"):
        Dataset.from_frame({"a": [1]})
    with pytest.raises(UnknownNameError, match=r"no data frame library 'panda' \(did you mean 'pandas'"):
        small().to_frame("panda")


def test_schemas_survive_json(tmp_path: Any) -> None:
    schema = small().schema
    path = tmp_path / "s.json"
    schema.save(path)
    assert path.read_text() == (
        '{\n  "a": ["u", "v"],\n  "b": {"ordinal": ["1", "2", "3"]},\n  "x": {"real": [0.0, 1.0]}\n}\n'
    )
    assert Schema.of(path) == schema == Schema.of(schema.columns)
    kinds = Schema({"a": "real", "é\n": "categorical", "i": "ignore"})
    kinds.save(path)
    assert Schema.of(str(path)) == kinds


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "line 1, column 2: .*; expected JSON"),
        ("[]", "expected a JSON object"),
        ('{"a": "real", "a": "real"}', "column 'a' is declared twice"),
        ('{"a": []}', "no levels are declared"),
        ('{"a": ["x", "x"]}', "level 'x' is declared twice"),
        ('{"a": [1.5]}', "level 1.5 is not a text"),
        ('{"a": {"real": [1, 0]}}', "not a finite range"),
        ('{"a": {"real": [0]}}', "is not a declaration"),
        ('{"a": {"ordinal": ["x"], "real": [0, 1]}}', "is not a declaration"),
        ('{"a": null}', "None is not a declaration"),
        ("\xff", "not valid UTF-8"),
    ],
)
def test_schemas_that_are_none(tmp_path: Any, text: str, message: str) -> None:
    path = tmp_path / "s.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(DataError, match=message) as caught:
        Schema.of(path)
    assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)


@pytest.mark.parametrize("levels", [1, 128, 129, 256, 257, 32_768, 32_769, 65_537])
def test_codes_in_arrow_have_a_sign(levels):
    """Few programs take dictionaries with others, and the first and last code say whether they fit."""
    column = np.array([0, levels - 1, levels // 2])
    domain = Categorical(tuple(map(str, range(levels))))
    data = Dataset(("a",), (domain,), (column.astype(code_dtype(levels)),))
    array = data.to_arrow()["a"].chunk(0)
    assert pa.types.is_signed_integer(array.indices.type)
    assert array.to_pylist() == [str(code) for code in column]
    assert data.digest == Dataset.from_frame(data.to_arrow()).digest
