"""Three newcomers with nothing but the documentation: an analyst, a data scientist, a teacher; what they see.

    OPTBN_DATA=... python results/first-use/trials.py [analyst | scientist | teacher]

Each trial is a log beside this file: every command or call, how it ended, and the first lines of its answer. The
analyst has six of the ugly tables of ugly.py (which need $OPTBN_DATA/datasets), the data scientist makes 30 calls, the
teacher prepares a lecture on asia, cancer and sachs.
"""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
LINES, WIDE = 6, 150  # of an answer in the log
TIMES = re.compile(r"\d+\.\d+ s\b")

SIX = {
    "hepatitis": "class",
    "german": "class",
    "labor": "class",
    "diabetes-442": "target",
    "vote": "Class",
    "wine": "class",
}

TEACHER = """
optbn networks
optbn show asia --cpd dysp
optbn draw asia -o asia.svg
optbn draw asia --given smoke=yes -o smoker.svg
optbn draw asia --cpd dysp -o dysp.tex
optbn query asia "P(lung)"
optbn query asia "P(lung | dysp=yes)"
optbn query asia "P(lung | dysp=yes, bronc=yes)"
optbn query asia "MPE(dysp=yes)"
optbn sample cancer -n 200 --seed 1 -o few.csv
optbn sample cancer -n 20000 --seed 1 -o many.csv
optbn learn few.csv --score bic -o few.json
optbn learn many.csv --score bic -o many.json --report cancer.html --target Cancer
optbn compare cancer few.json
optbn compare cancer many.json
optbn draw many.json --cpdag -o many.svg
optbn sample sachs -n 1000 --seed 1 -o sachs.csv
optbn learn sachs.csv --score bdeu --max-parents 2 --alternatives 3 --edges -o sachs.json --report sachs.html
optbn edges sachs.csv --score bdeu --max-parents 2 --most 3
optbn convert sachs sachs.xdsl
"""

SCIENTIST = """
import optbn, pandas, numpy
table = optbn.load_network("child").sample(500).to_frame("pandas")
found = optbn.learn(table, score="bic", max_parents=2)
found.report.outcome.proof
found.network.parents("Disease")
print(found.network.cpd("Sick"))
found.network.cpd("Sick").to_frame().head(2)
found.network.arcs_frame().head(3)
found.network.query("Disease", Grunting="yes")["Fallot"]
found.network.query("Disease", Grunting="yes").to_frame().head(2)
found.network.query("Disease", grunting="yes")
found.network.predict("Disease", table.head(3))
found.network.predict_proba("Disease", table.head(2)).round(3)
holes = table.astype(object).mask(numpy.random.default_rng(0).random(table.shape) < 0.1)
found.network.predict("Disease", holes.head(3))
found.network.log_likelihood(table) / len(table)
optbn.cross_validate(table, "bic", 3, max_parents=2)
optbn.learn(table, score="bic", max_parents=1, held_out=3, target="Disease").report.held_out[-1]
optbn.learn(table, score="bic", maxparents=2)
optbn.edges(table, "bic", 1).to_frame().head(3)
optbn.bootstrap(table, "bic", resamples=3, max_parents=1)
found.network.sample(3).to_frame().iloc[:, :4]
found.network.save("child.bif", reader="pgmpy")
optbn.BayesianNetwork.load("child.bif") == found.network
optbn.compare(optbn.load_network("child"), found.network).shd_cpdag
optbn.learn(table, score="bic", constraints={"forbidden": [("Disease", "Sick")]}, max_parents=1)
found.network.draw({"Grunting": "yes"}).save("child.svg")
open("page.html", "w").write(found.page()) > 100_000
from optbn.sklearn import ESKDB, StructureLearner
StructureLearner("bic", max_indegree=1).fit(table).score(table)
ESKDB().fit(table.drop(columns="Disease"), table["Disease"]).score(table.drop(columns="Disease"), table["Disease"])
"""


def shown(text: str) -> list[str]:
    """The first lines of an answer; times are not what a trial is about."""
    lines = [TIMES.sub("… s", line.rstrip())[:WIDE] for line in text.splitlines() if line.strip()]
    return [f"    {line}" for line in lines[:LINES]] + (["    …"] if len(lines) > LINES else [])


def shell(commands: list[str], folder: Path) -> list[str]:
    log = []
    for command in commands:
        done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True)
        log += [f"$ {command}" + (f"    [exit {done.returncode}]" if done.returncode else "")]
        log += shown(done.stdout + done.stderr)
    return log


def calls(lines: list[str], folder: Path) -> list[str]:
    names: dict[str, object] = {}
    log = []
    with contextlib.chdir(folder):
        for line in lines:
            log.append(f">>> {line}")
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                try:
                    exec(compile(line, "<call>", "single"), names)
                except Exception as error:
                    sys.stdout.write(f"{type(error).__name__}: {error}\n")
            log += shown(out.getvalue())
    return log


def analyst(folder: Path) -> list[str]:
    """Six tables as people export them: look, learn with a question, ask."""
    sys.path.insert(0, str(HERE))
    import ugly

    log = []
    for name, target in SIX.items():
        (folder / f"{name}.csv").write_bytes(ugly.FILES[name]())
        learn = (
            f"optbn learn {name}.csv --target {target} --max-parents 2 --time-limit 20 -o {name}.json -r {name}.html"
        )
        log += shell([f"optbn describe {name}.csv", learn, f'optbn query {name}.json "P({target})"'], folder)
    return log


def main(wanted: list[str]) -> None:
    for trial in wanted or ["analyst", "scientist", "teacher"]:
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            if trial == "analyst":
                log = analyst(folder)
            elif trial == "teacher":
                log = shell(TEACHER.strip().splitlines(), folder)
            else:
                log = calls(SCIENTIST.strip().splitlines(), folder)
        (HERE / f"{trial}.txt").write_text("\n".join(log) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
