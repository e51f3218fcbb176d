"""The architecture keeps itself: imports run one way, the core stays cheap to import, the library does not print."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import house
from tests.house import PACKAGES, ROOT

HEAVY = (
    "numba",
    "scipy",
    "sklearn",
    "pandas",
    "pyarrow",
    "highspy",
    "pyscipopt",
    "pysat",
    "networkx",
    "narwhals",
    "flint",
)

# From the cellar to the front door: a room imports from the floors below its own, and from no room beside it.
FLOORS = {
    "optbn": [
        {"base"},
        {"data"},
        {"network"},
        {"scores", "smoothing", "evaluate", "report", "certify"},
        {"learning"},
        {"classifiers", "experiments"},
        {"cli"},
    ],
    "optbn_solvers": [{"base"}, {"verify", "proofs"}, {"relaxation"}, {"search"}, {"methods"}, {"front"}],
}


def modules() -> list[Path]:
    return sorted(path for folder in PACKAGES.values() for path in folder.rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    """The modules a file imports, anywhere in it, inside functions too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("package", PACKAGES)
def test_rooms_import_from_floors_below(package):
    floor_of = {room: number for number, floor in enumerate(FLOORS[package]) for room in floor}
    folder = PACKAGES[package]
    rooms = {path.name for path in folder.iterdir() if path.is_dir() and any(path.glob("*.py"))}
    assert rooms == set(floor_of), "each folder is on one floor"
    wrong = []
    for path in folder.rglob("*.py"):
        room = path.relative_to(folder).parts[0]
        if room not in floor_of:  # the package's own __init__ and __main__ are the front door
            continue
        for name in imports(path):
            top, _, below = name.partition(".")
            other = below.split(".")[0]
            if top != package or other == room or (room in FLOORS[package][-1] and other not in floor_of):
                continue  # the top floor may stand at the front door
            if floor_of.get(other, len(floor_of)) >= floor_of[room]:
                wrong.append(f"{path.relative_to(folder)} imports {name}")
    assert not wrong, wrong


def test_no_method_imports_another():
    methods = PACKAGES["optbn_solvers"] / "methods"
    wrong = []
    for path in methods.rglob("*.py"):
        own = path.relative_to(methods).parts[0].removesuffix(".py")
        for name in imports(path):
            other = name.removeprefix("optbn_solvers.methods.").split(".")[0]
            if name.startswith("optbn_solvers.methods.") and other not in (own, "kernels", *PARTS_OF.get(own, ())):
                wrong.append(f"{path.relative_to(methods)} imports {name}")
    assert not wrong, wrong


PARTS_OF = {"maxsat": ("cores",)}


# A method, and the module that does its work, which knows the method's class and so cannot be imported above it.
HANDED_OVER = {
    ("optbn.network.cpds", "optbn.network.render"),
    ("optbn.network.leaves.normal", "optbn.network.moments"),
    ("optbn.scores.pcart", "optbn.scores.pcart_leaves"),
    ("optbn.classifiers.soft.member", "optbn.classifiers.soft.explain"),
}


def test_imports_inside_functions_wait_for_a_slow_or_optional_library():
    """The rule of CONTRIBUTING; `python -m tests.house --list` names the libraries that each waits for."""
    idle = {
        (f"{module.where}:{line}", own, name)
        for own, module in house.modules().items()
        for line, name in module.inner
        if not house.reason(own, name)
    }
    assert not {each for each in idle if (each[1], each[2].rpartition(".")[0]) not in HANDED_OVER}
    assert {(own, name.rpartition(".")[0]) for _, own, name in idle} == HANDED_OVER, "the list is of what is there"


def test_solvers_never_import_optbn():
    wrong = [
        (path.relative_to(ROOT), name)
        for path in PACKAGES["optbn_solvers"].rglob("*.py")
        for name in imports(path)
        if name.split(".")[0] == "optbn"
    ]
    assert not wrong


def test_nothing_shipped_imports_the_tests():
    assert not [(path, name) for path in modules() for name in imports(path) if name.split(".")[0] == "tests"]


def test_the_checker_shares_nothing_with_the_solvers():
    allowed = {"base", "verify", "proofs"}
    for room in ("verify", "proofs"):
        for path in (PACKAGES["optbn_solvers"] / room).rglob("*.py"):
            used = {name.split(".")[1] for name in imports(path) if name.startswith("optbn_solvers.")}
            assert used <= allowed, f"{path} imports {used - allowed}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_opens_with_its_idea(path):
    tree = ast.parse(path.read_text())
    assert not tree.body or ast.get_docstring(tree), f"{path.relative_to(ROOT)} has no header"


def kernels() -> Iterator[tuple[Path, ast.FunctionDef]]:
    """The compiled functions (optbn_solvers.base.compiled), under whatever name they import the decorator."""
    for path in modules():
        tree = ast.parse(path.read_text())
        known = {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module == "optbn_solvers.base.compiled"
            for alias in node.names
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and any(ast.unparse(name) in known for name in node.decorator_list):
                yield path, node


def test_kernels_fit_on_a_page():
    large = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for path, node in kernels()
        if node.end_lineno - node.lineno >= 80 or len(node.args.args) > 12
    ]
    assert not large, "split them, or pass arrays that belong together as one tuple"


@pytest.mark.parametrize("package", PACKAGES)
def test_importing_is_cheap(package):
    code = f"import sys, {package}; print([m for m in {HEAVY!r} if m in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    allowed = {"numba", "scipy"} if package == "optbn_solvers" else set()  # numba brings scipy with it
    assert set(ast.literal_eval(loaded)) <= allowed
