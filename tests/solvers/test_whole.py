"""Tables know whether they have all parent sets; what needs them refuses a table that has not."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import optbn
from optbn.learning.solving import table_of
from optbn_solvers import Constraints, ScoreTable, solve
from optbn_solvers.base.errors import TableError
from optbn_solvers.base.files import read_about, read_rows, read_table, write_table
from optbn_solvers.base.files.jkl import write_rows
from optbn_solvers.base.files.rows import Rows
from optbn_solvers.base.kernels.masks import pack_sets
from optbn_solvers.base.whole import is_whole
from optbn_solvers.front.near import best_graphs
from optbn_solvers.front.posterior import posterior
from optbn_solvers.verify import written
from tests.kbest import k_best


def all_sets(seed: int = 0, n: int = 5, most: int = 2) -> Rows:
    rng = np.random.default_rng(seed)
    listed = [
        (v, parents)
        for v in range(n)
        for size in range(most + 1)
        for parents in itertools.combinations([u for u in range(n) if u != v], size)
    ]
    scores = -50 + rng.normal(size=len(listed)) * 3
    masks = pack_sets([parents for _, parents in listed], n)
    return Rows(tuple(f"v{v}" for v in range(n)), np.array([v for v, _ in listed]), masks, scores)


@pytest.mark.parametrize("kind", ["jkl", "jaa", "parquet"])
def test_a_file_says_what_it_has(tmp_path, kind):
    path = tmp_path / f"scores.{kind}"
    rows = all_sets()
    pruned, whole = rows.table(), replace(rows, about={"sets": "all"}).table(keep_dominated=True)
    assert pruned.whole is False and whole.whole is True
    about = {"score": "BDeu(ess=1.0)", "data": "ab" * 32, "rows": 1000}
    for table in (pruned, whole):
        write_table(table, path, about=about)
        assert read_about(path) == {**about, "sets": "all" if table.whole else "undominated"}
        again = table_of(path, keep_dominated=True)
        assert again == table and again.whole is table.whole
        assert read_table(path) == (pruned if kind != "parquet" else table)


def test_other_programs_read_the_same_file(tmp_path):
    """As they do it: a number, then per variable the first two words of a line, then so many lines."""
    path = tmp_path / "scores.jkl"
    table = all_sets().table()
    write_table(table, path, about={"score": "PCART(# not the start of a comment)"})
    lines = iter(path.read_text().splitlines())
    read = {}
    for _ in range(int(next(lines))):
        name, count = next(lines).split()[:2]
        read[name] = {
            frozenset(words[2:]): float(words[0]) for words in (next(lines).split() for _ in range(int(count)))
        }
    assert next(lines, None) is None
    assert read == {
        name: {frozenset(table.names[u] for u in table.parents(r)): table.scores[r] for r in table.rows(v)}
        for v, name in enumerate(table.names)
    }


def test_comments_are_skipped_and_damaged_ones_say_nothing(tmp_path):
    path = tmp_path / "scores.jkl"
    write_rows(all_sets(), path)
    plain = path.read_text()
    table = read_table(path)
    for header in ("# any words", '# {"sets": "all"', "# [1, 2]", "#", "# " + "[" * 100_000):
        first, second, rest = plain.split("\n", 2)
        path.write_text(f"# about\n{first}\n{second} {header}\n# more\n{rest}# end\n")
        assert read_table(path) == table and read_about(path) == {} and read_table(path).whole is False
        assert read_rows(path).table(keep_dominated=True).whole is None


def test_what_another_program_left_out_is_noticed(tmp_path):
    rows = all_sets()
    pruned, whole = rows.table(), rows.table(keep_dominated=True)
    assert whole.whole is None and is_whole(whole)
    path = tmp_path / "scores.jkl"
    write_rows(Rows(pruned.names, pruned.children, pruned.masks, pruned.scores), path)
    unknown = table_of(path, keep_dominated=True)
    assert unknown.whole is None and not is_whole(unknown)
    # every set is there and none is beaten: nothing was dropped
    rising = replace(rows, scores=np.bitwise_count(rows.masks).sum(axis=1) - 50.0).table(keep_dominated=True)
    assert rising.whole is None and is_whole(rising)
    assert not is_whole(ScoreTable.from_dict({"a": {(): -1.0}, "b": {(): -1.0}}))
    assert is_whole(ScoreTable.from_dict({"a": {(): -1.0}}))


def test_answers_that_need_all_sets_are_refused(tmp_path):
    table = all_sets().table()
    asks = {
        "averages": lambda **how: posterior(table, **how),
        "the best graphs": lambda **how: k_best(table, 3, **how),
        "best graphs": lambda **how: best_graphs(table, 3, **how),
        "best graphs after": lambda **how: best_graphs(table, 100, within=1.0, per_class=True, **how),
        "required arcs": lambda **how: solve(table, constraints=Constraints(required=[("v0", "v1")]), **how),
        "or paths": lambda **how: solve(table, constraints=Constraints(ancestors=[("v0", "v1")]), **how),
        "required": lambda **how: solve(table, constraints=Constraints(required_edges=[("v0", "v1")]), **how),
    }
    for words, ask in asks.items():
        with pytest.raises(TableError, match=rf"{words}.*--keep-dominated"):
            ask()
        ask(only_listed=True)
    # these say which families there are, or only take away: no dropped family could help
    for harmless in (
        Constraints(forbidden=[("v0", "v1")]),
        Constraints(max_arcs=2),
        Constraints(tiers=[["v0", "v1"], ["v2", "v3", "v4"]]),
    ):
        found = solve(table, constraints=harmless)
        wanted = solve(all_sets().table(keep_dominated=True), constraints=harmless)
        assert found.score is not None and abs(found.score - wanted.score) < 1e-9
    assert k_best(table, 1)


def test_a_table_made_under_the_constraints_has_what_they_need():
    data = optbn.load_network("asia").sample(300, 1)
    asked = {"required": [("smoke", "xray")]}
    table = optbn.score_table(data, "bdeu", max_parents=2, **asked)
    assert table.whole is False
    assert optbn.solve(table, constraints=asked).status == "optimal"


def test_posteriors_of_a_pruned_file_are_refused(tmp_path):
    """The probability of an arc over the sets that are left is another number than that over all sets."""
    rows = all_sets(7, n=4)
    whole, pruned = rows.table(keep_dominated=True), rows.table()
    right, wrong = posterior(whole).arcs, posterior(pruned, only_listed=True).arcs
    assert np.abs(right - wrong).max() > 0.02
    with pytest.raises(TableError, match="averages over graphs need all parent sets"):
        posterior(pruned)


def test_names_that_begin_like_a_comment(tmp_path):
    """The column "#legs" is a variable, in the header of the first one and among parents."""
    rows = replace(all_sets(), names=("#legs", "#2", "c#", "d", "#e"))
    path = tmp_path / "scores.jkl"
    table = rows.table()
    write_table(table, path, about={"score": "a # in it"})
    assert read_table(path) == table and read_about(path) == {"score": "a # in it", "sets": "undominated"}
    written.check_written(table, solve(table), written.read(path))
