"""A graph as svg: boxes in layers, parents above children, with the chances of each variable's values if wanted."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from optbn.network.drawing import Picture
from optbn.network.drawing.shapes import BAR, LETTER, LINE, SOFT, TRACK, box, clipped, document, path, text
from optbn.network.layout import layered
from optbn.network.posterior import Posterior, RealPosterior

MARGIN, HEAD, ROW = 12.0, 26.0, 15.0
LONGEST = 24  # letters of a name or a level
MOST = 8  # levels with a line of their own

Point = tuple[float, float]


def draw_graph(
    names: Sequence[str],
    arcs: Sequence[tuple[str, str]],
    undirected: Collection[tuple[str, str]] = (),
    chances: Mapping[str, Posterior] | None = None,
    known: Mapping[str, object] | None = None,
) -> Picture:
    """The picture of a DAG.

    undirected   arcs to draw without a head: those whose direction is open
    chances      what to show in the boxes; known, the values of the variables that have one
    """
    if not names:
        return Picture(document([], 0, 0, 2 * MARGIN, 2 * MARGIN))
    at = {name: i for i, name in enumerate(names)}
    inside = [_lines(chances[name]) if chances and name in chances else [] for name in names]
    inside = [[(str(known[n]), 1.0)] if known and n in known else lines for n, lines in zip(names, inside, strict=True)]
    sizes = [_size(name, lines) for name, lines in zip(names, inside, strict=True)]
    numbered = [(at[parent], at[child]) for parent, child in arcs]
    layout = layered([w for w, _ in sizes], numbered, [h for _, h in sizes])
    shapes = []
    for arc, (tail, head), route in zip(arcs, numbered, layout.routes, strict=True):
        ends = [_edge(layout.positions[v], sizes[v], p) for v, p in _toward(tail, head, route, layout.positions)]
        shapes += _arrow([ends[0], *route, ends[1]], arc not in undirected)
    for (x, y), (width, height), name, lines in zip(layout.positions, sizes, names, inside, strict=True):
        shapes += _box(x - width / 2, y - height / 2, width, height, name, lines)
    left = min(x - w / 2 for (x, _), (w, _) in zip(layout.positions, sizes, strict=True)) - MARGIN
    right = max(x + w / 2 for (x, _), (w, _) in zip(layout.positions, sizes, strict=True)) + MARGIN
    top = min(y - h / 2 for (_, y), (_, h) in zip(layout.positions, sizes, strict=True)) - MARGIN
    bottom = max(y + h / 2 for (_, y), (_, h) in zip(layout.positions, sizes, strict=True)) + MARGIN
    return Picture(document(shapes, left, top, right - left, bottom - top))


def _lines(posterior: Posterior) -> list[tuple[str, float]]:
    """Levels and their chances; of a real variable its mean and standard deviation."""
    if isinstance(posterior, RealPosterior):
        return [(f"{posterior.mean:.4g} ± {posterior.sd:.4g}", math.nan)]
    pairs = list(zip(posterior.levels[0], posterior.probabilities.tolist(), strict=True))
    if len(pairs) <= MOST:
        return pairs
    likely = sorted(pairs, key=lambda pair: -pair[1])[: MOST - 1]
    return [*likely, (f"{len(pairs) - len(likely)} others", 1 - sum(p for _, p in likely))]


def _size(name: str, lines: Sequence[tuple[str, float]]) -> tuple[float, float]:
    letters = max([len(clipped(name, LONGEST)), *(len(clipped(level, LONGEST)) + 7 for level, _ in lines)])
    return max(48.0, 20 + LETTER * letters), HEAD + (ROW * len(lines) + 4 if lines else 0)


def _box(x: float, y: float, width: float, height: float, name: str, lines: Sequence[tuple[str, float]]) -> list[str]:
    middle = x + width / 2
    weight = "bold" if lines else "normal"
    shapes = [box(x, y, width, height), text(middle, y + 17, clipped(name, LONGEST), font_weight=weight)]
    for i, (level, p) in enumerate(lines):
        top = y + HEAD + i * ROW
        if math.isnan(p):
            shapes.append(text(middle, top + 11, level, 11, fill=SOFT))
            continue
        shapes += [
            box(x + 4, top + 1, width - 8, ROW - 2, 2, fill=TRACK, stroke="none"),
            box(x + 4, top + 1, (width - 8) * p, ROW - 2, 2, fill=BAR, stroke="none"),
            text(x + 8, top + 11, clipped(level, LONGEST), 11, "start"),
            text(x + width - 7, top + 11, f"{100 * p:.1f}%", 10.5, "end", fill=SOFT),
        ]
    return shapes


def _toward(tail: int, head: int, route: Sequence[Point], positions: Sequence[Point]) -> list[tuple[int, Point]]:
    """Each end and the point that the line goes to from there."""
    return [(tail, route[0] if route else positions[head]), (head, route[-1] if route else positions[tail])]


def _edge(centre: Point, size: tuple[float, float], toward: Point) -> Point:
    """Where the line from the centre leaves the box."""
    dx, dy = toward[0] - centre[0], toward[1] - centre[1]
    if not dx and not dy:
        return centre
    scale = min((size[0] / 2 + 2) / max(abs(dx), 1e-9), (size[1] / 2 + 2) / max(abs(dy), 1e-9))
    return centre[0] + dx * scale, centre[1] + dy * scale


def _arrow(points: Sequence[Point], head: bool) -> list[str]:
    d = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (ax, ay), (bx, by) in pairwise(points):
        middle = (ay + by) / 2
        bend = f"C{ax:.1f} {middle:.1f} {bx:.1f} {middle:.1f} {bx:.1f} {by:.1f}"
        d += f"L{bx:.1f} {by:.1f}" if len(points) == 2 else bend
    if not head:
        return [path(d)]
    (ax, ay), (bx, by) = points[-2], points[-1]
    angle = math.atan2(by - ay, bx - ax) if len(points) == 2 else math.pi / 2
    wings = [(bx - 9 * math.cos(angle + turn), by - 9 * math.sin(angle + turn)) for turn in (0.4, -0.4)]
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in ((bx, by), *wings))
    return [path(d), f'<polygon points="{corners}" fill="{LINE}"/>']
