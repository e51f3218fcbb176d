"""Builds the API reference from the docstrings: `python docs/reference.py [FOLDER]`, or `make docs` (out/reference).

The packages import their names lazily, which a documentation builder cannot see; without `__all__` it goes through the
modules instead, which is what a reference should list. Compiled kernels and the verbs of the command line are left out.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pdoc

import optbn
import optbn.classifiers
import optbn_solvers

ROOTS = ("optbn", "optbn_solvers")
LEFT_OUT = ("!.*[.]kernels", "!optbn[.]cli", "!optbn[.]smoothing[.]studies", "!optbn[.]classifiers[.]study")


def build(folder: Path) -> int:
    """Write the pages; how many there are."""
    for package in (optbn, optbn_solvers, optbn.classifiers):
        for name in ("__all__", "__dir__"):
            vars(package).pop(name, None)
    pdoc.render.configure(docformat="markdown", footer_text=f"optbn {optbn.__version__}")
    warnings.filterwarnings("ignore", module="pdoc")  # annotations that are imported for type checkers only
    pdoc.pdoc(*ROOTS, *LEFT_OUT, output_directory=folder)
    return len(list(folder.rglob("*.html")))


if __name__ == "__main__":
    to = Path(sys.argv[1] if len(sys.argv) > 1 else "out/reference")
    print(f"{build(to)} pages; open {to}/index.html")
