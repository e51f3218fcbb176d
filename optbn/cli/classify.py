"""`optbn classify`: a Bayesian network classifier from a file of any size."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import typer

from optbn.cli.fit import complete_smoother
from optbn.cli.options import settings
from optbn.cli.progress import bars
from optbn.cli.reading import with_reading


def complete_model(start: str) -> list[str]:
    """Names of classifiers for the shell."""
    from optbn.classifiers import CLASSIFIERS

    return [name for name in CLASSIFIERS if name.startswith(start)]


@with_reading
def classify(
    how: dict[str, Any],
    data: Annotated[str, typer.Argument(help="A csv, tsv, parquet, Arrow or ARFF file.", metavar="DATA")],
    target: Annotated[str, typer.Option("--target", "-t", help="The column to predict.")],
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            help="nb, tan, kdb, skdb, aode, kdf, eskdb, optimal, discriminative, tree or forest.",
            autocompletion=complete_model,
        ),
    ] = "eskdb",
    output: Annotated[str, typer.Option("--output", "-o", help="A .json file for the model.")] = "model.json",
    smoother: Annotated[
        str | None, typer.Option("--smoother", help="For the probabilities.", autocompletion=complete_smoother)
    ] = None,
    discretizer: Annotated[
        str | None, typer.Option("--discretizer", help="For numeric columns: mdlp, random_mdlp, equal_width, ...")
    ] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of the model, NAME=VALUE, like k=3; may be repeated.")
    ] = None,
    folds: Annotated[
        int, typer.Option("--folds", help="Also estimate its quality by so many folds, in memory (0: do not).", min=0)
    ] = 0,
    seed: Annotated[int, typer.Option("--seed", help="Of whatever is random.", min=0)] = 0,
    sample: Annotated[int, typer.Option("--sample", help="Rows to find cut points from.", min=1)] = 100_000,
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

    if not output.endswith(".json"):
        raise DataError(f"{output}: the model is JSON, so name it .json")
    check_writable(output)
    if data == "-":
        raise DataError("the data are read several times, so they must be a file, not stdin")
    given = settings(setting)
    if smoother is not None:
        given["smoother"] = smoother
    if discretizer is not None:
        given["discretizer"] = discretizer
    classifier = load_classifier(model, random_state=seed, **given)
    with bars("number", after=2) as show:
        progress = None if show is None else partial(show, "rows")
        classifier.fit_file(data, target, sample_size=sample, progress=progress, **how)
    save_classifier(classifier, output)
    members = f", {len(classifier.members_)} members" if len(classifier.members_) > 1 else ""
    many = len(classifier.classes_)
    classes = f"{many} class{'es' if many != 1 else ''} from {counted(classifier.n_features_in_, 'attribute')}"
    print(f"{output}: {model} for {target!r}, {classes}{members}")
    if folds:
        _evaluate(load_classifier(model, random_state=seed, **given), data, target, how, folds, seed)


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
