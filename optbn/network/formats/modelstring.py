"""bnlearn's model string: [CHILD|PARENT:PARENT] for every variable, as R's `model2network` reads it.

Written only; `optbn compare` reads it.
"""

from __future__ import annotations

from optbn.network.formats.dialects import checked_names
from optbn.network.network import BayesianNetwork


def write(network: BayesianNetwork) -> bytes:
    """The graph, parents first; probabilities are not in it."""
    checked_names(network, r"[^\[\]|:\s]+", "a model string", "bnlearn")
    parts = []
    for name in (network.names[v] for v in network.structure.order):
        parents = ":".join(network.parents(name))
        parts.append(f"[{name}|{parents}]" if parents else f"[{name}]")
    return ("".join(parts) + "\n").encode()
