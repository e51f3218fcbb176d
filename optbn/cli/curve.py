"""`optbn curve`: learning curves of several methods against a known network."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

import optbn
from optbn.base.errors import DataError
from optbn.cli.bench import run_and_print
from optbn.experiments.spec import Experiment

METHODS = (
    "Methods, separated by commas: scores (bdeu:10 is bdeu with sample size 10, bdeu:10+greedy has another solver), "
    "other programs' methods (pgmpy-hc; a wrong name lists all), functions as package.module:function."
)
COMMANDS = "One more method, may be repeated; also a program: 'name=program {data} {graph}'."

Methods = Annotated[str, typer.Option(help=METHODS)]
Commands = Annotated[list[str] | None, typer.Option("--method", help=COMMANDS)]
MaxParents = Annotated[
    int, typer.Option("--max-parents", "-D", help="The largest number of parents of any variable.", min=0)
]
Folder = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Keep the runs in this folder, so that a stopped run can continue."),
]
Jobs = Annotated[int, typer.Option(help="The number of networks learned at once.", min=1)]
TimeLimit = Annotated[float, typer.Option(help="Stop learning one network after this many seconds.", min=0.1)]


def curve(
    network: Annotated[str, typer.Argument(help="The name of a bundled network.")],
    methods: Methods = "pcartp,ftp",
    commands: Commands = None,
    sizes: Annotated[
        str, typer.Option(help="The numbers of rows: 50:800 doubles from 50 to 800; or 100,500,2000.")
    ] = "50:1600",
    repeats: Annotated[int, typer.Option(help="The number of samples of each size.", min=1)] = 10,
    max_parents: MaxParents = 3,
    folder: Folder = None,
    jobs: Jobs = 1,
    time_limit: TimeLimit = 3600.0,
) -> None:
    """Learn from samples of growing size and measure the distance to the truth.

    Example: optbn curve asia --methods pcartp,bdeu:1 --sizes 50:400 --repeats 5 -o curve
    """
    optbn.load_network(network)  # a wrong name fails here and not once per cell
    grid = {
        "network": (network,),
        "rows": parse_sizes(sizes),
        "repeat": tuple(range(repeats)),
        "method": parse_methods(methods, commands),
    }
    title = f"Learning {network} from samples"
    run_and_print(Experiment("curve", (grid,), {"max_parents": max_parents}, title, time_limit), folder, jobs)


def parse_methods(text: str, more: list[str] | None = None) -> tuple[str, ...]:
    """Methods, comma-separated, and more of them; a wrong name fails here and not once per cell."""
    from optbn.experiments.methods import load_method

    sys.path.append(str(Path.cwd()))  # a function of the user's own; workers get the same path
    methods = tuple(dict.fromkeys(name for name in [*map(str.strip, text.split(",")), *(more or ())] if name))
    for name in methods:
        load_method(name)
    return methods


def parse_sizes(text: str) -> tuple[int, ...]:
    """ "50:400" doubles, "50,70" lists."""
    try:
        if ":" in text:
            low, high = (int(part) for part in text.split(":"))
            if not 0 < low <= high:
                raise ValueError
            sizes = [low]
            while sizes[-1] * 2 <= high:
                sizes.append(sizes[-1] * 2)
            return tuple(sizes)
        listed = tuple(int(part) for part in text.split(","))
        if min(listed) < 1:
            raise ValueError
        return listed
    except ValueError:
        raise DataError(f"cannot read the sizes {text!r}; write 50:1600 or 50,200,800") from None
