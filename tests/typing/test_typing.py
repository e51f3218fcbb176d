"""What a user imports has its real signature: mypy --strict passes right.py and the examples, and refuses wrong.py."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import optbn

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent


def checked(*files: Path) -> str:
    """What mypy says about the files; what is installed is followed, its own errors are not shown."""
    pytest.importorskip("mypy", reason="mypy is not installed")
    flags = ["--strict", "--ignore-missing-imports", "--follow-imports=silent", "--config-file=", "--no-pretty"]
    command = [sys.executable, "-m", "mypy", *flags, f"--cache-dir={ROOT / '.mypy_cache' / 'typing'}", *map(str, files)]
    environment = {**os.environ, "MYPYPATH": str(ROOT / "solvers")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def test_right_passes_and_every_wrong_line_fails(tmp_path):
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.S | re.M)
    readme = tmp_path / "readme.py"
    readme.write_text("\n".join(blocks))
    errors = checked(HERE / "right.py", HERE / "wrong.py", readme)
    found = {(name, int(line)) for name, line in re.findall(r"(\w+\.py):(\d+): error", errors)}
    wrong = [
        number
        for number, line in enumerate((HERE / "wrong.py").read_text().splitlines(), 1)
        if line.endswith("# wrong")
    ]
    assert found == {("wrong.py", number) for number in wrong}, errors


def test_checkers_see_what_is_exported():
    source = (ROOT / "optbn" / "__init__.py").read_text()
    seen = dict(reversed(pair) for pair in re.findall(r"^    from ([\w.]+) import (\w+) as \2$", source, re.M))
    assert seen == optbn._EXPORTS
