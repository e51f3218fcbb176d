"""`optbn sample`: rows drawn from a network, to a file or to stdout."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import optbn
from optbn.base.errors import DataError
from optbn.base.files import saving
from optbn.cli.networks import complete_network
from optbn.cli.progress import bars

if TYPE_CHECKING:
    from optbn.network.network import BayesianNetwork

WORTH_A_BAR = 20_000_000  # values; about a second


def sample(
    network: Annotated[
        str,
        typer.Argument(
            help="A network file, or the name of a bundled network.", autocompletion=complete_network, metavar="NETWORK"
        ),
    ],
    rows: Annotated[int, typer.Option("-n", "--rows", help="The number of rows.", min=0)] = 1000,
    seed: Annotated[
        int, typer.Option("--seed", help="The same seed draws the same rows, on every machine.", min=0)
    ] = 1,
    output: Annotated[
        str, typer.Option("-o", "--output", help="A .csv, .tsv, .parquet, .arrow or .feather file; - is csv to stdout.")
    ] = "-",
) -> None:
    """Draw rows from a network.

    The first rows of a longer sample with the same seed are the same rows. Text is written as it is drawn, so any
    number of rows fits.

    Example: optbn sample alarm -n 1000 --seed 1 -o data.csv
    """
    from optbn.data.write import ENDINGS

    found = optbn.load_network(network)
    if output == "-":
        with _progress(rows * found.n_variables if not sys.stdout.isatty() else 0, rows) as progress:
            _write_text(found, rows, seed, sys.stdout.buffer, "csv", progress)
        sys.stdout.buffer.flush()
        return
    suffix = Path(output).suffix.lower()
    if suffix not in ENDINGS:
        raise DataError(f"{output}: cannot tell the format by the name; the extensions are {' '.join(ENDINGS)}")
    with saving(output) as path, _progress(rows * found.n_variables, rows) as progress:
        if ENDINGS[suffix] in ("csv", "tsv"):
            with path.open("wb") as file:
                _write_text(found, rows, seed, file, ENDINGS[suffix], progress)
        else:
            from optbn.network.sampling import sample as draw

            optbn.write(draw(found, rows, seed, progress), path, ENDINGS[suffix])


def _write_text(
    network: BayesianNetwork, rows: int, seed: int, file: Any, format: str, progress: Callable[[int], None] | None
) -> None:
    """Header and rows, one block at a time: every block is written as a table of its own, less its header."""
    from optbn.network.sampling import sample, sample_blocks

    header = io.BytesIO()
    optbn.write(sample(network, 0, seed), header, format)
    file.write(header.getvalue())
    for begin, block in sample_blocks(network, rows, seed):
        text = io.BytesIO()
        optbn.write(block, text, format)
        file.write(text.getbuffer()[len(header.getvalue()) :])
        if progress:
            progress(begin + block.n_rows)


@contextmanager
def _progress(values: int, rows: int) -> Iterator[Callable[[int], None] | None]:
    """A bar, when there are many values to draw."""
    if values < WORTH_A_BAR:
        yield None
        return
    with bars() as show:
        if show is None:
            yield None
            return
        show("rows", 0, rows)
        yield partial(show, "rows", total=rows)
