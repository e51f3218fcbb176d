"""`optbn networks`: the bundled networks."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def complete_network(incomplete: str) -> list[str]:
    """Shell completion: the bundled networks that begin so."""
    from optbn.network.catalog import catalog

    return [name for name in catalog() if name.startswith(incomplete)]


def networks(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the catalogue as JSON, with sources and checksums.")
    ] = False,
) -> None:
    """List the bundled networks with their sizes.

    Example: optbn networks
    """
    from optbn.network.catalog import catalog
    from optbn.network.render import columns

    if as_json:
        print(json.dumps(catalog(), indent=1))
        return
    fields = ("nodes", "arcs", "parameters", "max_parents", "max_levels")
    rows: list[tuple[str, ...]] = [("network", "variables", "arcs", "parameters", "most parents", "most levels")]
    rows += [(name, *(str(entry[f]) for f in fields)) for name, entry in sorted(catalog().items())]
    print(columns(rows, right=range(1, 6)))
