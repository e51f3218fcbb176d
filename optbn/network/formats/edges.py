"""The arcs of a network as csv, a line "parent,child" each below "from,to"; a variable without arcs is a line alone.

Written only; `optbn compare` and other programs read it.
"""

from __future__ import annotations

import csv
import io

from optbn.network.network import BayesianNetwork


def write(network: BayesianNetwork) -> bytes:
    """The graph; probabilities are not in it."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    arcs = network.structure.arcs
    writer.writerow(("from", "to"))
    writer.writerows(arcs)
    ends = {name for arc in arcs for name in arc}
    writer.writerows((name,) for name in network.names if name not in ends)
    return text.getvalue().encode()
