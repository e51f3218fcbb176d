"""`optbn predict`: what a classifier says about new rows."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import logging
import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer

import optbn
from optbn.base.files import check_writable
from optbn.cli.reading import DataArgument, with_form
from optbn_solvers.base.atomic import replacing


@with_form
def predict(
    how: dict[str, Any],
    model: Annotated[
        str,
        typer.Argument(help="A .json file that `optbn classify` wrote; with --target a network.", metavar="MODEL"),
    ],
    data: DataArgument,
    output: Annotated[str, typer.Option("--output", "-o", help="A .csv or .parquet file; - is csv on stdout.")] = "-",
    target: Annotated[str | None, typer.Option("--target", help="The variable that a network is to predict.")] = None,
) -> None:
    """Predict the class of every row: the most probable one, and the probabilities of all.

    Columns are found by name; others may be there. Levels that were not there in training count as missing values. A
    network predicts the variable you name; of a number the mean.

    Example: optbn predict model.json new.csv -o predictions.csv; optbn predict network.json new.csv --target age
    """
    logging.getLogger("optbn.classifiers").addHandler(_warned())
    if output != "-":
        check_writable(output)
    if target is not None:
        _by_network(model, data, target, output, how)
        return
    classifier = optbn.read_classifier(model)
    blocks = classifier.predict_file(data, **how)
    first = next(blocks)  # a broken file is refused before anything is written
    classes = [str(c) for c in classifier.classes_]
    names = [classifier.target_, *(f"P({name})" for name in classes)]
    write = _parquet if output.endswith(".parquet") else _csv
    write(output, names, classes, itertools.chain([first], blocks))


def _by_network(model: str, data: str, target: str, output: str, how: dict[str, Any]) -> None:
    """The same of a network, whatever the row lacks summed over."""
    from optbn.network.prediction import columns_in

    network = optbn.load_network(model)
    domain, rows = network.domain(target), columns_in(network, data, **how)
    write = _parquet if output.endswith(".parquet") else _csv
    if isinstance(domain, optbn.Categorical):
        chances = network.predict_proba(target, rows, unseen="missing")
        write(output, [target, *(f"P({level})" for level in domain.levels)], list(domain.levels), iter([chances]))
        return
    means = network.predict(target, rows, unseen="missing")
    optbn.write(optbn.Dataset.from_arrays({target: means}), output)


def _csv(output: str, names: list[str], classes: list[str], blocks: Iterator[Any]) -> None:
    with contextlib.ExitStack() as stack:
        file: Any = sys.stdout
        if output != "-":
            raw = stack.enter_context(replacing(output))
            file = io.TextIOWrapper(raw, encoding="utf-8", newline="", write_through=True)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for block in blocks:
            for row, k in zip(block, block.argmax(axis=1), strict=True):
                writer.writerow([classes[k], *(f"{p:.6g}" for p in row)])
        if output != "-":
            file.detach()


def _parquet(output: str, names: list[str], classes: list[str], blocks: Iterator[Any]) -> None:
    """The class as a dictionary of texts, probabilities as they are."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = [pa.dictionary(pa.int32(), pa.string()), *(pa.float64() for _ in classes)]
    schema = pa.schema(list(zip(names, kinds, strict=True)))
    with replacing(output) as raw, pq.ParquetWriter(raw, schema) as writer:
        for block in blocks:
            best = pa.array(block.argmax(axis=1).astype("int32"))
            predicted = pa.DictionaryArray.from_arrays(best, pa.array(classes))
            columns = [predicted, *(pa.array(block[:, c]) for c in range(len(classes)))]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def _warned() -> logging.Handler:
    """A handler that shows a warning on stderr as one line."""

    class Warned(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            print(f"optbn: warning: {record.getMessage()}", file=sys.stderr)

    return Warned()
