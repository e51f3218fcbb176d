"""Builds the documentation as a site: `python docs/site.py [FOLDER]`, or `make docs` (out/site).

The pages of this folder, a gallery of pages and pictures made on the spot, and the reference of the API (reference.py).
The site is static, searches without a server and asks for nothing from elsewhere. What a page links to outside this
folder is taken along.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import optbn

DOCS = Path(__file__).parent
LINK = re.compile(r"\]\((\.\./[^)#]+)")
WORKER = "https://unpkg.com/iframe-worker/shim"
EXAMPLES = {  # network: (rows, options of learn, what there is to see)
    "asia": (1000, {"score": "bic", "target": "lung", "edges": True}, "a question first, and what each arc is worth"),
    "sachs": (1000, {"score": "bdeu", "max_parents": 2}, "eleven proteins with three levels each"),
    "child": (800, {"max_parents": 2, "target": "Disease"}, "decision trees as local distributions"),
    "alarm": (1000, {"score": "bic"}, "37 variables, answered in a thousandth of a second"),
}


def gallery(folder: Path) -> None:
    """A page and two pictures per example, and the page that shows them."""
    folder.mkdir(parents=True)
    lines = ["# Gallery", "", "Networks learned from rows of the bundled ones. Each page is one file that answers.", ""]
    for name, (rows, options, words) in EXAMPLES.items():
        data = optbn.load_network(name).sample(rows)
        found = optbn.learn(data, source=f"{name}.csv", **options)  # type: ignore[arg-type]
        (folder / f"{name}.html").write_text(found.page(), encoding="utf-8")
        found.network.draw(chances=len(data.names) < 25).save(folder / f"{name}.svg")
        proof = found.report.outcome.proof
        lines += [f"## {name}", "", f"{words[0].upper()}{words[1:]}. {proof}.", ""]
        lines += [f"[Open its page](gallery/{name}.html)", "", f"![{name}](gallery/{name}.svg)", ""]
    (folder.parent / "gallery.md").write_text("\n".join(lines))


def collected(source: Path) -> None:
    """A copy of the pages, with what they link to outside beside them."""
    for path in DOCS.iterdir():
        if path.suffix in (".md", ".png"):
            shutil.copy(path, source / path.name)
    shutil.copytree(DOCS / "examples", source / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    for page in source.glob("*.md"):
        text = page.read_text()
        for link in set(LINK.findall(text)):
            target = (DOCS / link).resolve()
            if not target.is_file():
                continue
            kept = Path("files", link.removeprefix("../"))
            (source / kept).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(target, source / kept)
            text = text.replace(f"]({link}", f"]({kept}")
        page.write_text(text)


def searchable(folder: Path) -> None:
    """Let pages that are opened as files search with our own stand-in for a worker (the theme would fetch one)."""
    shutil.copy(DOCS / "worker.js", folder / "assets" / "worker.js")
    for page in folder.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        up = "../" * (len(page.relative_to(folder).parts) - 1)
        if WORKER in text:
            page.write_text(text.replace(WORKER, f"{up}assets/worker.js"), encoding="utf-8")


def build(folder: Path, with_gallery: bool = True, with_reference: bool = True) -> int:
    """Write the site; how many pages there are."""
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as made:
        source, config = Path(made, "pages"), Path(made, "mkdocs.yml")
        source.mkdir()
        collected(source)
        if with_gallery:
            gallery(source / "gallery")
        places = f"docs_dir: {source}\nsite_dir: {folder.resolve()}\n"
        config.write_text((DOCS / "mkdocs.yml").read_text() + places)
        command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--config-file", str(config)]
        subprocess.run(command, check=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    searchable(folder)
    if with_reference:
        subprocess.run([sys.executable, str(DOCS / "reference.py"), str(folder / "reference")], check=True)
    return len(list(folder.rglob("*.html")))


if __name__ == "__main__":
    to = Path(sys.argv[1] if len(sys.argv) > 1 else "out/site")
    print(f"{build(to)} pages; open {to}/index.html")
