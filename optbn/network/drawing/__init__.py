"""Pictures of networks and distributions, made here: svg needs nothing else installed.

`graph` draws a DAG or the essential graph, with chances if wanted; `local` a table or a tree; `latex` says both for
LaTeX. A Picture shows itself in notebooks and is saved by its ending; png and pdf need the extra `optbn[pictures]`.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from optbn.base.errors import UnsupportedError
from optbn.base.files import saving

ENDINGS = (".svg", ".png", ".pdf")


@dataclass(frozen=True)
class Picture:
    """An svg document."""

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | PathLike[str]) -> None:
        """Write it as svg, png or pdf, by the ending of the path."""
        ending = Path(path).suffix.lower()
        if ending not in ENDINGS:
            raise UnsupportedError(f"{path}: a picture is saved as {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}")
        content = {".svg": self._svg, ".png": self.png, ".pdf": self.pdf}[ending]()
        with saving(path) as partial:
            partial.write_bytes(content)

    def _svg(self) -> bytes:
        return self.svg.encode()

    def png(self, zoom: float = 2.0) -> bytes:
        """As png, `scale` times its size in pixels."""
        try:
            from resvg_py import svg_to_bytes
        except ImportError:
            raise _lacking("png") from None
        return bytes(svg_to_bytes(svg_string=self.svg, zoom=zoom, background="white"))

    def pdf(self) -> bytes:
        """As pdf."""
        try:
            from reportlab.graphics.renderPDF import drawToString
            from svglib.svglib import svg2rlg
        except ImportError:
            raise _lacking("pdf") from None
        content: bytes = drawToString(svg2rlg(io.BytesIO(self.svg.encode())))
        return content

    def __repr__(self) -> str:
        return f"Picture({len(self.svg):,} characters of svg)"


def _lacking(kind: str) -> UnsupportedError:
    return UnsupportedError(f"a {kind} needs pip install 'optbn[pictures]'; svg needs nothing")
