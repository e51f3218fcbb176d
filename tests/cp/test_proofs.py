"""Proofs: every proof the search writes is accepted by both checkers, and what is changed in one is noticed."""

from __future__ import annotations

import json
import re
import resource
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import optbn_solvers.proofs.format
import optbn_solvers.proofs.writer
from optbn_solvers.base.errors import CheckFailed
from optbn_solvers.base.protocol import Budget
from optbn_solvers.base.solution import ClusterRow, Exhausted, Proof, RowBound, Status, SubsetRow, Tree
from optbn_solvers.base.solution_json import from_json, to_json
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.front.checked import bound_of_proof
from optbn_solvers.methods.ilp.solver import Ilp
from optbn_solvers.proofs import fast, reference
from optbn_solvers.proofs.format import numbers, read_proof
from optbn_solvers.proofs.kernels import varint
from optbn_solvers.proofs.writer import ProofWriter, write_rows, write_tree
from optbn_solvers.relaxation.localcuts import LocalCuts
from optbn_solvers.relaxation.orders import search
from optbn_solvers.relaxation.root import RootSettings
from optbn_solvers.relaxation.strengthen import Begin, _root
from optbn_solvers.search import workspace
from optbn_solvers.search.below import below
from optbn_solvers.search.solver import ClusterSearch
from optbn_solvers.verify import verify
from tests.fuzz.heavy import varints
from tests.naive.solvers import KINDS, optimum_by_subsets, random_table


def random_tables(count: int, seed: int, sizes=(1, 9), rows=(4, 30)):
    rng = np.random.default_rng(seed)
    for trial in range(count):
        table = random_table(
            rng, int(rng.integers(*sizes)), KINDS[trial % len(KINDS)], most=4, rows=int(rng.integers(*rows))
        )
        best = optimum_by_subsets(table)
        if best is not None:
            yield trial, table, best


def check_both(table: ScoreTable, path) -> tuple[int, tuple[int, ...]]:
    """What both checkers say; they must agree, also about what is wrong."""
    answers = []
    for checker in (reference, fast):
        try:
            answers.append(checker.check_proof(table, path))
        except CheckFailed:
            answers.append(None)
    assert answers[0] == answers[1]
    if answers[0] is None:
        raise CheckFailed("both say so")
    return answers[0]


def test_every_proof_is_accepted(tmp_path):
    path = tmp_path / "t.proof"
    for trial, table, best in random_tables(250, seed=1):
        solution = ClusterSearch(greedy=trial % 2 == 0, seed=trial, passes=trial % 4, proof=str(path)).solve(table)
        assert isinstance(solution.evidence, Proof)
        assert check_both(table, path) == (best, solution.choice)


def test_proofs_that_begin_with_local_cuts(tmp_path):
    """A first attempt of one node forces a stronger root: filters, subset rows, then a tree."""
    path = tmp_path / "t.proof"
    restarted = 0
    for trial, table, best in random_tables(150, seed=2, sizes=(6, 10), rows=(30, 60)):
        solution = ClusterSearch(seed=trial, nodes=1, passes=1, candidates=1, proof=str(path)).solve(table)
        restarted += solution.statistics["attempts"] > 1
        assert table.total_units(solution.choice) == best
        assert check_both(table, path) == (best, solution.choice)
    assert restarted > 10


def test_proofs_that_begin_where_a_ledger_ended(tmp_path):
    """With its families, its bound, and a chain of filters that proves both, from few rounds of the root."""
    path = tmp_path / "t.proof"
    searched = 0
    for trial, table, best in random_tables(80, seed=4, sizes=(6, 10), rows=(30, 60)):
        rows = search(table, seed=trial, starts=1, kicks=0)
        how = RootSettings(most_rounds=1 + trial % 4, largest_part=0)
        ledger = _root(Begin(table, rows, Budget(), lambda rows, bound: None), how, trial, LocalCuts)
        start = None if ledger.closed else below(ledger, lambda: False)
        if start is None:
            continue
        assert start.bound <= ledger.bound
        assert set(start.rows.tolist()) <= set(ledger.families.rows[ledger.alive].tolist())
        found = ClusterSearch(greedy=False, restarts=0, rows=start, proof=str(path))
        solution = found.solve(table, start=ledger.rows.tolist())
        assert table.total_units(solution.choice) == best
        assert check_both(table, path) == (best, solution.choice)
        searched += 1
    assert searched > 5


def test_proofs_of_bounds_that_ended_early(tmp_path, monkeypatch):
    monkeypatch.setattr(workspace, "EFFORT", 100)
    path = tmp_path / "t.proof"
    for trial, table, best in random_tables(100, seed=3):
        solution = ClusterSearch(greedy=trial % 2 == 0, seed=trial, proof=str(path)).solve(table)
        assert check_both(table, path) == (best, solution.choice)


def test_wide_tables(tmp_path):
    from tests.cp.test_search import wide_table

    path = tmp_path / "t.proof"
    for n in (66, 130):
        table, best = wide_table(np.random.default_rng(n), n, 5)
        solution = ClusterSearch(greedy=True, proof=str(path)).solve(table)
        checker = check_both if n == 66 else fast.check_proof  # the reference is slow for many variables
        assert checker(table, path) == (best, solution.choice)


def hard_proof(path, seed=3):
    """A table with a proof of some branches and changes, and its numbers."""
    for _, table, best in random_tables(200, seed=seed, sizes=(6, 7), rows=(25, 40)):
        solution = ClusterSearch(greedy=False, candidates=1, passes=1, proof=str(path)).solve(table)
        if solution.statistics["nodes"] > 8:
            return table, best, solution, list(numbers(read_proof(table, path).body))
    raise AssertionError("no table was hard enough")


def rewrite(path, stream, **header):
    """The proof with other numbers, or with another header."""
    line, _ = path.read_bytes().split(b"\n", 1)
    known = json.loads(line) | header
    out = np.empty(varint.LONGEST * len(stream), dtype=np.uint8)
    body = out[: varint.encode(np.array(stream, dtype=np.int64), out)].tobytes()
    path.write_bytes(json.dumps(known).encode() + b"\n" + zlib.compress(body))


def test_mutants_never_prove_what_is_false(tmp_path):
    """Each number of a proof is changed. A mutant may still be a proof, but only ever of the truth; most are not."""
    path = tmp_path / "t.proof"
    table, best, _, stream = hard_proof(path)
    original = path.read_bytes()
    rng = np.random.default_rng(4)
    rejected = total = 0
    for at in range(len(stream)):
        changed = stream.copy()
        changed[at] += int(rng.choice([-1, 1, 3, -3, 1000]))
        path.write_bytes(original)
        rewrite(path, changed)
        total += 1
        try:
            assert check_both(table, path)[0] == best
        except CheckFailed:
            rejected += 1
    assert rejected > total // 3


def test_a_worse_graph_is_not_proved(tmp_path):
    path = tmp_path / "t.proof"
    table, best, solution, stream = hard_proof(path)
    for v in range(table.n):
        for row in table.rows(v):
            choice = [*solution.choice[:v], row, *solution.choice[v + 1 :]]
            if table.total_units(choice) != best:
                rewrite(path, stream, choice=choice)
                with pytest.raises(CheckFailed):
                    check_both(table, path)


def test_broken_files(tmp_path):
    path = tmp_path / "t.proof"
    table, _, solution, stream = hard_proof(path)
    good = path.read_bytes()
    header, body = good.split(b"\n", 1)
    records = json.loads(header)["records"]
    broken = [
        b"",
        b"{}\n",
        header,
        good[:-5],
        good + b"x",
        header + b"\n" + zlib.compress(b"\xff" * 20),
        b"[]\n" + body,
    ]
    for content in broken:
        path.write_bytes(content)
        with pytest.raises(CheckFailed):
            check_both(table, path)
    path.write_bytes(good)
    for change in (
        {"table": "0"},
        {"records": records + 1},
        {"version": 2},
        {"choice": list(solution.choice[1:])},
        {"choice": [-1] * table.n},
        {"choice": [0.5] * table.n},
        {"denominator": 0},
    ):
        rewrite(path, stream, **change)
        with pytest.raises(CheckFailed):
            check_both(table, path)
        path.write_bytes(good)
    for other in (stream[:-1], [*stream, 2, 0], [0, *stream], []):
        rewrite(path, other)
        with pytest.raises(CheckFailed):
            check_both(table, path)
        path.write_bytes(good)
    with pytest.raises(CheckFailed):
        check_both(table, tmp_path / "missing.proof")


def test_a_proof_that_grows_too_large_is_given_up(tmp_path):
    path = tmp_path / "t.proof"
    table, best, _, _ = hard_proof(path)
    path.unlink()
    solution = ClusterSearch(proof=str(path), proof_limit=10).solve(table)
    assert table.total_units(solution.choice) == best
    assert "given up" in solution.statistics["proof"]
    assert list(tmp_path.iterdir()) == []


def test_varints():
    rng = np.random.default_rng(5)
    values = rng.integers(-(2**62), 2**62, 300) >> rng.integers(0, 62, 300)
    values[:4] = [0, -1, 2**63 - 1, -(2**63)]
    out = np.empty(varint.LONGEST * len(values), dtype=np.uint8)
    body = out[: varint.encode(values, out)]
    assert varint.count(body) == len(values)
    back, at = [], 0
    while at < len(body):
        value, at = varint.read(body, at)
        back.append(value)
    assert back == values.tolist() == list(numbers(body.tobytes()))


@pytest.mark.parametrize(
    ("body", "count"),
    [
        (b"", 0),
        (b"\x80\x80", varint.CUT_OFF),
        (b"\xff" * 20, varint.CUT_OFF),
        (b"\xff" * 9 + b"\x01", 1),
        (b"\xff" * 9 + b"\x02", varint.TOO_LARGE),
        (b"\xff" * 10 + b"\x01\x00", varint.TOO_LARGE),
    ],
)
def test_numbers_that_64_bits_do_not_hold(body, count):
    assert varint.count(np.frombuffer(body, dtype=np.uint8)) == count


def test_numbers_that_the_compiled_checker_does_not_hold():
    """A right-hand side, a coefficient, a change, a target beyond it: the reference decides, and both say the same."""
    table = pairs()
    unit = table.units_of(1.0)
    best = optimum_by_subsets(table)
    closing = [0, 3, 0, 1, 2, 2, 1, 1, 3 * unit]  # the cluster {a, b, c} closes; rows before it have the number 0
    for large in (1 << 56, 1 << 62, 1 << 63, 1 << 100):
        rhs = [1, 2, 0, 1, large, 1, 0, 2, 1]
        coefficient = [1, 2, 0, 1, large, 1, 0, 2, large]
        wrong = [1, 2, 0, 1, large - 1, 1, 0, 2, large]
        for row in (rhs, coefficient):
            fast.check_numbers(table, best, varints([*row, *closing]), 1, 1)
            with pytest.raises(CheckFailed):
                fast.check_numbers(table, best - 1, varints([*row, *closing]), 1, 1)
        for stream in ([*wrong, *closing], [*closing[:-1], large], [*closing, large]):
            for checker in (reference, fast):
                with pytest.raises(CheckFailed):
                    checker.check_numbers(table, best, varints(stream), 1, 1)
        fast.check_numbers(table, large, varints([2, 0]), 1, 1)
        with pytest.raises(CheckFailed, match="too high"):
            fast.check_numbers(table, -large, varints([2, 0]), 1, 1)
    with pytest.raises(CheckFailed, match="bits"):
        fast.check_numbers(table, best, varints([2, 1 << 5000]), 1, 1)


def test_checking_takes_no_more_memory_than_the_proof():
    """Numbers of a byte each: 64 MB of them are not made 64-bit numbers."""
    table = pairs()
    fast.check_numbers(table, 0, varints([2, 0]), 1, 1)
    body = bytes(1 << 26)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(CheckFailed):
        fast.check_numbers(table, 0, body, 1, 1)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 17  # KB


def test_a_proof_that_could_not_be_read_again_is_given_up(tmp_path, monkeypatch):
    """However well it compresses."""
    path = tmp_path / "t.proof"
    table, best, _, stream = hard_proof(path)
    length = len(varints(stream))
    for most, kept in ((length, False), (length + 1, True)):
        for module in (optbn_solvers.proofs.format, optbn_solvers.proofs.writer):
            monkeypatch.setattr(module, "LARGEST_BODY", most)
        with ProofWriter(table, path) as writer:
            writer.append(np.array(stream, dtype=np.int64))
            assert (writer.finish(range(table.n), 1) is not None) is kept
        if kept:
            read_proof(table, path)
    monkeypatch.setattr(optbn_solvers.proofs.writer, "LARGEST_BODY", 10)
    solution = ClusterSearch(proof=str(path)).solve(table)
    assert table.total_units(solution.choice) == best
    assert isinstance(solution.evidence, Exhausted) and "given up" in solution.statistics["proof"]


def pairs() -> ScoreTable:
    """Three variables that all want each other."""
    return ScoreTable.from_dict(
        {
            "a": {(): -4, ("b",): -1, ("c",): -1},
            "b": {(): -4, ("a",): -1, ("c",): -1},
            "c": {(): -4, ("a",): -1, ("b",): -1},
        }
    )


def test_rows_as_a_proof(tmp_path):
    """Row multipliers by hand: the cluster {a, b, c} is worth 3; so is the subset row that says the same."""
    table, path = pairs(), tmp_path / "t.proof"
    best = optimum_by_subsets(table)
    solution = ClusterSearch().solve(table)
    three = round(3 / table.quantum)
    row = SubsetRow(
        (0, 1, 2),
        tuple((v, (u,), 1) for v in range(3) for u in range(3) if u != v),
        2,
        three,
    )
    for stages in (((ClusterRow((0, 1, 2), three),),), ((), (row,))):
        proof = write_rows(table, path, solution.choice, RowBound(stages))
        assert proof.path == str(path)
        assert check_both(table, path) == (best, solution.choice)
    halves = RowBound(((ClusterRow((0, 1, 2), three), SubsetRow(*list(vars(row).values())[:3], three)),), 2)
    write_rows(table, path, solution.choice, halves)
    assert check_both(table, path) == (best, solution.choice)
    for wrong in (
        ClusterRow((0, 1, 2), three - 1),
        SubsetRow((0, 1, 2), row.coefficients, 1, three),
        SubsetRow((0, 1, 2), (*row.coefficients[:-1], (2, (1,), 2)), 2, three),
        SubsetRow((0, 1, 2), row.coefficients, 3, three),
    ):
        write_rows(table, path, solution.choice, RowBound(((wrong,),)))
        with pytest.raises(CheckFailed):
            check_both(table, path)


def test_the_worked_example(tmp_path):
    """The proof in solvers/optbn_solvers/proofs/README.md is one."""
    import optbn_solvers.proofs

    table = ScoreTable.from_dict(
        {
            "a": {(): -9, ("c", "d"): -1, ("b",): -8},
            "b": {(): -9, ("c", "d"): -5, ("d", "e"): -6},
            "c": {(): -9, ("b",): -1, ("a",): -4},
            "d": {(): -9, ("b", "e"): -2, ("a", "e"): -8},
            "e": {(): -9, ("a",): -4, ("d",): -1},
        }
    )
    readme = (Path(optbn_solvers.proofs.__file__).parent / "README.md").read_text()
    listing = [line for line in readme.split("one point of\n", 1)[1].splitlines() if line.startswith("    ")]
    words = [word for line in listing for word in re.split(r"[A-Z]{4}", line)[0].split()]
    assert table.exponent == 45
    stream = [int(word.removesuffix("u")) << (45 if word.endswith("u") else 0) for word in words]
    assert len(stream) == 23
    solution = ClusterSearch().solve(table)
    assert solution.score == -18
    path = tmp_path / "t.proof"
    with ProofWriter(table, path) as writer:
        writer.append(np.array(stream, dtype=np.int64))
        writer.finish(solution.choice, 3)
    assert check_both(table, path) == (optimum_by_subsets(table), solution.choice)


def test_an_unfinished_proof_leaves_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt), ProofWriter(pairs(), tmp_path / "t.proof") as writer:
        writer.append(np.arange(10))
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_verify_believes_the_proof(tmp_path):
    """With the proof's checker, the answer is proved; a changed file or another graph's proof is not."""
    path = tmp_path / "t.proof"
    table, _, solution, stream = hard_proof(path)
    verdict = verify(table, solution, proof_checker=bound_of_proof)
    assert verdict.optimal
    assert not verdict.claimed
    rewrite(path, stream, note="another file")
    with pytest.raises(CheckFailed, match="digest differs"):
        verify(table, solution, proof_checker=bound_of_proof)


def test_a_carried_tree_is_the_same_proof(tmp_path):
    """It proves the bound that the solution states, from JSON too; of a tree that is too large nothing is kept."""
    trees = 0
    for trial, table, best in random_tables(60, seed=10, sizes=(5, 9), rows=(20, 40)):
        solution = ClusterSearch(greedy=False, seed=trial, passes=1, candidates=1, carried=10**6).solve(table)
        read = from_json(table, to_json(table, solution))
        assert isinstance(solution.evidence, Tree) and read.evidence == solution.evidence
        for check in (bound_of_proof, by_reference):
            verdict = verify(table, read, proof_checker=check)
            assert verdict.optimal and not verdict.claimed and table.units_of(verdict.bound) == best
        assert "was not checked" in verify(table, read).claimed[0] or best == best_families(table)
        write_tree(table, tmp_path / "t.proof", solution.choice, solution.evidence)
        assert check_both(table, tmp_path / "t.proof") == (best, solution.choice)
        if solution.statistics["nodes"] > 1:
            trees += 1
            assert isinstance(ClusterSearch(greedy=False, carried=1).solve(table).evidence, Exhausted)
    assert trees > 10


def by_reference(table, stated, tree):
    reference.check_numbers(table, stated, zlib.decompress(tree.body), tree.nodes, tree.denominator)
    return stated


def best_families(table):
    return int(table.units[table.offsets[:-1]].sum())


def test_a_carried_tree_proves_no_more_than_it_does():
    for trial, table, best in random_tables(60, seed=11, sizes=(5, 9), rows=(20, 40)):
        solution = ClusterSearch(seed=trial, carried=10**6).solve(table)
        tree = solution.evidence
        bad = [replace(tree, nodes=tree.nodes + 1), replace(tree, nodes=0), replace(tree, denominator=0)]
        bad += [replace(tree, body=tree.body[:-3]), replace(tree, body=zlib.compress(b"\x7f")), replace(tree, body=b"")]
        for wrong in bad:
            with pytest.raises(CheckFailed):
                verify(table, replace(solution, evidence=wrong), proof_checker=bound_of_proof)
        worse = replace(solution, status=Status.UNKNOWN, choice=None, score=None, bound=table.score_of(best - 1))
        with pytest.raises(CheckFailed):
            verify(table, worse, proof_checker=bound_of_proof)
        with pytest.raises(CheckFailed, match="the bound is inf"):
            verify(table, replace(worse, bound=np.inf), proof_checker=bound_of_proof)


def test_what_branch_and_cut_proves(tmp_path):
    """Rows of another solver become a proof as they are where they close, and begin the search's proof anyway."""
    path = tmp_path / "t.proof"
    closed = 0
    for trial, table, best in random_tables(60, seed=9, sizes=(6, 10), rows=(20, 50)):
        known = Ilp(seed=trial).solve(table)
        if not isinstance(known.evidence, RowBound):
            continue
        if known.status is Status.OPTIMAL and known.evidence.stages:
            closed += 1
            write_rows(table, path, known.choice, known.evidence)
            assert check_both(table, path)[0] == best
        solver = ClusterSearch(greedy=False, rows=known.evidence, proof=str(path))
        solution = solver.solve(table, start=known.choice)
        assert check_both(table, path) == (best, solution.choice)
    assert closed > 10


def test_branch_and_cut_writes_proofs_and_cluster_search_finishes_them(tmp_path):
    """Where the root closes its rows are the proof; else the tree below them is. The root is kept from working here."""
    rng = np.random.default_rng(31)
    trees = 0
    for trial in range(12):
        table = random_table(rng, 10, ("plain", "dense")[trial % 2], rows=20)
        path = str(tmp_path / "a.proof")
        for root in (RootSettings(), RootSettings(most_rounds=1, largest_part=1)):
            alone = Ilp(ascents=0, root=root, proof=path, carried=0).solve(table)
            found = Ilp(ascents=0, root=root, proof=path, carried=0, certify=True).solve(table)
            assert isinstance(found.evidence, Proof) and found.score == table.score_of(optimum_by_subsets(table))
            if not isinstance(alone.evidence, Proof):
                trees += 1
                assert "the root did not close" in alone.statistics["proof"]
                assert "a tree of" in found.statistics["proof"]
                found = Ilp(ascents=0, root=root, proof=path).solve(table)
                assert isinstance(found.evidence, Proof) and "a tree below" in found.statistics["proof"]
            for check in (fast.check_proof, reference.check_proof):
                assert check(table, path) == (table.total_units(found.choice), found.choice)
    assert trees
