"""Which code a row is of: a digest of every module that its task can reach, and the versions it ran with.

Modules are found by reading, not by running: from the task's file along its imports (those inside functions too), along
names as registries write them ("optbn.scores.bic:BIC"), and from what is used of a front door (`optbn.learn`) to where
that lives; through every module that is neither Python's nor an installed package, and through optbn and its solvers
wherever they are. What is digested is the syntax tree without docstrings, so words, comments and layout make no
difference; of the task's own file only what `cell` needs, so that its report may change. Whatever else is reached
counts, whether or not a cell uses it: rows may be called of other code that would come out the same, never the other
way round.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import platform
import re
import sys
import sysconfig
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

Place = tuple[Path, str]  # a file, and which of its definitions ("" for all)
OWN = ("optbn", "optbn_solvers")
DOORS = (*OWN, "optbn.base.options", "optbn.base.options.rows")  # they name all there is, for a user to choose from
REGISTERED = re.compile(r"((?:optbn|optbn_solvers)(?:\.\w+)+)(?::\w+)?")
PACKAGES = [
    "numpy",
    "numba",
    "scipy",
    "pyscipopt",
    "highspy",
    "python-sat",
    "pyarrow",
    "scikit-learn",
    "xgboost-cpu",
    "pgmpy",
    "pyagrum",
    "causal-learn",
]


@functools.lru_cache(maxsize=8)
def code_digest(task: str, at: str = "") -> str:
    """Twelve hexadecimal digits for the code behind a task: "package.module" or the path of a file.

    `at` keeps answers apart that are of different search paths; `digest_of` gives it.
    """
    lines = [f"{name} {_syntax(*place)[0]}\n" for name, place in sorted(_reached(task).items())]
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:12]


def digest_of(task: str) -> str:
    """`code_digest` as of the current search path."""
    return code_digest(task, "\n".join(sys.path))


def versions() -> str:
    """What a row was made with besides our code, on one line."""
    found = [f"python {platform.python_version()}", platform.machine()]
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def _reached(task: str) -> dict[str, Place]:
    """Module name -> where its code is, of everything that the task's `cell` can import."""
    path = Path(task) if task.endswith(".py") else _file(task)
    if path is None:
        return {}
    found: dict[str, Place] = {"task": (path, "cell")}
    waiting = ["task"]
    while waiting:
        name = waiting.pop()
        syntax = _syntax(*found[name])
        for other in syntax.names:
            if other.startswith("."):
                other = _absolute(name, found[name][0], other)
            other = _behind_door(other)
            if name in DOORS and other.partition(".")[0] in OWN and other not in syntax.imported:
                continue
            parts = other.split(".")
            for end in range(1, len(parts) + 1):  # a module, and the packages around it
                module = ".".join(parts[:end])
                place = _file(module)
                if place is not None and module not in found and place != path:
                    found[module] = (place, "")
                    waiting.append(module)
    return found


class Syntax(NamedTuple):
    """digest of a module's syntax; names in it that may be modules; those among them that it imports"""

    digest: str
    names: tuple[str, ...]
    imported: frozenset[str]


@functools.cache
def _syntax(path: Path, only: str = "") -> Syntax:
    """Of the module in a file; with `only`, of what this one of its definitions needs."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return Syntax("unreadable", (), frozenset())
    tree.body = [statement for statement in tree.body if not _only_for_types(statement)]
    if only:
        tree.body = _needed(tree.body, only)
    imported: dict[str, None] = {}
    registered: dict[str, None] = {}
    doors = {door: door for door in OWN}  # by the names that they have here
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported.update(dict.fromkeys(alias.name for alias in node.names))
            doors.update({alias.asname: alias.name for alias in node.names if alias.asname and alias.name in OWN})
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            imported[base] = None
            imported.update({f"{base}{'' if base.endswith('.') else '.'}{alias.name}": None for alias in node.names})
        elif isinstance(node, ast.Constant) and (match := REGISTERED.fullmatch(str(node.value))):
            registered[match[1]] = None
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            node.body = node.body[1:] or [ast.Pass()]
    through = {
        f"{doors[node.value.id]}.{node.attr}": None
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in doors
    }
    digest = hashlib.sha256("\n".join(_lines(tree)).encode()).hexdigest()
    return Syntax(digest, (*imported, *registered, *through), frozenset((*imported, *through)))


def _behind_door(name: str) -> str:
    """The module that holds what a front door calls by this name; any other name as it is."""
    door, _, export = name.partition(".")
    return _exports(door).get(export, name) if door in OWN else name


@functools.cache
def _exports(door: str) -> dict[str, str]:
    """Name -> module of what the package brings when it is used: the table in its __init__."""
    path, found = _file(door), {}
    for node in [] if path is None else ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(value, ast.Constant):
                    found[str(key.value)] = str(value.value)
    return {name: module for name, module in found.items() if REGISTERED.fullmatch(module)}


def _only_for_types(statement: ast.stmt) -> bool:
    """A block that editors and type checkers read, and nothing runs."""
    return isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING"


def _needed(body: list[ast.stmt], name: str) -> list[ast.stmt]:
    """The statements at the top of a module that the definition of `name` needs, directly or not."""
    bound: dict[str, list[ast.stmt]] = {}
    for statement in body:
        for each in _bindings(statement):
            bound.setdefault(each, []).append(statement)
    needed: dict[ast.stmt, None] = {}
    met, waiting = {name}, [name]
    while waiting:
        for statement in bound.get(waiting.pop(), ()):
            needed[statement] = None
            names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
            waiting += names - met
            met |= names
    return [statement for statement in body if statement in needed]


def _bindings(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement defines."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in statement.names)
    else:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id
            elif isinstance(node, ast.Import | ast.ImportFrom):
                yield from _bindings(node)


def _lines(node: ast.AST) -> Iterator[str]:
    """The tree in a form that no version of Python changes: empty fields are left out."""
    for field, value in ast.iter_fields(node):
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.AST):
                yield f"{field} {type(each).__name__} ("
                yield from _lines(each)
                yield ")"
            elif each is not None:
                yield f"{field} {each!r}"


def _absolute(name: str, path: Path, relative: str) -> str:
    """What "..x" means in the module `name`."""
    dots = len(relative) - len(relative.lstrip("."))
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    return ".".join([*package[: len(package) - dots + 1], relative.lstrip(".")])


@functools.cache
def _file(name: str) -> Path | None:
    """The source of a module of ours or of the task's author; None for Python's own and installed ones."""
    top, *rest = name.split(".")
    for folder in _homes(top):
        inner = folder.joinpath(*rest)
        for path in (inner / "__init__.py", inner.with_suffix(".py") if rest else folder.parent / f"{top}.py"):
            if path.is_file():
                return path
    return None


@functools.cache
def _homes(top: str) -> tuple[Path, ...]:
    """The folders of a top-level package (of a module: where its folder would be)."""
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError, AttributeError):
        return ()
    if spec is None or spec.origin in ("built-in", "frozen"):
        return ()
    places = [Path(place) for place in spec.submodule_search_locations or ()]
    if not places and spec.origin:
        places = [Path(spec.origin).parent / top]
    installed = tuple(Path(sysconfig.get_path(kind)).resolve() for kind in ("stdlib", "platstdlib", "purelib"))
    foreign = any("site-packages" in place.parts or any(place.resolve().is_relative_to(i) for i in installed)
                  for place in places)  # fmt: skip
    return () if foreign and top not in OWN else tuple(places)
