"""The page: one HTML file that carries its style, its script and its data, and asks for nothing from anywhere.

The content policy allows exactly this style and this script, by their hashes, and no request at all; pictures only
from the page itself, as it makes a png. The script is the files of `web`, joined. Data travel as
JSON in a block that is never executed; `<`, `>` and `&` in it are escaped, and the script puts every name in as text.
So a variable called `</script>` is a variable with an odd name and nothing more.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import string
from collections.abc import Iterable
from importlib.resources import files

from optbn.report.report import Report
from optbn.report.view import view

SCRIPTS = (
    *("elements", "laws", "model", "elimination", "answers"),
    *("graph", "near", "gestures", "evidence", "panel", "local", "target", "save", "proof", "record", "start"),
)
"""The files of the script, joined in this order: what runs as it is read comes after what it uses."""


def render(report: Report) -> str:
    """The report as one self-contained HTML document."""
    parts = files("optbn.report").joinpath("web")
    style = parts.joinpath("page.css").read_text("utf-8")
    script = _joined([parts.joinpath(f"{name}.js").read_text("utf-8") for name in SCRIPTS])
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    data = json.dumps(view(report), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        data = data.replace(character, f"\\u{ord(character):04x}")
    template = string.Template(parts.joinpath("page.html").read_text("utf-8"))
    return template.substitute(
        policy=html.escape(policy, quote=True), title=html.escape(report.title), style=style, script=script, view=data
    )


def _joined(scripts: Iterable[str]) -> str:
    """One script in a scope of its own, which begins with the data and the network made ready."""
    begin = 'const view = JSON.parse(document.getElementById("view").textContent);\n'
    return '"use strict";\n(() => {\n' + begin + "\n".join(scripts) + "})();\n"


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()
