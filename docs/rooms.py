"""Writes the lists of modules in the READMEs from the first sentence of each module: `python docs/rooms.py`.

A README asks for the list of a folder (named from where the README is) with the two lines

    <!-- modules of . -->
    <!-- end of modules -->

and what stands between them is made here; a test compares, so that no list goes stale.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = re.compile(r"(<!-- modules of (\S+) -->\n).*?(<!-- end of modules -->)", re.DOTALL)
NO_SENTENCE = re.compile(r"\b(?:e\.g|i\.e|et al|resp)\.$")


def readmes() -> list[Path]:
    """The READMEs that ask for a list."""
    places = [*(ROOT / "optbn").rglob("README.md"), *(ROOT / "solvers").rglob("README.md")]
    return sorted(path for path in places if LIST.search(path.read_text(encoding="utf-8")))


def written(readme: Path) -> str:
    """The README with its lists as the code has them now."""
    text = readme.read_text(encoding="utf-8")
    return LIST.sub(lambda found: f"{found[1]}{table(readme.parent / found[2])}{found[3]}", text)


def table(folder: Path) -> str:
    """The modules of a folder, and the folders in it, each with what it is for."""
    modules = [path for path in folder.glob("*.py") if not path.stem.startswith("__")]
    rooms = [path for path in folder.glob("*/__init__.py") if path.read_text(encoding="utf-8").strip()]
    rows = [(path.stem, path) for path in sorted(modules)] + [(f"{path.parent.name}/", path) for path in sorted(rooms)]
    lines = [f"| `{name}` | {cell} |" for name, path in rows if (cell := first_sentence(path).replace("|", "\\|"))]
    return "\n".join(["| module | its job |", "|---|---|", *lines, ""])


def first_sentence(module: Path) -> str:
    """Of its docstring, on one line."""
    docstring = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    paragraph = " ".join(docstring.split("\n\n")[0].split())
    found = ""
    for part in re.split(r"(?<=[.?!]) (?=[A-Z0-9(`])", paragraph):
        found = f"{found} {part}".strip()
        if not NO_SENTENCE.search(found):
            break
    return found


if __name__ == "__main__":
    for path in readmes():
        path.write_text(written(path), encoding="utf-8")
