"""Writes docs/options.md from the table of options: `python docs/options.py`."""

from __future__ import annotations

from pathlib import Path

from optbn.base.options import table

PAGE = Path(__file__).resolve().parent / "options.md"
VERBS = ("learn", "score", "solve", "fit", "edges", "bootstrap", "gap", "related", "classify")
HEAD = """# Options

What the verbs accept on the command line, and the keywords of the functions behind them: `optbn.learn`,
`optbn.score_table`, `optbn.solve`, `optbn.fit`, `optbn.edges`, `optbn.bootstrap`, `optbn.gap` and, for `related`,
`optbn.learn_differing`. Constraints are keywords too, see [constraints.md](constraints.md); so are the settings of a
score, solver or smoother, and `optbn.read` has the options of files. This page is made from [the table of
options](../optbn/base/options/rows.py) by `python docs/options.py`.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *(f"## optbn {verb}\n\n{table(verb)}\n" for verb in VERBS)])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
