"""`optbn fit`: parameters for a structure from data."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import optbn
from optbn.base.errors import UnsupportedError
from optbn.base.files import check_writable, saving
from optbn.base.registry import lookup
from optbn.cli.options import Values, with_options
from optbn.cli.progress import bars
from optbn.cli.reading import DataArgument, with_reading
from optbn.cli.texts import settings
from optbn.cli.writing import check_network_file, names_beside, write_network_file
from optbn.network.formats import encode
from optbn.smoothing import TREES

if TYPE_CHECKING:
    from optbn.network.network import BayesianNetwork
    from optbn.network.structure import Structure
    from optbn.smoothing.domains import Domains
    from optbn.smoothing.fitting import Fitted


@with_options("fit")
@with_reading
def fit(how: dict[str, Any], data: DataArgument, options: Values) -> None:
    """Estimate the probabilities of a network from data, in one pass over the file.

    What a format other than JSON cannot say (trees over real parents, normal leaves) goes to a .json file beside it,
    with a warning that names the variable.

    Example: optbn fit data.parquet --structure learned.json --smoother hdp -o model.bif
    """
    from optbn.smoothing.rows import as_structure

    if options.output != "-":
        check_network_file(options.output, data)
    if options.report is not None:
        check_writable(options.report)
    structure = _bare(options.structure) or as_structure(options.structure)
    with bars(after=1) as progress:
        common: dict[str, Any] = {
            "seed": options.seed, "weights": options.weights, "leaves": options.leaves, "schema": how.pop("schema"),
            "reading": {**how, "missing": options.missing}, "progress": progress, **settings(options.setting),
        }  # fmt: skip
        if options.domain is not None:
            columns = [name.strip() for name in options.domain.split(",")]
            domain = columns[0] if len(columns) == 1 else columns
            networks = optbn.fit_domains(structure, data, domain, options.smoother, **common)
        else:
            way = lookup("way with trees", TREES, options.trees)
            result = way(structure, data, options.smoother, threads=options.threads, **common)
    if options.domain is not None:
        _write_each(networks, options.output)
        return
    _warn_of_chains(result)
    if options.report is not None:
        _write_report(result, options.report)
    _write(result.network, options.output)


def _bare(path: str) -> Structure | None:
    """The graph in a file of another program: a matrix, a list of arcs, Tetrad's text, a model string, DOT."""
    from optbn.evaluate.files import TEXTS, read_graph

    if Path(path).suffix.lower() not in TEXTS or not Path(path).is_file():
        return None
    graph = read_graph(path)
    if graph.kind != "DAG":
        raise UnsupportedError(f"{path}: parameters need a direction for every edge and no cycle; this is not so")
    return optbn.Structure.from_adjacency(graph.matrix, graph.names)


def _write_each(networks: Domains, output: str) -> None:
    """What is common, for domains to come; then a file per domain, with its levels before the ending."""
    _write(networks.common, output)
    every = {**networks.wider, **networks}
    labels = [key if isinstance(key, str) else "-".join(key) for key in every]
    for network, name in zip(every.values(), names_beside(output, labels), strict=True):
        _write(network, name)


def _write(network: BayesianNetwork, output: str) -> None:
    """To a file, or JSON to stdout; what the format cannot say goes to JSON with a warning."""
    if output == "-":
        sys.stdout.buffer.write(encode(network, "json"))
        sys.stdout.buffer.flush()
        return
    print(write_network_file(network, output))


def _write_report(result: Fitted, path: str) -> None:
    """Per variable the diagnostics, and the deviations of its table if the smoother computes them."""
    import numpy as np

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
    bad = {name: d for name, d in result.diagnostics().items() if d.get("converged") is False}
    if bad:
        worst = max(bad, key=lambda name: bad[name]["r_hat"])
        print(
            f"optbn: warning: the chains of {len(bad)} variables have not converged, worst {worst!r}: R-hat "
            f"{bad[worst]['r_hat']:.3f}, {bad[worst]['effective_draws']:.0f} effective draws; more sweeps, or leave "
            "--set sweeps away",
            file=sys.stderr,
        )
