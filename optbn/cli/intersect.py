"""`optbn intersect`: compare learning methods on data without a known network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optbn.base.errors import DataError
from optbn.cli.bench import run_and_print
from optbn.cli.curve import Commands, Folder, Jobs, MaxParents, Methods, TimeLimit, parse_methods
from optbn.experiments.spec import Experiment


def intersect(
    data: Annotated[Path, typer.Argument(help="A data file.")],
    methods: Methods = "pcartp,ftp",
    commands: Commands = None,
    fractions: Annotated[
        str, typer.Option(help="The shares of the rows in subsamples, separated by commas.")
    ] = "1/2,1/4,1/8,1/16",
    repeats: Annotated[int, typer.Option(help="The number of subsamples of each share.", min=1)] = 10,
    max_parents: MaxParents = 3,
    most_levels: Annotated[
        int | None, typer.Option(help="Merge the rarest levels of columns that have more.", min=2)
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of the subsamples.")] = 0,
    folder: Folder = None,
    jobs: Jobs = 1,
    time_limit: TimeLimit = 3600.0,
) -> None:
    """Compare methods without a known truth: which one finds with little data what all of them find with all of it?

    Example: optbn intersect votes.csv --methods pcartp,bdeu:1 --repeats 5 -o votes
    """
    if not data.is_file():
        raise FileNotFoundError(2, "no such file", str(data))
    parts = (1, *parse_fractions(fractions))
    grid = {
        "data": (str(data),),
        "part": parts,
        "repeat": tuple(range(repeats)),
        "method": parse_methods(methods, commands),
    }
    fixed = {"max_parents": max_parents, "seed": seed, "most_levels": most_levels}
    run_and_print(
        Experiment("intersection", (grid,), fixed, f"Intersection-validation on {data.name}", time_limit), folder, jobs
    )


def parse_fractions(text: str) -> tuple[int, ...]:
    """The denominators of "1/2,1/4"."""
    denominators = []
    for part in text.split(","):
        top, _, bottom = part.strip().partition("/")
        if top != "1" or not bottom.isdigit() or int(bottom) < 2:
            raise DataError(f"cannot read the fraction {part!r}; write 1/2, 1/4 and the like")
        denominators.append(int(bottom))
    return tuple(denominators)
