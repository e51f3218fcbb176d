"""What users bring from other libraries, by the attributes that make it what it is: for signatures, not for checks."""

from __future__ import annotations

from typing import Any, Protocol


class Frame(Protocol):
    """A data frame of pandas, polars, pyarrow or another library that narwhals knows."""

    @property
    def columns(self) -> Any: ...

    def __len__(self) -> int: ...


class Graph(Protocol):
    """A networkx graph."""

    @property
    def nodes(self) -> Any: ...

    @property
    def edges(self) -> Any: ...
