"""`optbn predict`: what a classifier says about new rows."""

from __future__ import annotations

import logging
from typing import Annotated, Any

import typer

from optbn.cli.reading import DataArgument, with_form


@with_form
def predict(
    how: dict[str, Any],
    model: Annotated[str, typer.Argument(help="A .json file that `optbn classify` wrote.", metavar="MODEL")],
    data: DataArgument,
    output: Annotated[str, typer.Option("--output", "-o", help="A .csv file; - is stdout.")] = "-",
) -> None:
    """Predict the class of every row: the most probable one, and the probabilities of all, as csv.

    Columns are found by name; others may be there. Levels that were not there in training count as missing values.

    Example: optbn predict model.json new.csv -o predictions.csv
    """
    import contextlib
    import csv
    import io
    import sys

    from optbn.base.files import check_writable
    from optbn.classifiers.saved import read_classifier
    from optbn_solvers.base.files.atomic import replacing

    logging.getLogger("optbn.classifiers").addHandler(_warned())
    if output != "-":
        check_writable(output)
    classifier = read_classifier(model)
    blocks = classifier.predict_file(data, **how)
    block = next(blocks)  # a broken file is refused before anything is written
    classes = [str(c) for c in classifier.classes_]
    with contextlib.ExitStack() as stack:
        file: Any = sys.stdout
        if output != "-":
            raw = stack.enter_context(replacing(output))
            file = io.TextIOWrapper(raw, encoding="utf-8", newline="", write_through=True)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([classifier.target_, *(f"P({name})" for name in classes)])
        while block is not None:
            best = block.argmax(axis=1)
            for row, k in zip(block, best, strict=True):
                writer.writerow([classes[k], *(f"{p:.6g}" for p in row)])
            block = next(blocks, None)
        if output != "-":
            file.detach()


def _warned() -> logging.Handler:
    """A handler that shows a warning on stderr as one line."""
    import sys

    class Warned(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            print(f"optbn: warning: {record.getMessage()}", file=sys.stderr)

    return Warned()
