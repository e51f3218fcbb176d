"""What the page shows, as plain JSON values: the report put into words, and every local distribution as rows or a tree.

The keys are the contract with `page.js`. Probabilities are rounded to five digits here: the page is for reading, the
exact numbers are in the model file. Long tables are cut, and say so.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from optbn.base.numbers import counted
from optbn.data.dataset import Categorical
from optbn.network.cpds import BinnedTableCPD, TableCPD, TreeCPD
from optbn.network.leaves import CategoricalLeaves, Leaves, NormalLeaves
from optbn.network.network import BayesianNetwork
from optbn.network.tree import Split
from optbn.report.layout import layered
from optbn.report.report import PHASES, Column, Report

MAX_ROWS = 300


def view(report: Report) -> dict[str, Any]:
    """The page's data."""
    network = report.model()
    at = {name: i for i, name in enumerate(network.names)}
    arcs = [(at[arc.parent], at[arc.child]) for arc in report.arcs]
    widths = [_box_width(name) for name in network.names]
    layout = layered(widths, arcs)
    columns = {column.name: column for column in report.data.columns}
    outcome = report.outcome
    return {
        "subtitle": (
            f"{counted(network.n_variables, 'variable')}, {counted(report.data.rows, 'row')}, "
            f"{counted(len(arcs), 'arc')}, score {_number(outcome.score)}"
        ),
        "proof": {
            "proved": outcome.proved,
            "met": outcome.bound == outcome.score,
            "words": outcome.proof,
            "details": [_sentence(text) for text in (*outcome.details, *report.notes)],
        },
        "facts": [
            ["Score", f"{outcome.score:.6f}"],
            ["Bound", f"{outcome.bound:.6f}"],
            ["Candidate sets scored", f"{report.families_scored:,}"],
            ["Kept for the search", f"{report.families_kept:,}"],
            ["Arcs", str(len(arcs))],
            ["Parameters", f"{network.n_parameters:,}"],
        ],
        "nodes": [
            {
                "label": name,
                "kind": "real" if name in columns and columns[name].kind == "real" else "categorical",
                "summary": _summary(columns[name]) if name in columns else "",
                "x": round(x, 1),
                "y": round(y, 1),
                "width": width,
                "cpd": distribution(network, name, report.counts.get(name)),
            }
            for name, width, (x, y) in zip(network.names, widths, layout.positions, strict=True)
        ],
        "arcs": [
            {
                "from": tail,
                "to": head,
                "strength": arc.strength,
                "compelled": arc.compelled,
                "posterior": arc.posterior,
                "route": [[round(x, 1), round(y, 1)] for x, y in route],
            }
            for arc, (tail, head), route in zip(report.arcs, arcs, layout.routes, strict=True)
        ],
        "trace": [[point.seconds, point.score, point.bound] for point in report.trace],
        "phases": [[PHASES.get(phase.name, phase.name), phase.wall, phase.cpu] for phase in report.phases],
        "alternatives": list(report.alternatives),
        "others": [[f"{arc.parent} → {arc.child}", arc.posterior] for arc in report.others],
        "settings": [[key, "none" if value is None else str(value)] for key, value in report.settings.items()],
        "data": {
            "words": f"{report.data.source}: {counted(report.data.rows, 'row')}, sha256 {report.data.digest[:16]}…",
            "columns": [[c.name, c.kind, _summary(c)] for c in report.data.columns],
        },
        "command": report.command,
        "cite": [f"Made with optbn {report.version}.", *citations(report.settings.values())],
    }


PAPERS = {
    "PCART": "Trees and bins: Talvitie, Eggeling, Koivisto (2019), Learning Bayesian networks with local structure, "
    "mixed variables, and exact algorithms, International Journal of Approximate Reasoning 115.",
    "BDeu": "BDeu: Heckerman, Geiger, Chickering (1995), Learning Bayesian networks: the combination of knowledge and "
    "statistical data, Machine Learning 20.",
    "BDs": "BDs: Scutari (2016), An empirical-Bayes score for discrete Bayesian networks, PGM.",
    "K2": "K2: Cooper, Herskovits (1992), A Bayesian method for the induction of probabilistic networks from data, "
    "Machine Learning 9.",
    "BIC": "BIC: Schwarz (1978), Estimating the dimension of a model, Annals of Statistics 6.",
    "AIC": "AIC: Akaike (1974), A new look at the statistical model identification, IEEE Transactions on Automatic "
    "Control 19.",
    "FNML": "fNML: Silander, Roos, Kontkanen, Myllymäki (2008), Factorized normalized maximum likelihood criterion for "
    "learning Bayesian network structures, PGM.",
    "QNML": "qNML: Silander, Leppä-aho, Jääsaari, Roos (2018), Quotient normalized maximum likelihood criterion for "
    "learning Bayesian network structures, AISTATS.",
    "BGe": "BGe: Geiger, Heckerman (2002), Parameter priors for directed acyclic graphical models and the "
    "characterization of several probability distributions, Annals of Statistics 30.",
    "hdp": "Probabilities: Petitjean, Buntine, Webb, Zaidi (2018), Accurate parameter estimation for Bayesian network "
    "classifiers using hierarchical Dirichlet processes, Machine Learning 107.",
    "hierarchical": "Probabilities: Azzimonti, Corani, Zaffalon (2019), Hierarchical estimation of parameters in "
    "Bayesian networks, Computational Statistics and Data Analysis 137.",
}
"""What to cite, by how the name of a score or a smoother begins in the settings (FT and FTp are of PCART's paper)."""


def citations(settings: Iterable[Any]) -> list[str]:
    """The papers of the score and the smoother."""
    said = [str(value).lower() for value in settings]
    found = []
    for name, paper in PAPERS.items():
        names = (name, "FT", "FullTable") if name == "PCART" else (name,)
        if any(text.startswith(tuple(n.lower() for n in names)) for text in said):
            found.append(paper)
    return found


def distribution(network: BayesianNetwork, name: str, counts: Sequence[int] | None) -> dict[str, Any]:
    """One variable's local distribution: {"type": "table", ...} or {"type": "tree", ...}."""
    cpd, domain = network.cpd(name), network.domain(name)
    columns = list(domain.levels) if isinstance(domain, Categorical) else []
    if isinstance(cpd, TreeCPD):
        return {"type": "tree", "columns": columns, "nodes": _tree(cpd, counts)}
    given = [_cells(cpd, i) for i in range(len(cpd.parents))]
    total = cpd.leaves.cells
    rows = [
        {"given": list(configuration), **_leaf(cpd.leaves, cell), "n": counts[cell] if counts is not None else None}
        for cell, configuration in enumerate(itertools.islice(itertools.product(*given), MAX_ROWS))
    ]
    return {
        "type": "table",
        "parents": list(cpd.parents),
        "columns": columns or [name],
        "rows": rows,
        "omitted": max(0, total - MAX_ROWS),
    }


def _cells(cpd: TableCPD | BinnedTableCPD, i: int) -> list[str]:
    """What each of a parent's cells is called: its level, or its bin."""
    domain = cpd.parent_domains[i]
    if isinstance(domain, Categorical):
        return list(domain.levels)
    assert isinstance(cpd, BinnedTableCPD)
    cuts = [_number(float(cut)) for cut in cpd.cuts[i]]
    if not cuts:
        return ["any"]
    return [f"< {cuts[0]}", *(f"{a} to {b}" for a, b in itertools.pairwise(cuts)), f"≥ {cuts[-1]}"]


def _tree(cpd: TreeCPD, counts: Sequence[int] | None) -> list[dict[str, Any]]:
    """The nodes, root first; a split's answers name the levels that can still occur there."""
    nodes = cpd.tree.nodes(cpd.parent_domains)
    possible = [set(range(len(d.levels))) if isinstance(d, Categorical) else set() for d in cpd.parent_domains]
    reach: dict[int, list[set[int]]] = {0: possible}
    shown: list[dict[str, Any]] = []
    for i, node in enumerate(nodes):  # parents come before children
        if not isinstance(node, Split):
            shown.append({**_leaf(cpd.leaves, node), "n": counts[node] if counts is not None else None})
            continue
        here, domain = reach[i], cpd.parent_domains[node.parent]
        if isinstance(node.goes_left, tuple):
            assert isinstance(domain, Categorical)
            sides = [here[node.parent] & set(node.goes_left), here[node.parent] - set(node.goes_left)]
            answers = [", ".join(domain.levels[code] for code in sorted(side)) for side in sides]
        else:
            sides = [set(), set()]
            answers = [f"< {_number(node.goes_left)}", f"≥ {_number(node.goes_left)}"]
        for child, side in zip((node.left, node.right), sides, strict=True):
            reach[child] = [side if p == node.parent else levels for p, levels in enumerate(here)]
        branches = [{"to": to, "answer": text} for to, text in zip((node.left, node.right), answers, strict=True)]
        shown.append({"question": cpd.parents[node.parent], "branches": branches})
    return shown


def _leaf(leaves: Leaves, cell: int) -> dict[str, Any]:
    if isinstance(leaves, CategoricalLeaves):
        return {"p": [round(float(p), 5) for p in leaves.probabilities[cell]]}
    if isinstance(leaves, NormalLeaves):
        return {"text": f"{_number(float(leaves.mean[cell]))} ± {_number(float(leaves.sd[cell]))}"}
    return {
        "text": f"{_number(float(leaves.location[cell]))} ± {_number(float(leaves.scale[cell]))}"
        f" (t, {_number(float(leaves.dof[cell]))})"
    }


def _box_width(name: str) -> float:
    """Pixels a variable's box needs for its name, which the page cuts at 24 characters."""
    return 22 + 7.2 * min(len(name), 24)


def _summary(column: Column) -> str:
    if column.kind == "real":
        return f"{_number(column.low or 0.0)} to {_number(column.high or 0.0)}"
    shown = ", ".join(column.levels[:12])
    return shown + (f", … ({len(column.levels)} levels)" if len(column.levels) > 12 else "")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _number(x: float) -> str:
    return f"{x:.5g}" if abs(x) < 1e5 else f"{x:,.1f}"
