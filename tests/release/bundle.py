"""Makes `networks/` from the repository's files: `python -m tests.release.bundle SOURCE TARGET`.

SOURCE holds <name>.bif and networks.json (per network its name, known counts, source and licence). Every file is read,
its counts are compared with the known ones, and it is written again by our own BIF writer; a text above a megabyte is
gzipped, so that all fit. The result depends on nothing but SOURCE.
"""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import json
import sys
from pathlib import Path

from optbn.base.errors import NetworkError
from optbn.data.dataset import Categorical
from optbn.network.formats import encode, read_network

GZIP_ABOVE = 1_000_000  # bytes
LARGEST_TOTAL = 8_000_000


def bundle(source: Path, target: Path) -> None:
    """Write the networks and catalog.json."""
    catalog = {}
    for entry in json.loads((source / "networks.json").read_text(encoding="utf-8"))["networks"]:
        name = entry["name"]
        network = dataclasses.replace(read_network(source / entry["file"]), name=name)
        counts = {"nodes": network.n_variables, "arcs": network.n_arcs, "parameters": network.n_parameters}
        for what, count in counts.items():
            known = entry["known_bnrepository"][what]
            if count != known and not (isinstance(known, list) and count in known):
                raise NetworkError(f"{name}: {count} {what}, expected {known}")
        text = encode(network, "bif")
        file = f"{name}.bif" if len(text) <= GZIP_ABOVE else f"{name}.bif.gz"
        content = text if file.endswith(".bif") else gzip.compress(text, 9, mtime=0)
        (target / file).write_bytes(content)
        catalog[name] = {
            "file": file,
            **counts,
            "max_parents": max(len(cpd.parents) for cpd in network.cpds),
            "max_levels": max(len(d.levels) for d in network.domains if isinstance(d, Categorical)),
            "source": entry["source"],
            "licence": entry["licence"],
            "sha256": hashlib.sha256(text).hexdigest(),
        }
    (target / "catalog.json").write_text(json.dumps(catalog, indent=1) + "\n", encoding="utf-8")
    total = sum(path.stat().st_size for path in target.glob("*.bif*"))
    if total > LARGEST_TOTAL:
        raise NetworkError(f"the networks take {total} bytes, more than {LARGEST_TOTAL}")


if __name__ == "__main__":
    bundle(Path(sys.argv[1]), Path(sys.argv[2]))
