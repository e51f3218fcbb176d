"""Draws the picture of shrinkage in docs/related.md: `python docs/shrinkage.py` writes docs/shrinkage.png.

Twelve towns of 6 to 400 rows, each with a rate of its own around a common one; what the rows of a town alone say of
its rate, what `fit_domains` makes of it, and the truth.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import optbn

SIZES = (6, 8, 8, 10, 12, 15, 20, 30, 50, 100, 200, 400)
RATE, STRENGTH = 0.3, 40.0


def main() -> None:
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    rng = np.random.default_rng(0)
    truth = rng.beta(STRENGTH * RATE, STRENGTH * (1 - RATE), len(SIZES))
    ill = [rng.random(n) < p for n, p in zip(SIZES, truth, strict=True)]
    names = [f"town {i + 1:02}" for i in range(len(SIZES))]
    data = optbn.Dataset.from_arrays({
        "town": [name for name, n in zip(names, SIZES, strict=True) for _ in range(n)],
        "ill": ["yes" if value else "no" for of in ill for value in of],
    })  # fmt: skip
    towns = optbn.fit_domains({"ill": ()}, data, domain="town")
    yes = data.domain("ill").levels.index("yes")
    found = [towns[name].query("ill", interval=0.9) for name in names]
    common = towns.common.query("ill").probabilities[yes]

    figure, axes = pyplot.subplots(figsize=(7.5, 3.6), layout="constrained")
    for x, (of, answer, p) in enumerate(zip(ill, found, truth, strict=True)):
        axes.plot(
            [x, x], [answer.low[yes], answer.high[yes]], color="#b8c4d6", linewidth=5, solid_capstyle="butt", zorder=1
        )
        axes.annotate(
            "", (x, answer.probabilities[yes]), (x, of.mean()), arrowprops={"arrowstyle": "->", "color": "#888"}
        )
        axes.plot(x, of.mean(), "o", color="#888", markersize=5, label="its own rows alone" if not x else None)
        axes.plot(
            x,
            answer.probabilities[yes],
            "o",
            color="#1f4e9c",
            markersize=6,
            label="with what it borrows" if not x else None,
        )
        axes.plot(x, p, "x", color="#c0392b", markersize=6, label="the truth" if not x else None)
    axes.axhline(common, color="#1f4e9c", linewidth=0.8, linestyle=":", label="all towns together")
    axes.set_xticks(range(len(SIZES)), [str(n) for n in SIZES])
    axes.set_xlabel("rows of the town (bars: 90 % intervals)")
    axes.set_ylabel("share of ill people")
    axes.set_ylim(bottom=0.0)
    axes.legend(fontsize=8, frameon=False, ncols=2)
    figure.savefig(Path(__file__).with_name("shrinkage.png"), dpi=110)
    alone = np.array([of.mean() for of in ill])
    together = np.array([answer.probabilities[yes] for answer in found])
    print(f"mean distance from the truth: alone {np.abs(alone - truth).mean():.3f}, "
          f"pooled {np.abs(common - truth).mean():.3f}, together {np.abs(together - truth).mean():.3f}")  # fmt: skip


if __name__ == "__main__":
    main()
