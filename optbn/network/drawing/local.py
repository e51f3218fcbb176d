"""A local distribution as svg: a table with its rows, or a tree with its leaves side by side."""

from __future__ import annotations

from optbn.network.cpds import CPD, TreeCPD
from optbn.network.drawing import Picture
from optbn.network.drawing.shapes import BAR, LETTER, SOFT, TRACK, box, clipped, document, path, text
from optbn.network.leaves import CategoricalLeaves
from optbn.network.render import conditions, leaf_texts, possible_levels
from optbn.network.tree import Split

ROW, PAD, MOST_ROWS = 20.0, 12.0, 200
LEAF, LEVEL, BARS = 118.0, 78.0, 26.0


def draw_cpd(name: str, cpd: CPD) -> Picture:
    """The picture of P(name | parents)."""
    return _tree(name, cpd) if isinstance(cpd, TreeCPD) else _table(name, cpd)


def _title(name: str, cpd: CPD) -> str:
    return f"P({name}{' | ' + ', '.join(cpd.parents) if cpd.parents else ''})"


def _table(name: str, cpd: CPD) -> Picture:
    titles, leaves = leaf_texts(cpd)
    assert not isinstance(cpd, TreeCPD)
    rows = [(*cpd.configuration(cell), *leaf) for cell, leaf in enumerate(leaves[:MOST_ROWS])]
    head, given = (*cpd.parents, *titles), len(cpd.parents)
    widths = [2 * PAD + LETTER * max(len(clipped(row[i], 24)) for row in (head, *rows)) for i in range(len(head))]
    starts = [sum(widths[:i]) for i in range(len(head))]
    whole, top = max(sum(widths), 2 * PAD + LETTER * 1.1 * len(_title(name, cpd))), 2 * ROW
    shapes = [text(PAD, ROW, _title(name, cpd), 13, "start", font_weight="bold")]
    for number, row in enumerate((head, *rows)):
        y = top + number * ROW
        for i, cell in enumerate(row):
            if number and i >= given and isinstance(cpd.leaves, CategoricalLeaves):
                p = float(cpd.leaves.probabilities[number - 1, i - given])
                shapes.append(box(starts[i], y, widths[i], ROW, 0, fill=BAR, fill_opacity=f"{p:.3f}", stroke="none"))
            x, anchor = (starts[i] + PAD, "start") if i < given else (starts[i] + widths[i] - PAD, "end")
            weight = "normal" if number else "bold"
            shapes.append(text(x, y + 14, clipped(cell, 24), 12, anchor, font_weight=weight))
    for y in (top, top + ROW, top + ROW * (len(rows) + 1)):
        shapes.append(path(f"M0 {y:.1f}H{sum(widths):.1f}", stroke_width="1"))
    height = top + ROW * (len(rows) + 1) + PAD
    if len(leaves) > MOST_ROWS:
        shapes.append(text(PAD, height + 4, f"{len(leaves) - MOST_ROWS} more rows", 11, "start", fill=SOFT))
        height += ROW
    return Picture(document(shapes, -PAD, 0, whole + 2 * PAD, height))


def _tree(name: str, cpd: TreeCPD) -> Picture:
    nodes = cpd.tree.nodes(cpd.parent_domains)
    titles, leaves = leaf_texts(cpd)
    shapes = [text(0, 16, _title(name, cpd), 13, "start", font_weight="bold")]
    reachable = possible_levels(cpd)
    place: dict[int, tuple[float, float]] = {}
    depth = {0: 0}
    for i, node in enumerate(nodes):  # parents come before children
        if isinstance(node, Split):
            depth[node.left] = depth[node.right] = depth[i] + 1
    across, stack = 0.0, [0]
    while stack:
        i = stack.pop()
        node = nodes[i]
        if isinstance(node, Split):
            stack += [node.right, node.left]
        else:
            place[i] = (across + LEAF / 2, 48 + LEVEL * depth[i])
            across += LEAF
    for i in reversed(range(len(nodes))):
        node = nodes[i]
        if isinstance(node, Split):
            place[i] = ((place[node.left][0] + place[node.right][0]) / 2, 48 + LEVEL * depth[i])
    for i, node in enumerate(nodes):
        x, y = place[i]
        if not isinstance(node, Split):
            shapes += _leaf(x, y, cpd, node, titles, leaves[node])
            continue
        words = conditions("", cpd.parent_domains[node.parent], node, reachable[i][node.parent])
        for child, what in zip((node.left, node.right), words, strict=True):
            below = place[child]
            shapes.append(path(f"M{x:.1f} {y + 8:.1f}L{below[0]:.1f} {below[1] - 16:.1f}", stroke_width="1"))
            middle = x + 0.55 * (below[0] - x)
            words_at = (middle, y + 0.55 * (below[1] - y), clipped(what.strip(), 22), 11)
            shapes.append(text(*words_at, "middle", stroke="white", stroke_width="4", fill="white"))
            shapes.append(text(*words_at, "middle", fill=SOFT))
        shapes.append(text(x, y + 2, clipped(cpd.parents[node.parent], 24), 12, font_weight="bold"))
    width = max(across, LETTER * 1.2 * len(_title(name, cpd)))
    height = 48 + LEVEL * max(depth.values()) + 60
    return Picture(document(shapes, -PAD, 0, width + 2 * PAD, height))


def _leaf(x: float, y: float, cpd: TreeCPD, leaf: int, titles: tuple[str, ...], values: tuple[str, ...]) -> list[str]:
    wide = LEAF - 10
    shapes = [box(x - wide / 2, y - 16, wide, BARS + 32, fill="#fbfbf9")]
    if not isinstance(cpd.leaves, CategoricalLeaves):
        for k, (title, value) in enumerate(zip(titles, values, strict=True)):
            shapes.append(text(x, y + 2 + 14 * k, f"{title} {value}", 11))
        return shapes
    row = cpd.leaves.probabilities[leaf].tolist()
    step = (wide - 12) / len(row)
    for k, p in enumerate(row):
        left, tall = x - wide / 2 + 6 + k * step, BARS * p
        shapes.append(box(left, y - 10, max(1.0, step - 2), BARS, 1, fill=TRACK, stroke="none"))
        shapes.append(box(left, y - 10 + BARS - tall, max(1.0, step - 2), tall, 1, fill=BAR, stroke="none"))
    best = row.index(max(row))
    return [*shapes, text(x, y + BARS + 6, f"{clipped(titles[best], 10)} {100 * row[best]:.0f}%", 11)]
