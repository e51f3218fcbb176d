"""The solvers inside another program: alone, beside a stranger's `solvers`, on a disk that cannot be written to."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numba.core.caching
import numpy as np
import pytest

from optbn_solvers import Constraints, ScoreTable, solve
from optbn_solvers.base import compiled
from optbn_solvers.base.errors import TableError
from optbn_solvers.base.files import write_table

ROOT = Path(__file__).parents[2]
FAMILIES = {"a": {(): -5.0, ("b",): -3.0}, "b": {(): -4.0, ("a",): -2.5, ("a", "c"): -3.0}, "c": {(): -1.0}}
NEEDED = ("numpy", "numba", "scipy", "highspy", "pyscipopt", "python-sat")


def python(code: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script that lies in a folder."""
    (folder / "script.py").write_text(code)
    return subprocess.run(
        [sys.executable, str(folder / "script.py")],
        env={**os.environ, **environment},
        cwd=folder,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("solver", ["auto", "ilp", "maxsat"])
def test_tables_in_every_form(tmp_path, solver):
    table = ScoreTable.from_dict(FAMILIES)
    path = tmp_path / "scores.jkl"
    write_table(table, path)
    arrays = (table.names, table.children, table.masks, table.scores)
    answers = [solve(source, solver) for source in (table, path, str(path), FAMILIES, arrays)]
    assert {each.table_digest for each in answers} == {table.digest}
    assert {each.score for each in answers} == {-8.0}
    with pytest.raises(TableError, match=r"a int is no score table: expected a ScoreTable"):
        solve(3)


def test_under_constraints_names_keep_their_dominated_sets():
    found = solve(FAMILIES, constraints=Constraints(required=[("c", "b")]))
    assert found.score == -9.0


def test_alone_it_needs_its_own_libraries_only(tmp_path):
    described = tomllib.loads((ROOT / "solvers" / "pyproject.toml").read_text())["project"]
    assert [each.split(">")[0] for each in described["dependencies"]] == list(NEEDED)
    whole = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(described["dependencies"]) <= set(whole["dependencies"]) and described["version"] == whole["version"]
    ended = python(
        f"""
import sys
for name in ("optbn", "pyarrow", "sklearn", "msgspec", "networkx", "narwhals", "pandas", "typer", "rich"):
    sys.modules[name] = None  # an import of it raises
sys.path.insert(0, {str(ROOT / "solvers")!r})
from optbn_solvers import SOLVERS, solve
for name in SOLVERS:
    print(name, solve({FAMILIES!r}, name, **({{"seconds": 0.1}} if name == "greedy" else {{}})).score)
""",
        tmp_path,
    )
    assert ended.returncode == 0, ended.stderr
    assert [line.split()[1] for line in ended.stdout.splitlines()] == ["-8.0"] * 7


def test_a_strangers_solvers_beside_the_script(tmp_path):
    (tmp_path / "solvers.py").write_text("raise RuntimeError('somebody else')\n")
    (tmp_path / "solvers").mkdir()
    (tmp_path / "solvers" / "__init__.py").write_text("raise RuntimeError('somebody else')\n")
    code = f"import optbn\nfrom optbn_solvers import solve\nprint(solve({FAMILIES!r}, 'dp').score, optbn.solve)"
    ended = python(code, tmp_path)
    assert ended.returncode == 0 and ended.stdout.startswith("-8.0"), ended.stderr


@pytest.mark.parametrize("folder", ["there", "none"])
def test_without_a_place_for_compiled_code(tmp_path, monkeypatch, caplog, folder):
    """As on a disk that is read-only: numba finds no place of its own."""
    own = numba.core.caching.UserProvidedCacheLocator
    monkeypatch.setattr(numba.core.caching.CacheImpl, "_locator_classes", [own])
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    place = tmp_path if folder == "there" else tmp_path / "none"
    monkeypatch.setattr(compiled.tempfile, "gettempdir", lambda: str(place))
    compiled._fallback.cache_clear()
    try:
        with caplog.at_level(logging.WARNING, "optbn_solvers"):
            one = compiled.kernel(lambda x: x + 1)
            two = compiled.leaf(lambda x: x + 2)
    finally:
        compiled._fallback.cache_clear()
    assert (one(1), two(1)) == (2, 3)
    assert len(caplog.records) == 1 and "can be written to" in caplog.text
    assert numba.config.CACHE_DIR == ""
    assert bool(list(tmp_path.rglob("*.nbi"))) == (folder == "there")


def test_a_folder_of_somebody_else_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(compiled.tempfile, "gettempdir", lambda: str(tmp_path))
    (tmp_path / f"optbn-compiled-{os.getuid()}").mkdir(mode=0o777)
    (tmp_path / f"optbn-compiled-{os.getuid()}").chmod(0o777)
    compiled._fallback.cache_clear()
    try:
        assert compiled._fallback() is None
    finally:
        compiled._fallback.cache_clear()


def test_the_log_has_start_improvements_and_end(caplog):
    table = ScoreTable.from_dict(FAMILIES)
    with caplog.at_level(logging.DEBUG, "optbn_solvers"):
        solve(table, "dp")
    levels = [record.levelname for record in caplog.records if record.name == "optbn_solvers"]
    assert levels[0] == levels[-1] == "INFO" and "DEBUG" in levels
    assert "dp: 3 variables" in caplog.text and "optimal" in caplog.text


def test_read_only_arrays_are_taken():
    table = ScoreTable.from_dict(FAMILIES)
    scores = np.array(table.scores)
    scores.setflags(write=False)
    assert solve((table.names, table.children, table.masks, scores), "dp").score == -8.0
