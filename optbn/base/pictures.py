"""Pictures on disk: svg, and pdf beside it where a paper is made; the same picture has the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_also_pdf: ContextVar[bool] = ContextVar("also_pdf", default=False)


@contextmanager
def also_as_pdf() -> Iterator[None]:
    """Within it every picture that is saved is saved as pdf as well."""
    token = _also_pdf.set(True)
    try:
        yield
    finally:
        _also_pdf.reset(token)


def save(figure: Figure, path: str | PathLike[str]) -> None:
    """Write the figure in the format of the path's ending (and as pdf, see `also_as_pdf`)."""
    from matplotlib import rc_context

    path = Path(path)
    dates = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    with rc_context({"svg.hashsalt": "optbn"}):
        for each in {path, path.with_suffix(".pdf")} if _also_pdf.get() else {path}:
            figure.savefig(each, metadata=dates.get(each.suffix))
