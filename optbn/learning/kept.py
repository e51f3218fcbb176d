"""Finished resamples in a file: a line of what they are of, then a line each; a run that was stopped goes on there."""

from __future__ import annotations

import hashlib
import json
import os
from os import PathLike
from pathlib import Path

import numpy as np

from optbn.base.errors import DataError
from optbn.data.dataset import Dataset
from optbn.learning.resampling import Resampling
from optbn.scores.protocol import LocalScore


class Kept:
    """Finished resamples by number, and the file that keeps them, if any."""

    def __init__(self, names: tuple[str, ...], path: Path | None) -> None:
        self.names, self.path = names, path
        self.found: dict[int, tuple[list[list[int]], float, bool]] = {}

    @classmethod
    def at(
        cls,
        path: str | PathLike[str] | None,
        data: Dataset,
        method: LocalScore,
        max_parents: int,
        how: Resampling,
        seed: int,
    ) -> Kept:
        """What a file holds, which may not exist yet; resamples of something else are refused."""
        made = cls(data.names, None if path is None else Path(path))
        if made.path is None:
            return made
        digest = hashlib.sha256(repr(data.domains).encode())
        for column in data.columns:
            digest.update(np.ascontiguousarray(column).tobytes())
        if data.weights is not None:
            digest.update(np.ascontiguousarray(data.weights.values).tobytes())
        about = {
            "data": digest.hexdigest(),
            "names": list(data.names),
            "score": repr(method),
            "max_parents": max_parents,
            "resampling": repr(how),
            "seed": seed,
        }
        if not made.path.exists():
            made.path.write_text(json.dumps(about) + "\n", encoding="utf-8")
            return made
        try:
            head, *lines = made.path.read_text(encoding="utf-8").splitlines()
            kept = json.loads(head)
            odd = [name for name in about if kept.get(name) != about[name]]
            for line in lines[: -1 if lines and not lines[-1].endswith("}") else None]:  # the last may be cut off
                row = json.loads(line)
                made.found[row["number"]] = (row["parents"], row["score"], row["proved"])
        except (ValueError, KeyError, AttributeError):
            raise DataError(f"{path} does not keep resamples; name another file") from None
        if odd:
            raise DataError(f"{path} keeps resamples of another run: its {odd[0]} differs; name another file")
        made.path.write_text("\n".join([head, *map(made._line, made.found)]) + "\n", encoding="utf-8")
        return made

    def add(self, number: int, parents: list[tuple[int, ...]], score: float, proved: bool) -> None:
        self.found[number] = ([list(each) for each in parents], score, proved)
        if self.path is not None:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(self._line(number) + "\n")
                file.flush()
                os.fsync(file.fileno())

    def _line(self, number: int) -> str:
        parents, score, proved = self.found[number]
        return json.dumps({"number": number, "parents": parents, "score": score, "proved": proved})
