"""`optbn classify`: a Bayesian network classifier from a file of any size."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

import optbn
from optbn.base.errors import DataError
from optbn.base.files import check_writable
from optbn.base.numbers import counted
from optbn.classifiers import load_classifier
from optbn.cli.options import Values, with_options
from optbn.cli.progress import bars
from optbn.cli.reading import with_reading
from optbn.cli.texts import settings


@with_options("classify")
@with_reading
def classify(
    how: dict[str, Any],
    data: Annotated[str, typer.Argument(help="A csv, tsv, parquet, Arrow or ARFF file.", metavar="DATA")],
    options: Values,
) -> None:
    """Train a classifier from a file, which is read a few times and need not fit into memory.

    Missing values are a level of their own. The model is JSON, for `optbn predict`.

    Example: optbn classify train.csv --target income --model eskdb -o model.json
    """
    from optbn.classifiers.saved import save_classifier

    output = options.output
    if not output.endswith(".json"):
        raise DataError(f"{output}: the model is JSON, so name it .json")
    check_writable(output)
    if data == "-":
        raise DataError("the data are read several times, so they must be a file, not stdin")
    chosen = {"smoother": options.smoother, "discretizer": options.discretizer}
    model_settings = settings(options.setting) | {name: value for name, value in chosen.items() if value is not None}

    model = options.model if options.model != "auto" else _by_size(data)

    def unfitted() -> Any:
        alone = load_classifier(model, random_state=options.seed, **model_settings)
        if options.domain is None:
            return alone
        return load_classifier(
            "bydomain", classifier=alone, domain=[name.strip() for name in options.domain.split(",")]
        )

    classifier = unfitted()
    with bars("number", after=2) as show:
        progress = None if show is None else partial(show, "rows")
        classifier.fit_file(
            data, options.target, weights=options.weights, sample_size=options.sample, progress=progress, **how
        )
    save_classifier(classifier, output)
    members = f", {len(classifier.members_)} members" if len(classifier.members_) > 1 else ""
    many = len(classifier.classes_)
    classes = f"{many} class{'es' if many != 1 else ''} from {counted(classifier.n_features_in_, 'attribute')}"
    print(f"{output}: {model} for {options.target!r}, {classes}{members}")
    if options.folds:
        _evaluate(unfitted(), data, options.target, how, options.folds, options.seed)


LARGE = 250_000
"""Rows up to which an ensemble is learned unless another model is named: it takes ten times as long as one network, and
a gigabyte at a million rows of twenty columns."""


def _by_size(data: str) -> str:
    """The model for a file with this many rows, and a line about it where it is large."""
    rows = _rows_about(Path(data))
    if rows <= LARGE:
        return "eskdb"
    print(f"optbn: about {rows:,} rows: model skdb, one network (--model eskdb for ten)", file=sys.stderr)
    return "skdb"


def _rows_about(path: Path) -> int:
    """How many rows a file has: as parquet says, otherwise by its bytes and those of its first lines."""
    if not path.is_file():
        return 0
    if path.suffix.lower() == ".parquet":
        import pyarrow.parquet as pq

        try:
            return int(pq.ParquetFile(path).metadata.num_rows)
        except (OSError, ValueError) as error:
            raise DataError(f"{path}: {error}") from None
    with path.open("rb") as file:
        start = file.read(1 << 20)
    lines = start.count(b"\n")
    return path.stat().st_size * lines // len(start) if start else 0


def _evaluate(classifier: Any, data: str, target: str, how: dict[str, Any], folds: int, seed: int) -> None:
    """Losses by stratified folds."""
    import numpy as np

    from optbn.evaluate.cross_validation import cross_validate, stratified_folds

    whole = optbn.read(data, missing="drop", **how)
    domain = whole.domain(target)
    assert isinstance(domain, optbn.Categorical)
    y = np.array(domain.levels, dtype=object)[whole.column(target)]
    X = whole.select([name for name in whole.names if name != target])
    result = cross_validate(classifier, X, y, stratified_folds(y, folds, seed))
    print(f"{folds}-fold cross-validation on {whole.n_rows:,} complete rows:")
    for name, value in result.scores().items():
        print(f"  {name:<18} {value:.4f}")
