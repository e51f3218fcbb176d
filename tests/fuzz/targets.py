"""What is fuzzed: every reader, valid files for it, and what must hold of whatever it accepts.

A reader may refuse (with an error of optbn's own, of one line) or accept. What it accepts must be usable: a network can
be written and sampled, a classifier predicts, a table is solved, a resumed run equals a fresh one, and no damaged
solution or proof is accepted for anything but the known optimum.
"""

from __future__ import annotations

import functools
import gzip
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from optbn.base.errors import DataError, OptbnError
from optbn_solvers.base.errors import SolverError

REFUSALS = (OptbnError, SolverError)
LONGEST_MESSAGE = 2000

Files = list[bytes]


@dataclass(frozen=True)
class Target:
    """`seeds` are valid files, `use` reads one by its path and checks what was read, `words` are of its language."""

    suffix: str
    seeds: Callable[[Path], Files]
    use: Callable[[Path], None]
    words: bytes = b""

    def check(self, content: bytes, folder: Path) -> bool:
        """Whether the file was accepted; raises when reading it does what no file may do."""
        path = folder / f"fuzz{self.suffix}"
        path.write_bytes(content)
        try:
            self.use(path)
        except REFUSALS as error:
            message = str(error)
            assert message.strip(), "an empty message"
            assert "\n" not in message, "a message of several lines"
            assert len(message) < LONGEST_MESSAGE, "an endless message"
            return False
        return True


@functools.cache
def data() -> Any:
    """Four columns, one of them real."""
    from optbn.data.dataset import Categorical, Dataset, Real

    rng = np.random.default_rng(1)
    codes = [rng.integers(0, k, 40).astype(np.uint8) for k in (2, 3, 2)]
    domains = (Categorical(("no", "yes")), Categorical(("a", "b c", "d'\"")), Categorical(("0", "1")))
    values = np.round(rng.normal(size=40), 3)
    return Dataset(("x", "y z", "k", "r"), (*domains, Real(-9.0, 9.0)), (*codes, values))


@functools.cache
def categorical() -> Any:
    """The first three of them."""
    from optbn.data.dataset import Dataset

    return Dataset(data().names[:3], data().domains[:3], data().columns[:3])


@functools.cache
def table() -> Any:
    import optbn

    return optbn.score_table(categorical(), "bdeu", 2, jobs=1)


@functools.cache
def optimum() -> Any:
    import optbn

    return optbn.solve(table(), "ilp")


# data ----------------------------------------------------------------------------------------------------------------


def _written(format: str) -> Callable[[Path], Files]:
    def seeds(folder: Path) -> Files:
        from optbn.data.write import write

        found = []
        for each in (data(), categorical()):
            write(each, folder / f"seed.{format}", format)
            found.append((folder / f"seed.{format}").read_bytes())
        return found

    return seeds


def _arff(folder: Path) -> Files:
    head = b"% c\n@relation 'a b'\n@attribute x {no, 'y es'}\n@attribute 'r r' numeric\n@attribute s string\n@data\n"
    return [head + b"no,1.5,t\n'y es',?,u\nno,-3e2,'v w'\n", head + b"?,?,?\nno,2,x\n"]


def _read_data(path: Path) -> None:
    import optbn

    whole = optbn.read(path, missing="drop")
    blocks = list(optbn.Dataset.batches(path, missing="drop", rows=7))
    assert sum(map(len, blocks)) == len(whole)


def _schemas(folder: Path) -> Files:
    ours = data().schema.to_json().encode()
    return [ours, b'{"x": {"ordinal": ["no", "yes"]}, "y z": "categorical", "k": "ignore", "r": {"real": [-9, 9]}}']


def _read_schema(path: Path) -> None:
    from optbn.data.schema import Schema

    schema = Schema.of(path)
    again = json.loads(schema.to_json())
    assert Schema.of(again) == schema


# networks ------------------------------------------------------------------------------------------------------------


@functools.cache
def networks() -> tuple[Any, ...]:
    import optbn

    structure = {"x": [], "y z": ["x"], "k": ["x", "y z"]}
    tables = optbn.fit(structure, categorical(), "laplace")
    mixed = optbn.learn(data(), max_parents=1, score="pcart", seed=1).network
    return tables, mixed


def _networks(format: str) -> Callable[[Path], Files]:
    def seeds(folder: Path) -> Files:
        from optbn.network.formats import encode

        found = [encode(network, format) for network in (networks() if format == "json" else networks()[:1])]
        return [*found, gzip.compress(found[0], mtime=0)]

    return seeds


def _read_network(path: Path) -> None:
    from optbn.network.formats import decode, encode, read_network

    network = read_network(path)
    assert decode(encode(network, "json"), "json") == network
    encode(network, "dot")
    network.sample(3, seed=1)


def _read_graphml(path: Path) -> None:
    from optbn.network.structure_files import read_structure

    structure = read_structure(path)
    assert len(structure.order) == len(structure.names)
    _read_network(path)


def _structures(folder: Path) -> Files:
    from optbn.network.structure import Structure

    Structure.from_parents({"x": [], "y z": ["x"], "k": ["x", "y z"]}).save(folder / "seed.json")
    return [(folder / "seed.json").read_bytes()]


def _read_structure(path: Path) -> None:
    from optbn.network.structure_files import read_structure

    structure = read_structure(path)
    assert len(structure.order) == len(structure.names)


# scores and answers --------------------------------------------------------------------------------------------------


def _scores(format: str) -> Callable[[Path], Files]:
    def seeds(folder: Path) -> Files:
        from optbn_solvers import ScoreTable
        from optbn_solvers.base.files import write_table

        if format == "pss":
            return [b"META a=b\nVAR x\nMETA arity=2\n-1.5\n-1.25 y\nVAR y\n-2\n-3e-1 x\n# end\n"]
        found = []
        names = [f"v{i}" for i in range(70)]
        wide = {name: {(): -2.0, (names[i - 1],): -1.5} for i, name in enumerate(names)}
        for each in (ScoreTable.from_dict(wide), ScoreTable.from_dict({"x": {(): -2.0, ("y",): -1}, "y": {(): -1e9}})):
            write_table(each, folder / f"seed.{format}", about={"score": "BDeu()"})
            found.append((folder / f"seed.{format}").read_bytes())
        return found

    return seeds


def _read_scores(path: Path) -> None:
    from optbn.scores.selection import among
    from optbn_solvers import Budget, solve
    from optbn_solvers.base.files import read_rows, read_table
    from optbn_solvers.base.files.native import read_about

    read_rows(path)
    found = read_table(path)
    assert np.isfinite(found.scores).all()
    if path.suffix == ".parquet":
        among(read_about(path))
    if found.n <= 80:
        solve(found, "greedy", Budget(cpu=0.02))


def _solutions(folder: Path) -> Files:
    import optbn
    from optbn_solvers.base.solution_json import to_json

    found = [to_json(table(), optimum())]
    found.append(to_json(table(), optbn.solve(table(), "dp")))
    found.append(to_json(table(), optbn.solve(table(), "cp", proof=str(folder / "seed.proof"))))
    found.append(b'{"parents": {"x": [], "y z": [], "k": []}, "score": 0}'.replace(b"0}", _plain_score()))
    return found


def _plain_score() -> bytes:
    """Of the graph without arcs."""
    return repr(table().total([table().find(v, ()) for v in range(3)])).encode() + b"}"


def _read_solution(path: Path) -> None:
    from optbn_solvers.base.solution_json import from_json, to_json
    from optbn_solvers.verify import verify

    solution = from_json(table(), path.read_bytes())
    verdict = verify(table(), solution)
    if verdict.optimal:
        assert verdict.score == optimum().score, "a wrong optimum passed the checker"
    assert verdict.bound >= optimum().score or verdict.score is None
    assert from_json(table(), to_json(table(), solution)).choice == solution.choice


def _proofs(folder: Path) -> Files:
    import optbn

    optbn.solve(table(), "cp", proof=str(folder / "seed.proof"))
    return [(folder / "seed.proof").read_bytes()]


def _read_proof(path: Path) -> None:
    from optbn_solvers.base.errors import CheckFailed
    from optbn_solvers.proofs import check_proof, reference

    try:
        units, _ = check_proof(table(), path)
    except CheckFailed as error:
        if "too large" not in str(error):
            try:
                reference.check_proof(table(), path)
            except CheckFailed:
                raise error from None
            raise AssertionError(f"the reference accepts what the compiled checker refuses: {error}") from None
        raise
    assert reference.check_proof(table(), path)[0] == units
    assert units == table().units_of(optimum().score), "a wrong optimum passed the checker of proofs"


def _streams(folder: Path) -> Files:
    """The numbers of a proof in clear, so that damage goes deeper than the compression."""
    import zlib

    whole = _proofs(folder)[0]
    _, _, packed = whole.partition(b"\n")
    return [zlib.decompress(packed)]


def _read_stream(path: Path) -> None:
    import zlib

    from optbn_solvers.proofs.format import header_line

    content = path.read_bytes()
    for records in (1, 2, 3, 5):
        line = header_line(table(), optimum().choice, records, 1)
        proof = path.with_name("stream.proof")
        proof.write_bytes(line + zlib.compress(content))
        try:
            _read_proof(proof)
        except REFUSALS as error:
            last = error
        else:
            return
    raise last


def _families(folder: Path) -> Files:
    return [b"# c\nx: y z, k\nk:\ny z: x\n"]


def _read_families(path: Path) -> None:
    from optbn.scores.families import Families
    from optbn.scores.listed import score_families

    found = Families.read(path, categorical().names)
    if len(found):
        score_families(categorical(), found, "bdeu", jobs=1)


# what optbn keeps for itself -----------------------------------------------------------------------------------------


def _classifiers(*names: str, **settings: Any) -> Callable[[Path], Files]:
    def seeds(folder: Path) -> Files:
        from optbn.classifiers import load_classifier
        from optbn.classifiers.saved import to_json

        x = np.column_stack([np.asarray(column) for column in data().columns[1:]])
        y = np.asarray(data().columns[0])
        return [to_json(load_classifier(name, **settings).fit(x, y)) for name in names]

    return seeds


def _read_classifier(path: Path) -> None:
    from optbn.classifiers.saved import read_classifier, to_json

    made = read_classifier(path)
    x = np.column_stack([np.asarray(column) for column in data().columns[1:]])
    try:
        p = made.predict_proba(x[:5])
    except ValueError as error:  # scikit-learn's words for another number of features
        assert "features" in str(error) or isinstance(error, OptbnError), error
        return
    assert p.shape == (5, len(made.classes_)) and np.isfinite(p).all()
    to_json(made)


def _reports(folder: Path) -> Files:
    import optbn
    from optbn.report.report import to_json

    return [to_json(optbn.learn(categorical(), max_parents=1, score="bdeu", seed=1).report)]


def _read_report(path: Path) -> None:
    from optbn.report.page import render
    from optbn.report.report import from_json

    report = from_json(path.read_bytes())
    report.model()
    render(report)


def _experiments(folder: Path) -> Files:
    toml = b"""task = "curve"\ntitle = "t"\ntime_limit = 60\n[fixed]\nmax_parents = 2\n[[grid]]\n"""
    toml += b"""network = ["asia"]\nrows = [50, 100]\nrepeat = { from = 0, to = 9 }\n"""
    return [toml]


def _read_experiment(path: Path) -> None:
    from optbn.experiments.spec import cell_name, read

    experiment = read(path)
    experiment.module()
    for cell in experiment.cells()[:20]:
        name = cell_name(cell)
        assert "/" not in name and name not in (".", "..") and len(name.encode()) < 240


def _lines(folder: Path) -> Files:
    return [b"# c\nx, y z\n\n k,x\n", b"x k\n"]


def _read_lines(path: Path) -> None:
    """Tiers and known pairs of the command line."""
    from optbn.cli.compare import _pairs
    from optbn.cli.reading import lines

    assert all(text and number > 0 for number, text in lines(path))
    assert all(len(pair) == 2 for pair in _pairs(path))


CELL = {"network": "asia", "rows": 50, "repeat": 0}


def _rows(folder: Path) -> Files:
    result = {"n": 8, "shd": 3, "seconds": 0.1}
    rows = [{"cell": CELL, "status": "done", "result": result}, {"cell": CELL, "status": "failed", "error": "x"}]
    return [json.dumps(row, indent=1).encode() for row in rows]


def _read_row(path: Path) -> None:
    """The row of an experiment's only cell: it is taken, or the cell is to be done."""
    from optbn.experiments import runner
    from optbn.experiments.spec import Experiment, cell_name

    experiment = Experiment("curve", ({name: (value,) for name, value in CELL.items()},))
    runs = path.parent / "runs"
    runs.mkdir(exist_ok=True)
    (runs / f"{cell_name(CELL)}.json").write_bytes(path.read_bytes())
    found = runner.rows(experiment, path.parent)
    assert all(row["cell"] == CELL for row in found)
    if not found:
        raise DataError("the cell is to be done")
    with suppress(DataError):  # of a result that the task did not write
        runner.report(experiment, path.parent)


def _blocks(folder: Path) -> Files:
    import optbn

    with _small_blocks():
        optbn.score_table(categorical(), "bdeu", 2, store=folder / "seed", jobs=1)
    return [max(_files(folder / "seed"), key=lambda path: path.stat().st_size).read_bytes()]


def _read_block(path: Path) -> None:
    """A store in which one block is this file, under the name of each block there is, gives the table all the same."""
    import shutil

    import optbn

    folder = path.with_name("store")
    for number in (0, 1, -1):
        shutil.rmtree(folder, ignore_errors=True)
        with _small_blocks():
            optbn.score_table(categorical(), "bdeu", 2, store=folder, jobs=1)
            shutil.copy(path, _files(folder)[number])
            assert optbn.score_table(categorical(), "bdeu", 2, store=folder, jobs=1) == table()


def _small_blocks() -> Any:
    from unittest.mock import patch

    from optbn.scores import levels

    return patch.multiple(levels, FIRST_BLOCK=2, BLOCK_SECONDS=0.0)


def _files(store: Path) -> list[Path]:
    return sorted(path for path in (store / "blocks").iterdir())


def _runs(folder: Path) -> Files:
    import optbn

    optbn.score_table(categorical(), "bdeu", 2, store=folder / "seed", jobs=1)
    return [(folder / "seed" / "run.json").read_bytes()]


def _read_run(path: Path) -> None:
    import shutil

    import optbn

    folder = path.with_name("store")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copy(path, folder / "run.json")
    assert optbn.score_table(categorical(), "bdeu", 2, store=folder, jobs=1) == table()


TARGETS: dict[str, Target] = {
    "csv": Target(".csv", _written("csv"), _read_data, b', ; \t " ? NA 1.5 -3 1e3 x inf nan'),
    "arff": Target(".arff", _arff, _read_data, b"@attribute @data @relation { } real string ' , ? %"),
    "parquet": Target(".parquet", _written("parquet"), _read_data, b"PAR1 ARROW:schema optbn"),
    "arrow": Target(".arrow", _written("arrow"), _read_data, b"ARROW1 optbn"),
    "schema": Target(".json", _schemas, _read_schema, b'{ } [ ] : , "real" "ignore" "ordinal" "categorical" "x"'),
    "bif": Target(
        ".bif", _networks("bif"), _read_network, b"network variable probability type discrete table { } ( ) [ ] ; | ,"
    ),
    "net": Target(
        ".net", _networks("net"), _read_network, b'net node potential states data { } ( ) = ; | % "x" continuous'
    ),
    "xmlbif": Target(
        ".xml",
        _networks("xmlbif"),
        _read_network,
        b'<BIF> <NETWORK> <VARIABLE> </VARIABLE> <TABLE> <FOR> <GIVEN> &x; <!DOCTYPE <!ENTITY x "y"> ]> <![CDATA[ ]]>',
    ),
    "xdsl": Target(
        ".xdsl",
        _networks("xdsl"),
        _read_network,
        b'<smile> <nodes> <cpt id="x"> <state id="y"/> <parents> <probabilities> </cpt> <deterministic> &x; <!DOCTYPE',
    ),
    "network": Target(
        ".json", _networks("json"), _read_network, b'{ } [ ] : , "kind" "tree" "table" "leaf" "below" "levels" "left"'
    ),
    "graphml": Target(
        ".graphml",
        lambda folder: _networks("graphml")(folder)[:1],
        _read_graphml,
        b'<graphml> <key <node id="x"> <edge source="x" target="k"/> <data key="variable"> </data> &x; <!DOCTYPE',
    ),
    "structure": Target(".json", _structures, _read_structure, b'{ } [ ] : , "parents" "a" "format"'),
    "jkl": Target(".jkl", _scores("jkl"), _read_scores, b"v0 v1 v69 -1.5 2 0"),
    "pss": Target(".pss", _scores("pss"), _read_scores, b"VAR META x y # -1.5"),
    "scores": Target(".parquet", _scores("parquet"), _read_scores, b'PAR1 scores {"version": "exponent": "names":'),
    "solution": Target(
        ".json", _solutions, _read_solution, b'{ } [ ] : , "rows" "cluster" "subset" "parts" "exhausted" "optimal"'
    ),
    "proof": Target(".proof", _proofs, _read_proof, b'{ } "choice" "records" "denominator"'),
    "stream": Target(".bin", _streams, _read_stream, bytes(range(0, 33, 1))),
    "families": Target(".txt", _families, _read_families, b"x y z k : , #"),
    "classifier": Target(
        ".json",
        _classifiers("nb", "tan", "aode", "optimal", "skdb", "discriminative", discretizer="equal_frequency"),
        _read_classifier,
        b'{ } [ ] : , "kind" "fanout" "branch" "values" "cuts" "levels" "prior"',
    ),
    "trees": Target(
        ".json",
        _classifiers("tree", "forest"),
        _read_classifier,
        b'{ } [ ] : , "kind" "attribute" "cut" "fanout" "branch" "inside" null -1',
    ),
    "report": Target(".json", _reports, _read_report, b'{ } [ ] : , "arcs" "network" </script> <img "x"'),
    "experiment": Target(".toml", _experiments, _read_experiment, b'[[grid]] [fixed] = { } "task" from to [ ] os ..'),
    "lines": Target(".txt", _lines, _read_lines, b"x y z k , #"),
    "row": Target(".json", _rows, _read_row, b'{ } [ ] : , "cell" "status" "result" "error" "done"'),
    "block": Target(".block", _blocks, _read_block, b"PK NUMPY rows scores children"),
    "run": Target(".json", _runs, _read_run, b'{ } [ ] : , "version"'),
}
