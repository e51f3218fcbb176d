"""Tables and pictures for papers, made from a report."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess

import pytest

from optbn.experiments import runner
from optbn.experiments.spec import Experiment
from optbn.report.tables import Table, as_csv, half_interval, latex, table, tables_of

REPORT = f"# T\n\ntext\n\n## A\n\n### b\n\n{table(['x', 'y & z'], [['1', '**2.5 ± 0.1**'], ['a_b', '50 %']])}\n## C\n\n"
REPORT += table(["claim"], [["[see](there.md), p < 0.05"]])


def test_tables_are_found_below_their_headings():
    first, second = tables_of(REPORT)
    assert first == Table("A, b", ["x", "y & z"], [["1", "**2.5 ± 0.1**"], ["a_b", "50 %"]])
    assert second == Table("C", ["claim"], [["[see](there.md), p < 0.05"]])


def test_latex_and_csv():
    first, second = tables_of(REPORT)
    text = latex(first)
    assert r"x & y \& z \\" in text and r"1 & \textbf{2.5 $\pm$ 0.1} \\" in text and r"a\_b & 50 \% \\" in text
    assert text.index("\\toprule") < text.index("\\midrule") < text.index("\\bottomrule")
    assert "see, p $<$ 0.05" in latex(second)
    assert list(csv.reader(as_csv(first).splitlines())) == [["x", "y & z"], ["1", "2.5 ± 0.1"], ["a_b", "50 %"]]


def test_latex_compiles(tmp_path):
    if not shutil.which("pdflatex"):
        pytest.skip("no LaTeX here")
    body = "".join(map(latex, tables_of(REPORT)))
    head = r"\documentclass{article}\usepackage{booktabs}\usepackage[utf8]{inputenc}\begin{document}"
    (tmp_path / "t.tex").write_text(f"{head}\n{body}\n\\end{{document}}\n")
    subprocess.run(["pdflatex", "-interaction=nonstopmode", "t.tex"], cwd=tmp_path, check=True, capture_output=True)


def test_half_of_students_interval():
    assert half_interval([1.0]) == 0.0
    assert half_interval([1.0, 2.0, 3.0]) == pytest.approx(4.302652730 / 3**0.5)  # t(.975, 2) times s / sqrt 3


def test_a_study_has_a_paper_folder_on_request(tmp_path):
    pytest.importorskip("matplotlib")
    grid = {"network": ("cancer",), "rows": (50, 80), "repeat": (0, 1), "method": ("bic", "bdeu:1")}
    experiment = Experiment("curve", (grid,), {"max_parents": 1})
    runner.run(experiment, tmp_path)
    runner.report(experiment, tmp_path)
    assert not (tmp_path / "paper").exists()
    text = runner.report(experiment, tmp_path, paper=True).read_text()
    names = {path.name for path in (tmp_path / "paper").iterdir()}
    assert {f"{stem}.{kind}" for stem in ("shd_dag", "shd_cpdag", "ranks") for kind in ("svg", "pdf")} <= names
    tables = list(tables_of(text))
    assert len([name for name in names if name.endswith(".tex")]) == len(tables) > 3
    assert "## Ranks by SHD between CPDAGs" in text and "on 4 samples; Friedman p" in text
    before = {path.name: path.read_bytes() for path in (tmp_path / "paper").iterdir()}
    runner.report(experiment, tmp_path, paper=True)
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "paper").iterdir()}
    assert any(re.search(r"cancer\.(tex|csv)", name) for name in names)
