"""svg elements as text, in one look: what the drawings are put together from."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

INK, SOFT, LINE, BAR, TRACK = "#1c2024", "#60676f", "#60676f", "#a9cdea", "#eef1f4"
FONT = "Helvetica, Arial, sans-serif"
LETTER = 6.4  # pixels of a letter at size 12, about


def text(x: float, y: float, words: str, size: float = 12, anchor: str = "middle", **more: str) -> str:
    """Words around or from a point on their baseline."""
    style = {"font_size": f"{size:g}", "text_anchor": anchor, "fill": INK} | more
    return f'<text x="{x:.1f}" y="{y:.1f}"{_attributes(style)}>{escape(printable(words))}</text>'


def box(x: float, y: float, width: float, height: float, round: float = 5, **more: str) -> str:
    """A rectangle by its upper left corner."""
    style = {"fill": "white", "stroke": LINE} | more
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{round:g}"'
    return f"<rect {place}{_attributes(style)}/>"


def path(d: str, **more: str) -> str:
    """A line."""
    return f'<path d="{d}"{_attributes({"fill": "none", "stroke": LINE, "stroke_width": "1.4"} | more)}/>'


def clipped(words: str, letters: int) -> str:
    """Words cut to this many letters."""
    return words if len(words) <= letters else words[: letters - 1] + "…"


def printable(words: str) -> str:
    """Without the characters that XML cannot hold."""
    return "".join(c if c.isprintable() else " " for c in words)


def document(shapes: Iterable[str], left: float, top: float, width: float, height: float) -> str:
    """The whole svg, on white."""
    view = f"{left:.1f} {top:.1f} {width:.1f} {height:.1f}"
    ground = box(left, top, width, height, 0, stroke="none")
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{view}" width="{width:.0f}" height="{height:.0f}"'
    return f'{head} font-family="{FONT}">\n' + "\n".join([ground, *shapes]) + "\n</svg>\n"


def _attributes(style: dict[str, str]) -> str:
    return "".join(f' {key.replace("_", "-")}="{escape(value)}"' for key, value in style.items())
