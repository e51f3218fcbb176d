"""Packed files: read as the file in them is, and refused in one line where they cannot be."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

import optbn
from optbn.base.errors import DataError

TABLE = b"x,y\n" + b"".join(b"%c,%d.5\n" % (97 + i % 3, i) for i in range(300))
ARFF = b"@relation r\n@attribute a {u, v}\n@data\nu\nv\n"


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def written(path: Path, content: bytes) -> Path:
    if path.suffix == ".zst":
        with pa.output_stream(str(path), compression="zstd") as file:
            file.write(content)
    else:
        pack = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}[path.suffix]
        path.write_bytes(pack(content))
    return path


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz", ".zst"])
@pytest.mark.parametrize(
    "name, content", [("d.csv", TABLE), ("d.arff", ARFF), ("d.csv", TABLE.decode().encode("utf-16"))]
)
def test_a_packed_file_is_read_as_the_file_in_it(tmp_path: Path, name: str, content: bytes, ending: str) -> None:
    plain = tmp_path / name
    plain.write_bytes(content)
    assert optbn.read(written(tmp_path / f"{name}{ending}", content)) == optbn.read(plain)


def test_the_one_table_of_an_archive_is_read(tmp_path: Path) -> None:
    path = zipped(tmp_path / "d.zip", {"in/d.CSV": TABLE, "about.md": b"x", "__MACOSX/._d.csv": b"\0"})
    assert optbn.read(path).n_rows == 300


def test_batches_go_through_it_as_well(tmp_path: Path) -> None:
    blocks = optbn.Dataset.batches(written(tmp_path / "d.csv.gz", TABLE), rows=64)
    assert sum(block.n_rows for block in blocks) == 300


@pytest.mark.parametrize(
    "name, content, words",
    [
        ("d.csv.gz", gzip.compress(TABLE, mtime=0)[:-50], "a damaged .gz file"),
        ("d.csv.gz", TABLE, "a damaged .gz file"),
        ("d.csv.bz2", TABLE, "a damaged .bz2 file"),
        ("d.csv.xz", lzma.compress(TABLE)[:-50], "a damaged .xz file"),
        ("d.csv.zst", TABLE, "a damaged .zst file"),
        ("d.zip", TABLE, "a damaged .zip file"),
        ("d.csv.gz", gzip.compress(b"", mtime=0), "the file is empty"),
        ("d.csv.gz", gzip.compress(b"a,b\n" + b"0,1\n" * (1 << 25)), "200 times its size; unpack it first"),
        ("d.gz", gzip.compress(TABLE, mtime=0), "expected one of .csv.gz"),
        ("d.parquet.gz", gzip.compress(TABLE, mtime=0), "expected one of .csv.gz"),
        ("d.csv", gzip.compress(TABLE, mtime=0), "give it the ending .csv.gz"),
    ],
)
def test_others_are_refused(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"^[^\n]*$") as refusal:
        optbn.read(path)
    assert str(path) in str(refusal.value) and words in str(refusal.value)


def test_archives_without_one_table_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"2 tables are in it \(a.csv, b.tsv\); unpack the one to read"):
        optbn.read(zipped(tmp_path / "d.zip", {"a.csv": TABLE, "b.tsv": TABLE}))
    with pytest.raises(DataError, match="none of its files is a table in a text format"):
        optbn.read(zipped(tmp_path / "e.zip", {"a.png": b"x"}))
    with pytest.raises(DataError, match="parquet is not read from a packed file"):
        optbn.read(written(tmp_path / "d.csv.gz", TABLE), format="parquet")
