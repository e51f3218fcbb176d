"""Writes docs/licences.md: `python docs/licences.py`. The licences are those that the installed packages state."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, metadata
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
    return (about.get("License") or "not stated").splitlines()[0][:60]


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = {"always": project["dependencies"], **project["optional-dependencies"]}
    lines = []
    copyleft = []
    for group, wanted in groups.items():
        for requirement in wanted:
            name = re.match(r"[A-Za-z0-9_.-]+", requirement)
            assert name is not None
            what = group if group == "always" else f"extra `{group}`"
            terms = licence(name[0])
            lines.append(f"| {name[0]} | {what} | {terms} |")
            if group == "always" and re.search(r"\bA?GPL|General Public", terms) and "Lesser" not in terms:
                copyleft.append(name[0])
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
