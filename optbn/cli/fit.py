"""`optbn fit`: parameters for a structure from data."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, count
from typing import TYPE_CHECKING, Annotated, Any

import typer

from optbn.cli.networks import complete_network
from optbn.cli.options import SettingOption, settings
from optbn.cli.progress import bars
from optbn.cli.reading import DataArgument, MissingOption, with_reading
from optbn.cli.writing import check_network_file, write_or_beside

if TYPE_CHECKING:
    from optbn.network.network import BayesianNetwork
    from optbn.smoothing.fitting import Fitted


def complete_smoother(start: str) -> list[str]:
    """Names of smoothers for the shell."""
    from optbn.smoothing.protocol import SMOOTHERS

    return [name for name in SMOOTHERS if name.startswith(start)]


@with_reading
def fit(
    how: dict[str, Any],
    data: DataArgument,
    structure: Annotated[
        str,
        typer.Option(
            "--structure", "-S", help="A network or structure file, or a bundled name.", autocompletion=complete_network
        ),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="A .bif, .xmlbif, .net or .json file; - is JSON to stdout.")
    ] = "-",
    smoother: Annotated[
        str | None,
        typer.Option(
            "--smoother",
            help="mle, laplace, bdeu, m_estimate, m_branch, hdp, hierarchical or gradient.",
            autocompletion=complete_smoother,
            show_default="hdp; hierarchical with --domain",
        ),
    ] = None,
    setting: SettingOption = None,
    domain: Annotated[
        str | None,
        typer.Option(
            "--domain", help="The column that says which data set a row is from: a network for each of its levels."
        ),
    ] = None,
    weights: Annotated[str | None, typer.Option("--weights", help="The column with the weights of the rows.")] = None,
    leaves: Annotated[
        str, typer.Option("--leaves", help="For real variables: normal, or student (posterior predictive).")
    ] = "normal",
    seed: Annotated[int, typer.Option("--seed", help="Of the samplers.", min=0)] = 0,
    threads: Annotated[int, typer.Option("--threads", help="Of no consequence for the result.", min=1)] = 1,
    missing: MissingOption = "refuse",
    report: Annotated[
        str | None,
        typer.Option(help="A JSON file for what the smoother says: convergence, constants it chose, deviations."),
    ] = None,
) -> None:
    """Give a network its probabilities from data, read in one pass and never held in memory.

    What a format other than JSON cannot say (trees over real parents, normal leaves) goes to a .json file beside it,
    with a warning that names the variable.

    Example: optbn fit data.parquet --structure learned.json --smoother hdp -o model.bif
    """
    from pathlib import Path

    from optbn.smoothing.domains import fit_domains
    from optbn.smoothing.fitting import DEFAULT_SMOOTHER, as_structure, fitted

    if output != "-":
        check_network_file(output)
    if domain is not None and output == "-":
        from optbn.base.errors import UnsupportedError

        raise UnsupportedError("--domain makes a network per level: name a file with --output")
    if domain is not None and report is not None:
        from optbn.base.errors import UnsupportedError

        raise UnsupportedError("--report does not go with --domain")
    if report is not None:
        from optbn.base.files import check_writable

        check_writable(report)
    asked = as_structure(structure)
    given = settings(setting)
    with bars(after=1) as progress:
        common: dict[str, Any] = {
            "seed": seed, "weights": weights, "leaves": leaves, "schema": how.pop("schema"),
            "reading": {**how, "missing": missing}, "progress": progress, **given,
        }  # fmt: skip
        if domain is not None:
            networks = fit_domains(asked, data, domain, smoother or "hierarchical", **common)
        else:
            result = fitted(asked, data, smoother or DEFAULT_SMOOTHER, threads=threads, **common)
    if domain is None:
        _warn_of_chains(result)
        if report is not None:
            _write_report(result, report)
        _write(result.network, output)
        return
    path = Path(output)
    ending = "".join(path.suffixes[-2:]) if path.suffix.lower() == ".gz" else path.suffix
    for network, name in zip(networks.values(), _file_names(networks), strict=True):
        _write(network, str(path.with_name(f"{path.name.removesuffix(ending)}.{name}{ending}")))


def _file_names(levels: Iterable[str]) -> list[str]:
    """What stands for each level in the name of its file: "s t" is s_t, or s_t-2 beside a level of that name."""
    safe = {level: "".join(c if c.isalnum() or c in "-_" else "_" for c in level) for level in levels}
    taken = {level for level, name in safe.items() if level == name}
    names = []
    for level, name in safe.items():
        if level != name:
            numbered = (f"{name}-{number}" for number in count(2))
            name = next(each for each in chain([name], numbered) if each not in taken)
            taken.add(name)
        names.append(name)
    return names


def _write(network: BayesianNetwork, output: str) -> None:
    """To a file, or JSON to stdout; what the format cannot say goes to JSON with a warning."""
    import sys

    from optbn.base.numbers import counted
    from optbn.network.formats import encode

    if output == "-":
        sys.stdout.buffer.write(encode(network, "json"))
        sys.stdout.buffer.flush()
        return
    written, reason = write_or_beside(network, output)
    if reason is not None:
        print(f"optbn: warning: {reason}; written to {written}", file=sys.stderr)
    sizes = {"variable": network.n_variables, "arc": network.n_arcs, "parameter": network.n_parameters}
    print(f"{written}: {', '.join(counted(number, thing) for thing, number in sizes.items())}")


def _write_report(result: Fitted, path: str) -> None:
    """Per variable the diagnostics, and the deviations of its table if the smoother was asked for them."""
    import json

    import numpy as np

    from optbn.base.files import saving

    def plain(value: Any) -> Any:
        """For JSON: arrays as lists, numbers that are not finite as null."""
        if isinstance(value, np.ndarray | np.generic):
            value = value.tolist()
        if isinstance(value, list):
            return [plain(v) for v in value]
        return value if not isinstance(value, float) or np.isfinite(value) else None

    variables: dict[str, Any] = {}
    for name, diagnostics in result.diagnostics().items():
        variables[name] = {key: plain(value) for key, value in diagnostics.items()}
        deviations = result.deviations(name)
        if deviations is not None:
            variables[name]["deviations"] = plain(deviations)
    with saving(path) as partial:
        partial.write_text(json.dumps({"rows": result.rows, "variables": variables}, indent=1) + "\n")


def _warn_of_chains(result: Fitted) -> None:
    """Name the variables whose Markov chains have not converged."""
    import sys

    bad = {name: d for name, d in result.diagnostics().items() if d.get("converged") is False}
    if bad:
        worst = max(bad, key=lambda name: bad[name]["r_hat"])
        print(
            f"optbn: warning: the chains of {len(bad)} variables have not converged, worst {worst!r}: R-hat "
            f"{bad[worst]['r_hat']:.3f}, {bad[worst]['effective_draws']:.0f} effective draws; more sweeps, or leave "
            "--set sweeps away",
            file=sys.stderr,
        )
