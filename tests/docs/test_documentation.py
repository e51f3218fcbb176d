"""Every code block of the documentation runs: python blocks of a page in one namespace, console blocks in one shell.

In a console block, lines that begin with "$ " are commands and the others show what they print. A block marked
```python no-run or ```console no-run is for reading only (it needs what a test machine has not); one that is marked
```python needs NAME runs where that library, which optbn does not depend on, is installed.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import optbn
import optbn.classifiers
import optbn_solvers

ROOT = Path(__file__).parent.parent.parent
PAGES = [
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "tests/README.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```", re.S | re.M)


def blocks(page: Path, language: str) -> list[str]:
    return [body for kind, words, body in FENCE.findall(page.read_text()) if kind == language and "no-run" not in words]


def python_blocks(page: Path) -> list[tuple[str, str]]:
    """What each block is marked with, and its text."""
    found = FENCE.findall(page.read_text())
    return [(words.strip(), body) for kind, words, body in found if kind == "python" and "no-run" not in words]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_the_page_shows_works(page, tmp_path, monkeypatch):
    """Commands first, then Python: pages make their files on the command line and read them in Python."""
    monkeypatch.chdir(tmp_path)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    commands = [
        line[2:].rstrip()
        for block in blocks(page, "console")
        for line in block.replace("\\\n", " ").splitlines()
        if line.startswith("$ ")
    ]
    for command in commands:
        if command.startswith("make "):
            continue  # installs: the makefile is what runs this test
        done = subprocess.run(command, shell=True, capture_output=True, text=True, env={**os.environ, "PATH": path})
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    namespace: dict[str, object] = {"__name__": "__main__"}
    left_out = []
    for words, block in python_blocks(page):
        needed = words.removeprefix("needs ") if words.startswith("needs ") else ""
        if needed and importlib.util.find_spec(needed) is None:
            left_out.append(needed)
            continue
        exec(compile(block, str(page), "exec"), namespace)
    if left_out:
        pytest.skip(f"the rest of the page ran; a block needs {left_out[0]}, which is not installed")
    if not commands and not blocks(page, "python"):
        pytest.skip("a page without code")


def test_the_makefile_and_the_r_of_the_shell_page_run(tmp_path):
    page = ROOT / "docs" / "shell.md"
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

    def run(*command: str) -> str:
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "PATH": path})
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run(*["optbn", "sample", "asia", "-n", "500", "--seed", "1", "-o", "rows.csv"])
    if shutil.which("make"):
        (tmp_path / "Makefile").write_text(blocks(page, "makefile")[0])
        run("make", "model.bif")
        assert (tmp_path / "page.html").stat().st_size > 50_000 and (tmp_path / "model.bif").exists()
        assert "up to date" in run("make", "model.bif")
    rscript = shutil.which("Rscript")
    script = [(words.strip(), body) for kind, words, body in FENCE.findall(page.read_text()) if kind == "r"]
    if rscript is None or subprocess.run([rscript, "-e", "library(jsonlite)"], capture_output=True).returncode:
        pytest.skip("R with jsonlite is not installed")
    (tmp_path / "a.R").write_text(script[0][1])
    out = run(rscript, "a.R")
    assert "proved optimal" in out and "bronc" in out and "yes" in out
    if not subprocess.run([rscript, "-e", "library(bnlearn)"], capture_output=True).returncode:
        (tmp_path / "b.R").write_text("".join(body for _, body in script))
        run(rscript, "b.R")


@pytest.mark.parametrize("script", sorted((ROOT / "docs" / "examples").glob("*.py")), ids=lambda script: script.name)
def test_an_example_runs(script, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_the_index_lists_every_page_and_example():
    index = (ROOT / "docs" / "README.md").read_text()
    for path in [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "examples").glob("*.py")]:
        assert path.name == "README.md" or f"{path.relative_to(ROOT / 'docs')})" in index, path.name


def test_every_dependency_has_its_licence_listed():
    page = (ROOT / "docs" / "licences.md").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pinned = [line for line in (ROOT / "requirements.lock").read_text().splitlines() if not line.startswith("#")]
    extras = [each for wanted in project["optional-dependencies"].values() for each in wanted]
    for requirement in [*project["dependencies"], *extras, *pinned]:
        name = re.match(r"[\w.-]+", requirement)[0]
        assert re.search(rf"^\| {re.escape(name)} \| .* \| [^|(]", page, re.M), name


def test_figures_of_the_documentation_come_from_the_results():
    figures = runpy.run_path(str(ROOT / "docs" / "figures.py"))
    page = (ROOT / "docs" / "choosing.md").read_text()
    made = figures["filled"](page)
    assert [line for line in made.splitlines() if not line.startswith("|")] == [
        line for line in page.splitlines() if not line.startswith("|")
    ]
    assert all(len(table().splitlines()) > 4 for table in figures["TABLES"].values())


def test_what_is_public_says_what_it_is():
    silent = []
    for path in [*(ROOT / "optbn").rglob("*.py"), *(ROOT / "solvers").rglob("*.py")]:
        if not ast.get_docstring(ast.parse(path.read_text())):
            silent.append(str(path))
    for package in (optbn, optbn.classifiers, optbn_solvers):
        for name in package._EXPORTS:
            thing = getattr(package, name)
            if not isinstance(thing, type) and not callable(thing):
                continue
            if not thing.__doc__ or thing.__doc__.startswith(f"{name}("):  # what dataclass puts there
                silent.append(f"{package.__name__}.{name}")
            methods = vars(thing).items() if isinstance(thing, type) else ()
            for method, function in methods:
                if inspect.isfunction(function) and not method.startswith("_") and not inspect.getdoc(function):
                    silent.append(f"{package.__name__}.{name}.{method}")
    assert silent == []


def test_the_reference_builds(tmp_path, monkeypatch):
    pytest.importorskip("pdoc", reason="pdoc is not installed")
    code = "import runpy, sys; m = runpy.run_path(sys.argv[1]); m['build'].__globals__['ROOTS'] = ('optbn.network',); "
    code += "from pathlib import Path; print(m['build'](Path(sys.argv[2])))"
    command = [sys.executable, "-W", "ignore", "-c", code, str(ROOT / "docs" / "reference.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) > 10
    assert "most_probable" in (tmp_path / "optbn" / "network" / "network.html").read_text()


def test_the_site_builds_lists_every_page_and_asks_for_nothing_elsewhere(tmp_path):
    pytest.importorskip("mkdocs", reason="mkdocs-material is not installed")
    site = runpy.run_path(str(ROOT / "docs" / "site.py"))
    assert site["build"](tmp_path / "site", with_gallery=False, with_reference=False) > 20
    pages = {path.stem for path in (ROOT / "docs").glob("*.md") if path.name != "README.md"}
    listed = (tmp_path / "site" / "index.html").read_text()
    assert all((tmp_path / "site" / f"{name}.html").exists() and f"{name}.html" in listed for name in pages)
    for path in (tmp_path / "site").rglob("*.html"):
        assert not re.search(r"<(?:script|link|img)[^>]*(?:src|href)=\"https?:", path.read_text()), path.name


def test_lists_of_modules_are_those_of_the_code():
    rooms = runpy.run_path(str(ROOT / "docs" / "rooms.py"))
    for path in rooms["readmes"]():
        assert rooms["written"](path) == path.read_text(encoding="utf-8"), f"{path}: run python docs/rooms.py"
