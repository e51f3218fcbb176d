"""Writes docs/licences.md: `python docs/licences.py`. The licences are those that the installed packages state.

What the dependencies need themselves is what requirements.lock pins besides.
"""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, files, metadata
from pathlib import Path

ROOT = Path(__file__).parent.parent


def licence(name: str) -> str:
    """The licence of an installed package, in as few words as it says it."""
    try:
        about = metadata(name)
    except PackageNotFoundError:
        return "(not installed here)"
    if stated := about.get("License-Expression"):
        return stated
    classes = [c.rsplit(" :: ", 1)[-1] for c in about.get_all("Classifier") or () if c.startswith("License ::")]
    if classes:
        return ", ".join(classes)
    texts = [file.read_text() for file in files(name) or () if file.stem.upper() in ("LICENSE", "LICENCE", "COPYING")]
    stated = about.get("License") or next(iter(texts), "not stated")
    return stated.strip().splitlines()[0].strip()[:60]


def named(requirement: str) -> str:
    """The package that a requirement is about."""
    name = re.match(r"[A-Za-z0-9_.-]+", requirement)
    assert name is not None
    return name[0]


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pinned = [line for line in (ROOT / "requirements.lock").read_text().splitlines() if not line.startswith("#")]
    ours = set(map(named, project["dependencies"]))
    groups = {
        "always": project["dependencies"],
        "by those": [line for line in pinned if named(line) not in ours],
        **{f"extra `{extra}`": wanted for extra, wanted in project["optional-dependencies"].items()},
    }
    lines = []
    copyleft = []
    for group, wanted in groups.items():
        for name in map(named, wanted):
            terms = licence(name)
            lines.append(f"| {name} | {group} | {terms} |")
            if not group.startswith("extra") and re.search(r"\bA?GPL|General Public", terms) and "Lesser" not in terms:
                copyleft.append(name)
    head = [
        "# Licences of the dependencies",
        "",
        "optbn is MIT (LICENSE); the bundled networks have their own (networks/LICENSE). Dependencies are installed",
        "from the Python Package Index and none of their code is part of optbn. Under the GPL, of those always",
        f"needed: {', '.join(copyleft) or 'none'}.",
        "",
        "Written by `python docs/licences.py`.",
        "",
        "| package | needed | licence |",
        "|---|---|---|",
    ]
    (ROOT / "docs" / "licences.md").write_text("\n".join([*head, *lines]) + "\n")


main()
