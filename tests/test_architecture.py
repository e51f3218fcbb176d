"""The architecture keeps itself: imports run one way, the core stays cheap to import, the library does not print."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("optbn", "solvers")
HEAVY = ("numba", "scipy", "sklearn", "pandas", "pyarrow", "highspy", "pyscipopt", "pysat", "networkx", "narwhals")


def modules() -> list[Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    """The modules a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module


def test_solvers_never_import_optbn():
    wrong = [
        (path.relative_to(ROOT), name)
        for path in (ROOT / "solvers").rglob("*.py")
        for name in imports(path)
        if name.split(".")[0] == "optbn"
    ]
    assert not wrong


def test_nothing_shipped_imports_the_tests():
    assert not [(path, name) for path in modules() for name in imports(path) if name.split(".")[0] == "tests"]


def test_the_checker_shares_nothing_with_the_solvers():
    allowed = {"table", "solution", "errors", "protocol", "proofs", "verify", "rules", "constraints"}
    seen, queue = set(), ["optbn_solvers.verify.checker"]
    while queue:
        name = queue.pop()
        path = ROOT / Path(*name.split("."))
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if name in seen or not path.exists():
            continue
        seen.add(name)
        for used in imports(path):
            if used.startswith("solvers.") and name != "optbn_solvers.base.table":
                assert used.split(".")[1] in allowed, f"{name} imports {used}"
                queue.append(used)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_opens_with_its_idea(path):
    tree = ast.parse(path.read_text())
    assert not tree.body or ast.get_docstring(tree), f"{path.relative_to(ROOT)} has no header"


@pytest.mark.parametrize("package", PACKAGES)
def test_importing_is_cheap(package):
    code = f"import sys, {package}; print([m for m in {HEAVY!r} if m in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    allowed = {"numba", "scipy"} if package == "solvers" else set()  # numba brings scipy with it
    assert set(ast.literal_eval(loaded)) <= allowed
