"""Phase II with everything around it: from data to a network with a report, under constraints and limits of time.

FORMATS lists by name how the graph of a solution can be written.
"""

from __future__ import annotations

FORMATS: dict[str, str] = {
    "json": "optbn.learning.written:as_json",
    "dot": "optbn.learning.written:as_dot",
    "adjacency": "optbn.learning.written:as_adjacency",
    "cpdag": "optbn.learning.written:as_cpdag",
}
