"""A new score, solver, smoother and format are one file and one line each: in a copy of the tree the conformance tests
pass for them, and help, completion and documentation list them with nothing updated by hand."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent

# What is added: the file, where it goes, the module with the registry, the line there, the conformance tests.
ADDED = {
    "score": (
        "optbn/scores/toy.py", "optbn/scores/__init__.py", "SCORES: dict[str, str] = {",
        '"toy": "optbn.scores.toy:Toy",', ["tests/phase1/test_scores.py", "tests/scale/test_bounds.py"],
    ),
    "solver": (
        "solvers/optbn_solvers/methods/toy.py", "solvers/optbn_solvers/front/registry.py",
        "SOLVERS: dict[str, str] = {", '"toy": "optbn_solvers.methods.toy:Toy",',
        [f"tests/solvers/test_{name}.py" for name in ("conformance", "constraints", "start", "checked")],
    ),
    "smoother": (
        "optbn/smoothing/toy.py", "optbn/smoothing/__init__.py", "SMOOTHERS: dict[str, str] = {",
        '"toy": "optbn.smoothing.toy:Toy",', ["tests/smoothing/test_smoothers.py"],
    ),
    "format": (
        "optbn/network/formats/toy.py", "optbn/network/formats/__init__.py",
        "FORMATS: dict[str, tuple[str, ...]] = {", '"toy": ("optbn.network.formats.toy", ".toy"),',
        ["tests/network/test_formats.py"],
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    """A copy of the packages and the tests, compiled kernels included, with the four additions."""
    copy = tmp_path_factory.mktemp("extended")
    for folder in ("optbn", "solvers", "tests"):
        shutil.copytree(ROOT / folder, copy / folder, copy_function=shutil.copy2)
    for name in ("networks", "docs", "pyproject.toml"):
        (copy / name).symlink_to(ROOT / name)
    for kind, (file, registry, opening, line, _) in ADDED.items():
        shutil.copy(HERE / f"{kind}.py", copy / file)
        text = (copy / registry).read_text()
        assert text.count(opening) == 1
        (copy / registry).write_text(text.replace(opening, f"{opening}\n    {line}"))
    return copy


def run(tree: Path, *command: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(tree), str(tree / "solvers")])
    environment = {**os.environ, "PYTHONPATH": path, "PYTEST_ADDOPTS": "-p no:cacheprovider"}
    environment = {name: value for name, value in environment.items() if not name.startswith("PYTEST_XDIST")}
    return subprocess.run([sys.executable, *command], cwd=tree, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("kind", ADDED)
def test_conformance_comes_free(tree, kind):
    done = run(tree, "-m", "pytest", "-v", "-x", "-n", "0", "-k", "toy", *ADDED[kind][4])
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout[-3000:] + done.stderr[-1000:]


def test_the_tree_is_the_copy_and_help_lists_what_was_added(tree):
    where = run(tree, "-c", "import optbn, optbn_solvers; print(optbn.__file__, optbn_solvers.__file__)").stdout.split()
    assert [Path(each).is_relative_to(tree) for each in where] == [True, True]
    code = "from optbn.base.options import table; print(table('learn'))"
    text = run(tree, "-c", code).stdout
    for option in ("score", "solver", "smoother", "output"):
        (line,) = [line for line in text.splitlines() if line.startswith(f"| `--{option}")]
        assert "toy" in line, line
