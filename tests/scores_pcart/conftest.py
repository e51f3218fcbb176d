"""The kernels are what is tested here, also where they are not compiled yet."""

from __future__ import annotations

import pytest

from optbn.scores.trees.grace import grace


@pytest.fixture(autouse=True)
def no_grace(monkeypatch):
    monkeypatch.setattr(grace, "left", 0.0)
