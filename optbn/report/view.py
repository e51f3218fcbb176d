"""What the page shows, as plain JSON values: the report put into words, where everything is drawn, and the network.

The keys are the contract with the scripts in `web`. The network travels in optbn's own JSON, with every digit: the page
computes with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from optbn.base.numbers import counted
from optbn.data.dataset import Categorical, Domain, Real
from optbn.data.dates import in_unit
from optbn.network.layout import layered
from optbn.report.report import PHASES, Arc, Column, Report

HEAD, LINE, STRIP = 22, 15, 52  # pixels of a box: its name, a level, a histogram with its caption (web/graph.js)
MOST_LINES = 5  # levels in rows; more become columns
MANY = 60  # variables, from which on every box is small


def view(report: Report) -> dict[str, Any]:
    """The page's data."""
    network = report.model()
    at = {name: i for i, name in enumerate(network.names)}
    arcs = [(at[arc.parent], at[arc.child]) for arc in report.arcs]
    many = network.n_variables > MANY
    boxes = [_box(domain, name, many) for name, domain in zip(network.names, network.domains, strict=True)]
    layout = layered([width for width, _, _ in boxes], arcs, [height for _, height, _ in boxes])
    columns = {column.name: column for column in report.data.columns}
    outcome = report.outcome
    return {
        "subtitle": (
            f"{counted(network.n_variables, 'variable')}, {counted(report.data.rows, 'row')}, "
            f"{counted(len(arcs), 'arc')}, {report.score_name} score {_number(outcome.score)} nats"
        ),
        "proof": {
            "proved": outcome.proved,
            "met": outcome.bound == outcome.score,  # in the words of the search
            "words": outcome.proof,
            "details": [_sentence(text) for text in (*outcome.details, *report.notes)],
        },
        "facts": [
            ["Score", f"{outcome.score:.6f}"],
            ["Bound" if outcome.proved else "Bound, says the search", f"{outcome.bound:.6f}"],
            ["Candidate sets scored", f"{report.families_scored:,}"],
            ["Kept for the search", f"{report.families_kept:,}"],
            ["Arcs", str(len(arcs))],
            ["Parameters", f"{network.n_parameters:,}"],
        ],
        "nodes": [
            _node(name, columns.get(name), box, place)
            for name, box, place in zip(network.names, boxes, layout.positions, strict=True)
        ],
        "arcs": [_arc(*each) for each in zip(report.arcs, arcs, layout.routes, strict=True)],
        "target": at.get(report.target) if report.target else None,
        "evidence": report.evidence,
        "network": report.network,
        "counts": report.counts,
        "trace": [[point.seconds, point.score, point.bound] for point in report.trace],
        "phases": [[PHASES.get(phase.name, phase.name), phase.wall, phase.cpu] for phase in report.phases],
        "alternatives": list(report.alternatives),
        "others": [[f"{arc.parent} → {arc.child}", arc.posterior] for arc in report.others],
        "heldOut": [[h.model, h.per_row, h.error, h.log_loss, h.right, h.rmse] for h in report.held_out],
        "settings": [[key, "none" if value is None else str(value)] for key, value in report.settings.items()],
        "data": {
            "words": f"{report.data.source}: {counted(report.data.rows, 'row')}, sha256 {report.data.digest[:16]}…",
            "columns": [[c.name, c.kind, _summary(c)] for c in report.data.columns],
        },
        "command": report.command,
        "cite": [f"Made with optbn {report.version}.", *report.papers],
    }


def _node(
    name: str, column: Column | None, box: tuple[float, float, bool], place: tuple[float, float]
) -> dict[str, Any]:
    return {
        "label": name,
        "kind": "real" if column is not None and column.kind == "real" else "categorical",
        "summary": "" if column is None else _summary(column),
        "x": round(place[0], 1),
        "y": round(place[1], 1),
        "width": round(box[0], 1),
        "height": box[1],
        "rows": box[2],
    }


def _arc(arc: Arc, ends: tuple[int, int], route: Sequence[tuple[float, float]]) -> dict[str, Any]:
    return {
        "from": ends[0],
        "to": ends[1],
        "strength": arc.strength,
        "compelled": arc.compelled,
        "posterior": arc.posterior,
        "loss": arc.loss,
        "losses": _losses(arc),
        "route": [[round(x, 1), round(y, 1)] for x, y in route],
    }


def _losses(arc: Arc) -> list[tuple[str, str]]:
    """What the best network of all loses without the arc, in words."""
    if arc.loss is None or arc.turned is None or arc.apart is None:
        return []
    proof = "two optima compared, proved" if arc.proved else "two optima compared, not proved"
    return [
        ("Best network without it", f"loses {arc.loss:.3f} nat ({proof})"),
        ("Best network with it turned", f"loses {arc.turned:.3f} nat"),
        ("Best network without either", f"loses {arc.apart:.3f} nat"),
    ]


def _box(domain: Domain, name: str, many: bool) -> tuple[float, float, bool]:
    """Pixels wide and high of a variable's box, and whether its levels stand in rows; the page cuts names at 24."""
    width = 22 + 7.2 * min(len(name), 24)
    if many or not isinstance(domain, Categorical) or len(domain.levels) > MOST_LINES:
        mixed = isinstance(domain, Real) and domain.absent  # the caption ends with how many are missing
        return max(width, 178.0 if mixed else 134.0), HEAD + STRIP, False
    return max(width, 142.0), HEAD + LINE * len(domain.levels) + 5, True


def _summary(column: Column) -> str:
    if column.kind == "real":
        ends = (column.low or 0.0, column.high or 0.0)
        return " to ".join(in_unit(end, column.unit) if column.unit else _number(end) for end in ends)
    shown = ", ".join(column.levels[:12])
    return shown + (f", … ({len(column.levels)} levels)" if len(column.levels) > 12 else "")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _number(x: float) -> str:
    return f"{x:.5g}" if abs(x) < 1e5 else f"{x:,.1f}"
