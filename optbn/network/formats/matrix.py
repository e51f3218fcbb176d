"""The adjacency matrix of a network as csv: a line of names, then a row per variable, 1 at [u, v] for an arc u -> v.

Written only; `optbn compare`, `Structure.from_adjacency` and other programs read it.
"""

from __future__ import annotations

import csv
import io

from optbn.network.network import BayesianNetwork


def write(network: BayesianNetwork) -> bytes:
    """The graph; probabilities are not in it."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(network.names)
    writer.writerows(network.structure.to_adjacency().astype(int).tolist())
    return text.getvalue().encode()
