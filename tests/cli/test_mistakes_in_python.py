"""Mistakes that users of the library make, and the one line that each gets: what is wrong, and what to do."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import optbn
from tests.network.test_network import mixed_network

ASIA = optbn.load_network("asia")
ROWS = ASIA.sample(60, 1).to_frame()
NUMBERS = pd.DataFrame({"x": np.arange(30.0), "y": np.arange(30.0)[::-1] ** 2})
LISTS = pd.DataFrame({"a": [[1], [2]], "b": [1, 2]})
NAMES = "asia, bronc, dysp, either, lung, smoke, tub, xray"

MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "no data": (lambda: optbn.learn(None), "not nothing at all"),
    "a list": (lambda: optbn.learn([["a", "b"]]), "a data frame, arrays by name, .* not of type list"),
    "a column": (lambda: optbn.learn(ROWS["asia"]), "not of type Series"),
    "no rows": (lambda: optbn.learn(ROWS[:0]), "there are no rows"),
    "no columns": (lambda: optbn.learn(pd.DataFrame()), "there are no columns"),
    "one dimension": (lambda: optbn.learn(np.zeros(4)), r"shape \(4,\); expected two dimensions"),
    "columns of one name": (lambda: optbn.learn(pd.concat([ROWS, ROWS], axis=1)), "2 columns are named 'asia'; give"),
    "cells that are lists": (lambda: optbn.learn(LISTS), "column 'a': values of type list.* convert it"),
    "a score's name": (lambda: optbn.learn(ROWS, score="bdue"), "no score 'bdue' .did you mean 'bdeu'"),
    "a score's setting": (lambda: optbn.learn(ROWS, score="bdeu", es=1), "no argument 'es'; did you mean ess"),
    "a score that is none": (lambda: optbn.bootstrap(ROWS, 200), "a score is a name .* or a score object, not 200"),
    "a keyword": (lambda: optbn.learn(ROWS, maxparents=2), "no argument 'maxparents'; did you mean max_parents"),
    "a number as text": (lambda: optbn.learn(ROWS, max_parents="two"), "max_parents is 'two', expected a whole number"),
    "a negative number": (lambda: optbn.learn(ROWS, time_limit=-1), "time_limit is -1, expected a number, at least 0"),
    "no threads": (lambda: optbn.learn(ROWS, jobs=0), "jobs is 0, expected .*at least 1"),
    "half a seed": (lambda: optbn.learn(ROWS, seed=1.5), "the seed is 1.5, expected a whole number"),
    "the target's name": (lambda: optbn.learn(ROWS, target="dyps"), "no column 'dyps' .did you mean 'dysp'"),
    "a constraint's name": (lambda: optbn.learn(ROWS, constraints={"forbid": []}), "did you mean 'forbidden'"),
    "an arc as text": (lambda: optbn.learn(ROWS, constraints={"forbidden": ["a->b"]}), "expected several names"),
    "an arc's end": (lambda: optbn.learn(ROWS, constraints={"forbidden": [("asai", "lung")]}), "did you mean 'asia'"),
    "one fold": (lambda: optbn.cross_validate(ROWS, "bic", 1), "1 folds of 60 rows; choose 2 to 60"),
    "rows for a score table": (lambda: optbn.solve(ROWS), "optbn.score_table makes it from data.* not a DataFrame"),
    "a network's name": (lambda: optbn.load_network("alram"), "did you mean 'alarm'"),
    "a file's ending": (lambda: ASIA.save("asia.xls"), "cannot tell the format by the name"),
    "a folder": (lambda: ASIA.save("no/such/asia.bif"), "there is no folder no/such"),
    "a variable": (lambda: ASIA.query("lungs"), f"did you mean 'lung'.*; there are: {NAMES}"),
    "a variable's number": (lambda: ASIA.domain(3), f"no variable 3; there are: {NAMES}"),
    "a level": (lambda: ASIA.query("lung", smoke="Yes"), "no level of 'smoke' called 'Yes' .did you mean 'yes'"),
    "a truth value": (lambda: ASIA.query("lung", smoke=True), "no level of 'smoke' called 'True'; there are: no, yes"),
    "evidence in a list": (lambda: ASIA.query("lung", ["smoke"]), "evidence is a dictionary such as"),
    "what is given": (lambda: ASIA.query("lung", lung="yes"), "'lung' is both in the question and in the evidence"),
    "an answer's level": (lambda: ASIA.query("lung")["maybe"], "no level of the posterior 'maybe'; there are: no, yes"),
    "a missing column": (lambda: ASIA.predict("lung", ROWS[["asia"]]), "the data have no column 'tub'"),
    "a new level": (lambda: ASIA.predict("lung", ROWS.astype(str) + "!"), "unseen=\"missing\" takes such a cell as"),
    "chances of a number": (lambda: mixed_network().predict_proba("X", ROWS), "'X' is real.* predict gives its mean"),
    "no such many rows": (lambda: ASIA.sample(10.5), "cannot draw 10.5 rows; expected a whole number"),
    "fit turned round": (lambda: optbn.fit(ROWS, ASIA), "a structure is a network, .* not DataFrame"),
    "fit without a column": (lambda: optbn.fit(ASIA, ROWS[["asia"]]), "no column 'tub'|no column '"),
    "a smoother's name": (lambda: optbn.fit(ASIA, ROWS, "hpd"), "did you mean 'hdp'"),
    "a cycle": (lambda: optbn.Structure.from_arcs("ab", ["ab", "ba"]), "form a cycle: a -> b -> a|b -> a -> b"),
    "other variables": (lambda: optbn.compare(ASIA, optbn.load_network("cancer")), "over different variables"),
    "another program's model": (lambda: optbn.BayesianNetwork.from_pgmpy(ASIA), "expected a pgmpy model"),
    "weights as texts": (lambda: optbn.learn(ROWS, weights=["a"] * 60), "weights are a column's name, or a number for"),
    "too few weights": (lambda: optbn.learn(ROWS, weights=[1, 2]), r"the shape \(2,\), but there are 60 rows"),
    "a number for a name": (lambda: ASIA.query(3), f"no variable 3; there are: {NAMES}"),
    "no name": (lambda: ASIA.query([]), "the query names no variable"),
    "data before the target": (lambda: ASIA.predict(ROWS, "lung"), "the name of a variable first, not a DataFrame"),
    "a column for the target": (lambda: ASIA.predict_proba(ROWS["lung"], ROWS), "a variable first, not a Series"),
    "no evidence to draw": (lambda: ASIA.draw("x.svg"), "evidence is a dictionary such as .* not of type str"),
    "a limit that is none": (lambda: optbn.learn(ROWS, time_limit=float("nan")), "time_limit is nan, expected a n"),
    "a limit as text": (lambda: optbn.learn(ROWS, time_limit="1m"), "time_limit is '1m', expected a number"),
    "memory in words": (lambda: optbn.learn(ROWS, memory="lots"), "'lots' is not a size, expected something like 4G"),
    "one parent as text": (lambda: optbn.score(ROWS, "lung", "smoke"), r"parents is 'smoke', expected a list of names"),
    "a child of itself": (lambda: optbn.score(ROWS, "lung", ["lung"]), "'lung' is listed as a parent of itself"),
    "half a resample": (lambda: optbn.bootstrap(ROWS, "bdeu", 2, 2.5), "2.5 resamples, expected a whole number"),
    "no resample": (lambda: optbn.bootstrap(ROWS, "bdeu", 2, 0), "0 resamples, expected a whole number"),
    "a kind of resample": (lambda: optbn.bootstrap(ROWS, resampling="rows"), r"expected Resampling\('rows'\)"),
    "arcs of three": (lambda: optbn.learn(ROWS, constraints={"forbidden": ["abc"]}), "forbidden has 'abc'; expected"),
    "constraints as a list": (lambda: optbn.learn(ROWS, constraints=[("asia", "tub")]), "there are: ancestors, forb"),
    "lags as text": (lambda: optbn.learn(ROWS, lags="2"), "lags is '2', expected a whole number, at least 0"),
    "a target of experiments": (lambda: optbn.learn(ROWS, targets={"lung": "was"}), "no column 'was'; there are"),
    "an equivalent sample": (lambda: optbn.learn(ROWS, score="bdeu", ess=-1), "ess is -1, expected a finite number"),
    "a solver's name": (lambda: optbn.learn(ROWS, score="bdeu", solver="ipl"), "did you mean 'ilp'"),
    "one fold held out": (lambda: optbn.learn(ROWS, held_out=1), "held_out is 1, expected a whole number, at least 2"),
    "a graph as a mapping": (lambda: optbn.gap(ROWS, {"asia": []}), "expected a network, .* got dict"),
    "a list of arcs": (lambda: optbn.fit([("smoke", "lung")], ROWS), "a structure is a network, .* not list"),
    "an unknown wish": (lambda: ASIA.query("lung", smok="yes"), "no variable 'smok' .did you mean 'smoke'"),
    "a seed as text": (lambda: ASIA.sample(3, "a"), "the seed is 'a', expected a whole number"),
    "a picture's ending": (lambda: ASIA.draw().save("x.gif"), "a picture is saved as .svg, .png or .pdf"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_gets_one_helpful_line(name: str) -> None:
    call, message = MISTAKES[name]
    with pytest.raises(optbn.OptbnError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


def test_there_are_sixty() -> None:
    assert len(MISTAKES) >= 60


def test_what_is_no_name_of_the_library_suggests_one() -> None:
    with pytest.raises(AttributeError) as error:
        optbn.lern  # noqa: B018
    assert (error.value.name, error.value.obj) == ("lern", optbn) and "learn" in dir(optbn)


@pytest.mark.parametrize("network", [ASIA, mixed_network()])
def test_copies_are_equal_and_other_networks_are_not(network: optbn.BayesianNetwork) -> None:
    for again in (copy.copy(network), copy.deepcopy(network), pickle.loads(pickle.dumps(network))):
        assert again == network and hash(again) == hash(network)
        assert network.sample(5) == again.sample(5, seed=0) != network.sample(5, seed=1)
    assert network != optbn.load_network("cancer")
