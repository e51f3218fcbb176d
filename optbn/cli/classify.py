"""`optbn classify`: a Bayesian network classifier from a file of any size."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import typer

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
    """Learn a classifier; the file is read a few times and never held in memory.

    Missing values are a level of their own. The model is JSON, for `optbn predict`.

    Example: optbn classify train.csv --target income --model eskdb -o model.json
    """
    from optbn.base.errors import DataError
    from optbn.base.files import check_writable
    from optbn.base.numbers import counted
    from optbn.classifiers import load_classifier
    from optbn.classifiers.saved import save_classifier

    output = options.output
    if not output.endswith(".json"):
        raise DataError(f"{output}: the model is JSON, so name it .json")
    check_writable(output)
    if data == "-":
        raise DataError("the data are read several times, so they must be a file, not stdin")
    chosen = {"smoother": options.smoother, "discretizer": options.discretizer}
    model_settings = settings(options.setting) | {name: value for name, value in chosen.items() if value is not None}

    def unfitted() -> Any:
        return load_classifier(options.model, random_state=options.seed, **model_settings)

    classifier = unfitted()
    with bars("number", after=2) as show:
        progress = None if show is None else partial(show, "rows")
        classifier.fit_file(data, options.target, sample_size=options.sample, progress=progress, **how)
    save_classifier(classifier, output)
    members = f", {len(classifier.members_)} members" if len(classifier.members_) > 1 else ""
    many = len(classifier.classes_)
    classes = f"{many} class{'es' if many != 1 else ''} from {counted(classifier.n_features_in_, 'attribute')}"
    print(f"{output}: {options.model} for {options.target!r}, {classes}{members}")
    if options.folds:
        _evaluate(unfitted(), data, options.target, how, options.folds, options.seed)


def _evaluate(classifier: Any, data: str, target: str, how: dict[str, Any], folds: int, seed: int) -> None:
    """Losses by stratified folds."""
    import numpy as np

    import optbn
    from optbn.data.dataset import Categorical
    from optbn.evaluate.cross_validation import cross_validate, stratified_folds

    whole = optbn.read(data, missing="drop", **how)
    domain = whole.domain(target)
    assert isinstance(domain, Categorical)
    y = np.array(domain.levels, dtype=object)[whole.column(target)]
    X = whole.select([name for name in whole.names if name != target])
    result = cross_validate(classifier, X, y, stratified_folds(y, folds, seed))
    print(f"{folds}-fold cross-validation on {whole.n_rows:,} complete rows:")
    for name, value in result.scores().items():
        print(f"  {name:<18} {value:.4f}")
