"""What the house weighs: `python -m tests.house [--list]` counts lines, large modules and functions, and inner imports.

An inner import, one inside a function, needs a reason, and there are two: it brings a library that is slow to load, or
one that may be missing, which its module does not load anyway. `reason` finds it by following the imports at the top
of modules, and tests/test_architecture.py lets no other pass.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = {"optbn": ROOT / "optbn", "optbn_solvers": ROOT / "solvers" / "optbn_solvers"}

MODULE, FUNCTION, ARGUMENTS = 300, 60, 8
KERNEL, KERNEL_ARGUMENTS = 80, 12  # in folders `kernels`: loops and arrays take more

# Each takes more than .01 s of CPU to load; most take .1 s to .5 s.
SLOW = {
    *("numpy", "numba", "scipy", "sklearn", "pyarrow", "narwhals", "networkx", "msgspec", "rich", "joblib"),
    *("highspy", "pyscipopt", "pysat", "threadpoolctl", "typer"),
}
OPTIONAL = {
    *("pandas", "polars", "matplotlib", "graphviz", "svglib", "reportlab", "resvg_py"),
    *("distributed", "dask", "flint", "igraph", "pgmpy", "pyagrum", "causallearn"),
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """A file, its lines, and what it imports at its top and inside functions: dotted names with their lines."""

    path: Path
    lines: int
    tree: ast.Module
    top: tuple[str, ...]
    inner: tuple[tuple[int, str], ...]

    @property
    def where(self) -> str:
        return str(self.path.relative_to(ROOT))

    @property
    def kernels(self) -> bool:
        return "kernels" in self.path.parts

    @property
    def functions(self) -> Iterator[Function]:
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))


def name_of(path: Path) -> str:
    """optbn/data/__init__.py -> optbn.data"""
    package = next(name for name, folder in PACKAGES.items() if path.is_relative_to(folder))
    parts = path.relative_to(PACKAGES[package]).with_suffix("").parts
    return ".".join((package, *(part for part in parts if part != "__init__")))


@cache
def modules() -> dict[str, Module]:
    """All modules of both packages by their dotted names."""
    return {name_of(path): _read(path) for folder in PACKAGES.values() for path in sorted(folder.rglob("*.py"))}


def _read(path: Path) -> Module:
    text = path.read_text()
    tree = ast.parse(text)
    top, inner = [], []
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, inside = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "required":  # of interop: another program
            top.append(ast.literal_eval(node.args[0]))
        for name in imported(node):
            inner.append((node.lineno, name)) if inside else top.append(name)  # type: ignore[attr-defined]
        waiting += [(child, inside or isinstance(node, Function)) for child in ast.iter_child_nodes(node)]
    return Module(path, text.count("\n"), tree, tuple(top), tuple(sorted(inner)))


def imported(node: ast.AST) -> Iterator[str]:
    """The dotted names that an import statement brings."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def libraries(name: str) -> frozenset[str]:
    """The libraries that importing `name`, a module of ours, a name in one or a library, loads in the end."""
    found, seen, waiting = set(), set(), [name]
    while waiting:
        parts = waiting.pop().split(".")
        if parts[0] not in PACKAGES:
            found.add(parts[0])
            continue
        for i in range(1, len(parts) + 1):  # a package's own __init__ runs first
            own = ".".join(parts[:i])
            if own in modules() and own not in seen:
                seen.add(own)
                waiting += modules()[own].top
    return frozenset(found)


def reason(module: str, name: str) -> str:
    """Why `module` may import `name` inside a function: the libraries that it waits for; empty for no reason."""
    brings = libraries(name) - libraries(module)
    return ", ".join(sorted(brings & (SLOW | OPTIONAL)))


def arguments(function: Function) -> int:
    """How many arguments a call may have, `self` and what numba passes to an intrinsic apart."""
    every = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
    return len(every) - (every[:1] in (["self"], ["cls"], ["typingctx"]))


def main(listed: bool) -> None:
    """Print the figures, and with `--list` the places."""
    every = modules()
    rows: dict[str, list[str]] = {
        f"modules over {MODULE} lines": [f"{m.where} {m.lines}" for m in every.values() if m.lines > MODULE],
        f"functions over {FUNCTION} lines, {KERNEL} in kernels": [
            f"{m.where}:{f.lineno} {f.name} {length(f)}"
            for m in every.values()
            for f in m.functions
            if length(f) > (KERNEL if m.kernels else FUNCTION)
        ],
        f"functions over {ARGUMENTS} arguments, {KERNEL_ARGUMENTS} in kernels": [
            f"{m.where}:{f.lineno} {f.name} {arguments(f)}"
            for m in every.values()
            for f in m.functions
            if arguments(f) > (KERNEL_ARGUMENTS if m.kernels else ARGUMENTS)
        ],
        "imports inside functions": [
            f"{m.where}:{line} {name} ({reason(own, name) or 'NO REASON'})"
            for own, m in every.items()
            for line, name in m.inner
        ],
    }
    for package in PACKAGES:
        print(f"{sum(m.lines for own, m in every.items() if own.split('.')[0] == package):6,}  lines in {package}")
    for title, places in rows.items():
        print(f"{len(places):6,}  {title}")
        for place in places if listed else ():
            print(f"            {place}")
    kinds = Counter(name.split(".")[0] for m in every.values() for _, name in m.inner)
    print("        of which " + ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()))


def length(function: Function) -> int:
    return (function.end_lineno or 0) - function.lineno + 1


if __name__ == "__main__":
    main("--list" in sys.argv[1:])
