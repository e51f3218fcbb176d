"""The scores again, with all sets: for answers that a pruned score file cannot give, where the data are at hand.

A file says of itself which score of which data it has, by what settings and within which limits (`describe` in
`optbn.scores.pipeline`). The data must be those, by their digest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from typing import Any

from optbn.base.errors import DataError, UnsupportedError
from optbn.base.memory import parse_memory
from optbn.data.anything import DataLike, as_dataset
from optbn.data.policies import MissingLike
from optbn.scores import load_score
from optbn.scores.families import Families
from optbn.scores.listed import score_families
from optbn.scores.parent_sets import ParentSets
from optbn_solvers.base.constraints import Constraints
from optbn_solvers.base.files import read_about
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.base.whole import ALL


def scored_again(
    path: str | PathLike[str], data: DataLike, missing: MissingLike = "value", memory: int | str | None = None
) -> ScoreTable:
    """The table of a score file with all its sets, those included that one of their subsets beats."""
    about = read_about(str(path))
    name, settings, limits = about.get("name"), about.get("settings"), about.get("constraints", {})
    if not isinstance(name, str) or not isinstance(settings, Mapping) or limits.get("candidates"):
        raise UnsupportedError(
            f"{path} does not say by which score and limits it was made, so it cannot be made again: score the data "
            "with optbn score --keep-dominated"
        )
    rows = as_dataset(data, about.get("schema"), missing)
    if rows.digest != about.get("data"):
        raise DataError(f"the data are not those of {path} (their digests differ): give the file that was scored")
    words: dict[str, Any] = {field: value for field, value in limits.items() if field != "max_parents"}
    sets = ParentSets.of(rows.names, limits.get("max_parents"), Constraints(**words))
    families = Families.allowed(rows.names, sets, parse_memory(memory))
    scores = score_families(rows, families, load_score(name, **settings), memory=memory)
    return replace(scores.rows(), about={"sets": ALL}).table(keep_dominated=True)
