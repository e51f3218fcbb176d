"""Every entry kernel has its twin: measured, with the JIT off, as a plugin of pytest.

    NUMBA_DISABLE_JIT=1 pytest -m twin -p tests.twins tests

With the JIT off a kernel is a Python function, and one that code outside of kernels names is an entry. Each notes that
it ran. When the tests that compare kernels with their slow twins have ended, an entry that none of them reached is an
error; so there is no list to keep.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numba
import pytest

from tests.house import Module, modules

DECORATORS = {f"optbn_solvers.base.compiled.{name}" for name in ("kernel", "leaf", "part")}

reached: set[str] = set()


def _noting(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which notes that it ran."""
    name = f"{function.__module__}.{function.__qualname__}"

    @functools.wraps(function)
    def noted(*args: Any, **kwargs: Any) -> Any:
        reached.add(name)
        return function(*args, **kwargs)

    return noted


def entries() -> set[str]:
    """The compiled functions that Python calls: module.function."""
    own = {name: {each.name for each in _compiled(module)} for name, module in modules().items()}
    compiled = {f"{name}.{function}" for name, functions in own.items() for function in functions}
    found: set[str] = set()
    for name, module in modules().items():
        bound = _bound(module) | {function: f"{name}.{function}" for function in own[name]}
        for node in _outside(module):
            if isinstance(node, ast.Name):
                found.add(bound.get(node.id, ""))
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                found.add(f"{bound.get(node.value.id, '')}.{node.attr}")
    return found & compiled


def _compiled(module: Module) -> Iterator[ast.FunctionDef]:
    """The decorated functions; decorators may be made of others, in the same module."""
    bound = _bound(module)
    known = {name for name, at in bound.items() if at in DECORATORS}
    for node in module.tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            if any(isinstance(each, ast.Name) and each.id in known for each in ast.walk(node.value)):
                known.add(node.targets[0].id)
        elif isinstance(node, ast.FunctionDef) and any(ast.unparse(each) in known for each in node.decorator_list):
            yield node


def _bound(module: Module) -> dict[str, str]:
    """What the names that a module imports stand for."""
    found = {}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
    return found


def _outside(module: Module) -> Iterator[ast.AST]:
    """The nodes of a module that are in no compiled function; where kernels live, those of functions alone, for there
    the others choose between kernels."""
    compiled = set(_compiled(module))
    waiting: list[ast.AST] = [
        node
        for node in module.tree.body
        if node not in compiled
        and (not module.kernels or (isinstance(node, ast.FunctionDef) and not node.decorator_list))
    ]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(ast.iter_child_nodes(node))


def pytest_configure() -> None:
    """Before any kernel is imported."""
    numba.njit = lambda **options: _noting


def pytest_testnodedown(node: Any) -> None:
    """A worker has ended."""
    reached.update(getattr(node, "workeroutput", {}).get("reached", ()))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Without a twin test for an entry the run has failed."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["reached"] = sorted(reached)
        return
    missing = sorted(entries() - reached)
    print(f"\n{len(entries())} entry kernels, {len(missing)} of them in no twin test")
    for name in missing:
        print(f"    {name}")
    if missing and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
