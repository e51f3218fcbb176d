"""How classifiers learn with rows: samples of the network "child" (Disease is the class) and of Breiman's waveforms.

A cell is one method trained on so many fresh rows and asked for 20,000 others. From 1,000,000 rows on training is from
a Parquet file, in passes (`fit_file`); forest and boosting read it whole. NB and SKDB with the m-estimate (`-m`) or HDP
with 500 sweeps, ESKDB, TAN with discriminative exponents (`-w`) or hierarchically shrunk scores (`-h`), SoftESKDB; a
random forest of 100 trees and XGBoost with its defaults, texts as indicators or numbers.
"""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from optbn.experiments.verdicts import Claim, Finding, summary, verdicts
from optbn.experiments.verdicts import findings as judged
from optbn.report.tables import Series, table
from optbn.report.tables import curves as draw

Row = Mapping[str, Any]

TEST = 20_000
FROM_FILE = 1_000_000
BLOCK = 500_000


def cell(problem: str, method: str, rows: int, seed: int) -> dict[str, Any]:
    """Losses on other rows, and CPU seconds of training."""
    if not method.startswith(("RF", "XGB")):
        few = sample(problem, 60, 99)
        made(method, few).fit(few.drop(columns="class"), few["class"])  # compiled code is loaded first
    test = sample(problem, TEST, 1_000_000 + seed)
    with tempfile.TemporaryDirectory() as folder:
        if rows >= FROM_FILE:
            path = Path(folder) / "rows.parquet"
            written(path, problem, rows, seed)
            model = made(method, test)
            begin = time.process_time()
            fitted = model.fit_file(path, "class") if hasattr(model, "fit_file") else _whole(model, path)
        else:
            train = sample(problem, rows, seed)
            model = made(method, train)
            begin = time.process_time()
            fitted = model.fit(train.drop(columns="class"), train["class"])
        seconds = time.process_time() - begin
        found = fitted.predict_proba(test.drop(columns="class"))
    classes = np.unique(test["class"])
    p = np.zeros((len(test), len(classes)))
    p[:, np.searchsorted(classes, np.asarray(fitted.classes_))] = found
    codes = np.searchsorted(classes, test["class"])
    away = p - np.eye(len(classes))[codes]
    return {
        "rmse": float(np.sqrt((away * away).mean())),
        "log_loss": float(-np.log(np.maximum(p[np.arange(len(p)), codes], 1e-4)).mean()),
        "zero_one": float((p.argmax(axis=1) != codes).mean()),
        "seconds": seconds,
    }


def sample(problem: str, n: int, seed: int) -> Any:
    """A frame with the column "class"."""
    import pandas as pd

    if problem == "child":
        import optbn

        frame = optbn.load_network("child").sample(n, seed).to_frame()
        return frame.rename(columns={"Disease": "class"})
    random = np.random.default_rng(seed)
    place = np.arange(21)
    triangles = np.stack([np.maximum(6 - np.abs(place - at), 0) for at in (6, 14, 10)])
    y, share = random.integers(0, 3, n), random.random((n, 1))
    values = share * triangles[y] + (1 - share) * triangles[(y + 1) % 3] + random.normal(size=(n, 21))
    frame = pd.DataFrame(values, columns=[f"x{i}" for i in range(21)])
    return frame.assign(**{"class": np.array(["a", "b", "c"])[y]})


def written(path: Path, problem: str, rows: int, seed: int) -> None:
    """The sample as a file, made a block at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    for block in range(0, rows, BLOCK):
        part = pa.Table.from_pandas(sample(problem, min(BLOCK, rows - block), 10_000 * seed + block // BLOCK))
        writer = writer or pq.ParquetWriter(path, part.schema)
        writer.write_table(part)
    assert writer is not None
    writer.close()


def _whole(model: Any, path: Path) -> Any:
    import pyarrow.parquet as pq

    train = pq.read_table(path).to_pandas()
    return model.fit(train.drop(columns="class"), train["class"])


def made(method: str, frame: Any) -> Any:
    """An unfitted classifier."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

    from optbn.classifiers import load_classifier
    from optbn.smoothing.hdp import HDP
    from results.classifiers.study.study import Labelled

    kind, _, how = method.partition("-")
    if kind == "TAN":
        return load_classifier("discriminative", structure="tan", parameterisation=how)
    if kind in ("NB", "SKDB"):
        return load_classifier(kind.lower(), smoother=HDP(sweeps=500, chains=1) if how == "hdp" else "m_estimate")
    if kind in ("ESKDB", "SoftESKDB"):
        return load_classifier(kind.lower())
    texts = [name for name in frame.columns if name != "class" and frame[name].dtype.kind not in "iuf"]
    forest = kind == "RF"
    encoder = OneHotEncoder(handle_unknown="ignore") if forest else OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=-1
    )  # fmt: skip
    columns = make_column_transformer((encoder, texts), remainder="passthrough", sparse_threshold=0.0)
    if forest:
        return make_pipeline(columns, RandomForestClassifier(100, random_state=0))
    from xgboost import XGBClassifier

    return make_pipeline(columns, Labelled(XGBClassifier(n_jobs=1, random_state=0)))


SIZES = (100, 1000, 10_000, 100_000, 1_000_000, 5_000_000)
CLAIMS = [
    Claim(f"With {n:,} rows {what}", "rmse", [(f"{first}, {n}", f"{second}, {n}")])
    for n in SIZES[:2]
    for what, first, second in (
        ("HDP beats the m-estimate in SKDB", "SKDB-hdp", "SKDB-m"),
        ("the soft ensemble beats the forest", "SoftESKDB", "RF"),
        ("the soft ensemble beats XGBoost", "SoftESKDB", "XGB"),
        ("ESKDB beats SKDB", "ESKDB", "SKDB-m"),
        ("hierarchical shrinkage beats exponents in TAN", "TAN-h", "TAN-w"),
    )
]


def _results(rows: Sequence[Row]) -> dict[str, dict[str, dict[str, Any]]]:
    """ "method, rows" -> problem and draw -> result."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        if row["status"] == "done":
            c = row["cell"]
            found.setdefault(f"{c['method']}, {c['rows']}", {})[f"{c['problem']} {c['seed']}"] = dict(row["result"])
    return found


def findings(rows: Sequence[Row]) -> list[Finding]:
    """The claims, judged."""
    return judged("Learning curves", _results(rows), CLAIMS)


def report(rows: Sequence[Row], folder: Path) -> str:
    """Everything from the finished rows."""
    results = _results(rows)
    failed = sorted(
        {f"{r['cell']['method']}, {r['cell']['rows']}: {r['error']}" for r in rows if r["status"] != "done"}
    )
    parts = ["Not done: " + "; ".join(failed) + "\n"] if failed else []
    parts.append(
        "## Claims\n\nTwo-tailed sign tests over problems and draws; differences of at most .0001 are draws.\n\n"
        f"{summary(findings(rows))}\n{verdicts(results, CLAIMS)}"
    )
    methods = list(dict.fromkeys(row["cell"]["method"] for row in rows))
    points: dict[tuple[str, str], list[tuple[float, ...]]] = defaultdict(list)
    for problem in dict.fromkeys(row["cell"]["problem"] for row in rows):
        for score, name in (("rmse", "RMSE"), ("log_loss", "log loss"), ("zero_one", "0/1 loss"), ("seconds", "CPU s")):
            body = []
            for method in methods:
                line = []
                for n in SIZES:
                    here = results.get(f"{method}, {n}", {})
                    values = [v[score] for k, v in here.items() if k.split()[0] == problem]
                    line.append(f"{np.mean(values):.4f}" if values else "")
                    if values and score == "log_loss":
                        points[problem, method].append((float(n), float(np.mean(values))))
                body.append([method, *line])
            parts.append(f"## {problem}, {name}\n\n" + table(["method", *(f"{n:,}" for n in SIZES)], body))
    series: Series = dict(points)
    draw(folder / "curves.svg", series, "rows", "log loss", True)
    parts.append("![learning curves](curves.svg)\n")
    return "\n".join(parts)
