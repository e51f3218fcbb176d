"""Every code block of the documentation runs: python blocks of a page in one namespace, console blocks in one shell.

In a console block, lines that begin with "$ " are commands and the others show what they print. A block marked
```python no-run or ```console no-run is for reading only (it needs what a test machine has not).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```", re.S | re.M)


def blocks(page: Path, language: str) -> list[str]:
    return [body for kind, words, body in FENCE.findall(page.read_text()) if kind == language and "no-run" not in words]


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
    for block in blocks(page, "python"):
        exec(compile(block, str(page), "exec"), namespace)
    if not commands and not blocks(page, "python"):
        pytest.skip("a page without code")
