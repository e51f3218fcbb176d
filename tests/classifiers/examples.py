"""Small data for the classifiers' tests."""

from __future__ import annotations

import numpy as np
import pandas as pd


def coded(seed: int, n: int = 40, sizes: tuple[int, ...] = (2, 3, 2, 4), C: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Codes that depend on each other and on the class; every class and the last level of each column occur."""
    random = np.random.default_rng(seed)
    y = random.integers(0, C, n)
    y[:C] = np.arange(C)
    codes = np.empty((n, len(sizes)), dtype=np.int32)
    before = y.copy()
    for j, size in enumerate(sizes):
        noise = random.integers(0, size, n)
        codes[:, j] = np.where(random.random(n) < 0.6, (before + y * j) % size, noise)
        before = codes[:, j] + y
    codes[0] = np.array(sizes) - 1
    return codes, y


def texts(codes: np.ndarray, sizes: tuple[int, ...]) -> pd.DataFrame:
    """The codes as categories, all levels declared."""
    return pd.DataFrame(
        {
            f"x{j}": pd.Categorical.from_codes(codes[:, j], [f"v{v}" for v in range(size)])
            for j, size in enumerate(sizes)
        }
    )


def mixed(seed: int, n: int = 200) -> tuple[pd.DataFrame, pd.Series]:
    """Numbers, texts and missing values in one frame."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    frame = pd.DataFrame(
        {
            "age": random.normal(40 + 10 * y, 8),
            "job": np.where(random.random(n) < 0.7, np.array(["cook", "nurse"])[y], "pilot"),
            "size": pd.Categorical(np.array(["s", "m", "l"])[random.integers(0, 3, n)]),
            "hours": random.integers(0, 5, n) * (1 + y),
        }
    )
    frame.loc[::7, "age"] = np.nan
    frame.loc[::11, "job"] = None
    return frame, pd.Series(np.array(["no", "yes"])[y], name="income")
