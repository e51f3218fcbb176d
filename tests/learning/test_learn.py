"""The main job: the steps in one call give what the steps give, limits are kept, and what was left out is said."""

from __future__ import annotations

import itertools
import json
import math
import time
from pathlib import Path

import msgspec
import networkx
import numpy as np
import pytest

import optbn
from optbn.base.errors import LimitError
from optbn.cli import main
from optbn.data.dataset import Categorical, Dataset
from optbn.learning.affordable import affordable_table
from optbn.learning.estimate import estimate
from optbn.learning.learn import Watcher
from optbn.learning.structure import learn_structure
from optbn.network.cpds import BinnedTableCPD, TreeCPD
from optbn.report.report import from_json, to_json
from optbn.scores import load_score
from optbn.scores.left_out import families_left_out
from optbn.scores.scoring import Scoring
from optbn.smoothing.hdp import HDP
from optbn_solvers import Constraints
from optbn_solvers.base.clock import working
from optbn_solvers.front.posterior import posterior
from tests.naive.solvers import scores_of_all_dags


@pytest.fixture(scope="module")
def asia() -> Dataset:
    return optbn.load_network("asia").sample(400, 3)


@pytest.fixture(scope="module")
def csv(asia, tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("learn") / "asia.csv"
    optbn.write(asia, path)
    return str(path)


def test_learning_is_its_steps(asia):
    found = optbn.learn(asia, score="bdeu", max_parents=2, smoother="bdeu", ess=2.0, seed=5)
    scores = optbn.score_table(asia, "bdeu", 2, ess=2.0)
    solution = optbn.solve(scores)
    assert found.scores == scores and found.solution.score == solution.score
    assert found.network == optbn.fit(optbn.structure_of(scores, found.solution), asia, "bdeu")
    report = found.report
    assert report.outcome.proved and report.settings["max parents"] == 2 and report.families_scored == 8 * 29
    phases = [phase.name for phase in report.phases if phase.name != "compile"]
    assert phases == ["read", "score", "solve", "fit"]
    assert {(a.parent, a.child) for a in report.arcs} == set(found.network.structure.arcs)
    assert all(sum(report.counts[name]) == asia.n_rows for name in asia.names)
    assert report.model() == found.network


def test_strengths_are_the_score_lost_without_the_arc(asia):
    found = learn_structure(asia, "bdeu", 3)
    everything = {
        name: {
            frozenset(found.scores.names[u] for u in found.scores.parents(row)): found.scores.scores[row]
            for row in found.scores.rows(v)
        }
        for v, name in enumerate(found.scores.names)
    }
    for (parent, child), lost in found.strengths().items():
        own = frozenset(found.structure.parents(child))
        subsets = (frozenset(s) for k in range(len(own)) for s in itertools.combinations(sorted(own - {parent}), k))
        best = max(everything[child][s] for s in subsets if s in everything[child])
        assert lost == pytest.approx(everything[child][own] - best) and lost > 0


def test_mixed_data_get_the_local_models_of_the_score():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 300)
    frame = {"group": np.array(["a", "b", "c"])[group], "x": group * 4.0 + rng.normal(size=300)}
    pandas = pytest.importorskip("pandas")
    found = optbn.learn(pandas.DataFrame(frame), max_parents=1, smoother="m_estimate")
    assert found.network.n_arcs == 1
    assert any(isinstance(cpd, TreeCPD) for cpd in found.network.cpds)
    assert "iframe" in found._repr_html_() and "Learned(" in repr(found)
    for part in (found, found.solution, found.report, found.network, found.scores):  # what a prompt shows
        assert len(repr(part)) < 200, part
    assert repr(found.solution) == f"Solution(optimal, score {found.solution.score!r}, by auto)"
    tables = optbn.learn(pandas.DataFrame(frame), score="ft", max_parents=1, smoother="m_estimate")
    assert any(isinstance(cpd, BinnedTableCPD) for cpd in tables.network.cpds)
    data = optbn.Dataset.from_frame(pandas.DataFrame(frame))
    plain = optbn.learn(data.select(["group"]), score="ft", smoother="m_estimate")
    gain = found.network.log_likelihood(data) - plain.network.log_likelihood(data.select(["group"]))
    assert gain > -300 * 3.0  # x is known to about its noise, entropy 1.42 nats, given the group or the group given x


def test_constraints_reach_the_answer(asia):
    found = optbn.learn(
        asia, score="bic", max_parents=2, smoother="mle",
        constraints={"forbidden": [("bronc", "dysp"), ("dysp", "bronc")], "required": [("asia", "xray")]},
    )  # fmt: skip
    arcs = set(found.network.structure.arcs)
    assert ("asia", "xray") in arcs and not {("bronc", "dysp"), ("dysp", "bronc")} & arcs
    assert next(a for a in found.report.arcs if (a.parent, a.child) == ("asia", "xray")).strength is None


def test_a_size_that_cannot_be_afforded_is_left_out_and_said(asia):
    bic = load_score("bic")
    scored = affordable_table(Scoring.of(asia, bic, 7), estimate(Scoring.of(asia, bic, 7)), 0.0)
    assert scored.size == 1 and "at most 1 member, not 7" in scored.note
    assert scored.table == optbn.score_table(asia, "bic", 1)
    whole = affordable_table(Scoring.of(asia, bic, 3), estimate(Scoring.of(asia, bic, 3)), 600.0)
    assert whole.size == 3 and whole.note == "" and whole.table == optbn.score_table(asia, "bic", 3)


def test_the_estimate_counts_families_and_grows():
    alarm = optbn.load_network("alarm").sample(300, 1)
    costs = estimate(Scoring.of(alarm, load_score("bdeu"), 3), jobs=1)
    assert [cost.families for cost in costs] == [37, 37 + 37 * 36, 37 + 37 * 36 + 37 * 630, 288_859]
    assert costs[0].seconds < costs[1].seconds < costs[2].seconds < costs[3].seconds
    start = time.process_time()
    optbn.score_table(alarm, "bdeu", 3, jobs=1)
    took = time.process_time() - start
    assert took / 20 < costs[3].seconds < took * 50 + 1  # the order of magnitude: machines are shared
    fewer = estimate(Scoring.of(alarm, load_score("bdeu"), 3, Constraints(roots=alarm.names[:30])))
    assert fewer[-1].families == 30 + 7 * sum(math.comb(36, k) for k in range(4))


def test_dear_sets_are_priced_and_not_tried():
    """Trees over two columns of 13 unordered levels take minutes: such a family is left out, alone and counted, unless
    the columns are coarsened, as they are by default."""
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, levels, 3000) for levels in (13, 13, 2)]
    data = Dataset.from_arrays(np.array(list("abcdefghijklm"))[np.column_stack(columns)])
    begin = time.thread_time()
    for most_levels, left_out in ((8, 0), (None, 1)):
        scoring = Scoring.of(data, load_score("pcartp", most_levels=most_levels), 2)
        costs = estimate(scoring, jobs=1)
        assert time.thread_time() - begin < 20  # compiling included
        scored = affordable_table(scoring, costs, 10.0)
        assert scored.size == 2 and families_left_out(scoring.bound, scoring.sets) == left_out


def test_dear_sets_are_not_priced_far_above_what_they_take():
    """Ten unordered levels and two real columns: of what their lattice could hold, these rows fill a fraction."""
    rng = np.random.default_rng(0)
    level = rng.integers(0, 10, 1500)
    real = np.exp(rng.normal(size=(1500, 6)) + level[:, None] / 10)
    columns = {f"x{i}": column for i, column in enumerate(real.T)}
    data = Dataset.from_arrays({"c": np.array(list("abcdefghij"))[level], **columns})
    told = estimate(Scoring.of(data, load_score("pcartp"), 3), jobs=1)[3].seconds
    begin = time.thread_time()
    optbn.score_table(data, "pcartp", 3, jobs=1)
    took = time.thread_time() - begin
    assert told < 5 * took + 0.2


def test_a_size_that_the_score_refuses_is_left_out_with_the_reason():
    rng = np.random.default_rng(0)
    data = Dataset.from_arrays(rng.integers(0, 2, (100, 4)).astype(str))
    bic = load_score("bic")

    class Refusing:
        """BIC that takes no pairs."""

        def bind(self, data):
            bound = bic.bind(data)

            class Bound:
                def block(self, sets, wanted, floor=None):
                    if sets.shape[1] > 1:
                        raise LimitError("pairs are too much")
                    return bound.block(sets, wanted, floor)

            return Bound()

    scored = affordable_table(Scoring.of(data, Refusing(), 2), estimate(Scoring.of(data, bic, 2)), 100.0)
    assert scored.size == 1 and scored.note == "parent sets have at most 1 member, not 2: pairs are too much"


def test_what_nobody_can_wait_for_is_refused_and_fits_into_a_time_limit():
    rng = np.random.default_rng(0)
    wide = Dataset.from_arrays(rng.integers(0, 2, (60, 300)).astype(str))
    with pytest.raises(
        LimitError, match=r"families of at most 6 of 300 variables would take about [\d,]+ (days|years)"
    ):
        optbn.learn(wide, max_parents=6)


def test_a_watcher_may_choose_a_smaller_size(asia):
    class Modest(Watcher):
        def estimated(self, costs, limited):
            assert not limited and costs[-1].size == 4
            return 1

    found = optbn.learn(asia, score="bic", smoother="mle", max_parents=4, watcher=Modest())
    assert found.report.settings["max parents"] == 1


def test_a_sampler_that_would_not_end_gives_way(asia):
    found = optbn.learn(asia, score="bic", max_parents=2, time_limit=6.0, smoother=HDP(effective=1e9, max_sweeps=10**9))
    (note,) = found.report.notes
    assert "distributions are m-estimates: HDP would not have been done" in note
    assert sum(phase.wall for phase in found.report.phases if phase.name != "compile") < 7.5


def test_alternatives_and_probabilities_of_arcs():
    data = optbn.load_network("cancer").sample(3000, 2)
    found = optbn.learn(data, score="bdeu", max_parents=4, smoother="bdeu", alternatives=5, posteriors=True)
    assert len(found.report.alternatives) == 5
    losses = [0.0 if line.startswith("equal") else float(line.split()[0]) for line in found.report.alternatives]
    assert losses == sorted(losses)
    assert "turned round" in " ".join(found.report.alternatives)
    scores = optbn.score_families(data, all_families(data.names), "bdeu").rows().table(keep_dominated=True)
    exact = posterior(scores).arcs
    for arc in found.report.arcs:
        assert arc.posterior == pytest.approx(exact[data.index(arc.parent), data.index(arc.child)], abs=1e-6)
    assert "probabilities of arcs are over all networks" in found.report.notes[0]
    there = set(found.network.structure.arcs)
    others = {(arc.parent, arc.child): arc.posterior for arc in found.report.others}
    names = itertools.permutations(data.names, 2)
    assert others == pytest.approx(
        {(u, v): p for u, v in names if (u, v) not in there and (p := exact[data.index(u), data.index(v)]) >= 0.1},
        abs=1e-6,
    )


def test_probabilities_over_a_credible_set_are_those_of_all_its_networks(monkeypatch):
    """Where not all networks can be weighed: those within a factor of the best, none of them left out."""
    import optbn.learning.near as near
    from optbn.scores import load_score

    data = optbn.load_network("cancer").sample(200, 2)
    table = optbn.score_families(data, all_families(data.names), "bdeu").rows().table(keep_dominated=True)
    every = scores_of_all_dags(table)
    best = max(every.values())

    def credible():
        whole = near.all_families(Scoring.of(data, load_score("bdeu"), 4), 1, lambda done, of: None)
        return near.credible(whole, None, None, "of at most 4 parents", np.inf)

    for factor in (2, 10, 100, 10**4):
        monkeypatch.setattr(near, "FACTORS", (factor,))
        chances, note = credible()
        inside = {
            graph: units for graph, units in every.items() if best - units <= np.log(factor) * 2.0**table.exponent
        }
        weights = {graph: np.exp(table.score_of(units - best)) for graph, units in inside.items()}
        assert f"over the {len(inside):,} networks of at most 4 parents that are at most {factor} times" in note
        assert "what part of the probability of all networks these have is not known" in note
        for (parent, child), chance in chances.items():
            u, v = data.index(parent), data.index(child)
            there = sum(weight for graph, weight in weights.items() if graph[v] >> u & 1)
            assert chance == pytest.approx(there / sum(weights.values()), abs=1e-9)
    monkeypatch.setattr(near, "FACTORS", (2, 10**9))
    monkeypatch.setattr(near, "LARGEST_SET", 50)
    chances, note = credible()
    assert "at most 2 times less probable than the best; more than 50 are at most 1000000000 times" in note and chances


def test_more_variables_than_can_be_summed_over():
    insurance = optbn.load_network("insurance").sample(500, 1)
    found = optbn.learn(insurance, score="bic", max_parents=2, smoother="mle", posteriors=True, alternatives=2)
    (note,) = found.report.notes
    assert "estimates from" in note and "R-hat" in note and "standard errors: at most" in note
    assert len(found.report.alternatives) == 2 and all(0 <= arc.posterior <= 1 for arc in found.report.arcs)


def test_other_networks_keep_to_the_time_limit_too():
    alarm = optbn.load_network("alarm").sample(500, 1)
    optbn.learn(alarm, score="bic", max_parents=1, smoother="mle")  # compiled code is not what is measured
    start = working()
    found = optbn.learn(
        alarm, score="bic", max_parents=3, smoother="mle", posteriors=True, alternatives=500, time_limit=4.0
    )
    assert working() - start < 8.0  # of 4, on a machine that others use as well
    notes = " ".join(found.report.notes)
    assert "probabilities of arcs" in notes
    assert len(found.report.alternatives) == 500 or "the next best networks were not found in the" in notes


def test_constraints_on_the_whole_network_bind_the_credible_set_too():
    data = optbn.load_network("cancer").sample(200, 2)
    found = optbn.learn(
        data, score="bdeu", max_parents=3, posteriors=True, constraints={"ancestors": [("Xray", "Smoker")]}
    )
    assert "less probable than the best" in " ".join(found.report.notes)
    graph = found.network.to_networkx()
    assert networkx.has_path(graph, "Xray", "Smoker")


def test_what_could_not_be_checked_in_time_is_not_called_proved(monkeypatch):
    """The check finds that it is late: the page and the exit code say so."""
    from optbn_solvers import Budget

    monkeypatch.setattr(Budget, "overdue", lambda self, share=1.0: True)
    data = optbn.load_network("child").sample(1000, 1)
    found = optbn.learn(data, score="bdeu", max_parents=2, smoother="mle", time_limit=60.0, solver="ilp")
    outcome = found.report.outcome
    assert "no time left" in outcome.proof and not outcome.proved and not outcome.checked
    assert any("not checked, no time left" in detail for detail in outcome.details)
    assert not msgspec.json.decode(to_json(found.report))["outcome"]["checked"]


def all_families(names):
    for child in names:
        rest = [name for name in names if name != child]
        for k in range(len(names)):
            yield from ((child, parents) for parents in itertools.combinations(rest, k))


def test_a_time_limit_covers_everything(asia):
    optbn.learn(asia, score="bic", smoother="m_estimate")  # compiled code is not what is measured
    start = working()
    found = optbn.learn(asia, score="bic", smoother="m_estimate", time_limit=20.0, max_parents=5)
    assert working() - start < 20.0
    assert found.report.settings["max parents"] == 5 and found.report.outcome.proved


def test_the_score_takes_settings(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    optbn.write(optbn.load_network("asia").sample(200, 1), "asia.csv")
    code, out, err = run(capsys, "learn", "asia.csv", "--score", "bdeu", "--set", "ess=7", "-D", "1", "--json")
    assert code == 0, err
    found = optbn.learn("asia.csv", score="bdeu", ess=7, max_parents=1)
    said = json.loads(out)
    assert said["settings"]["score"] == "BDeu(ess=7)"
    assert said["outcome"]["score"] == found.report.outcome.score


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    out, err = capsys.readouterr()
    return end.value.code or 0, out, err


def test_the_command_writes_network_page_and_record(csv, tmp_path, capsys):
    files = [str(tmp_path / name) for name in ("a.bif", "a.html", "a.json")]
    common = ("learn", csv, "--score", "bdeu", "--smoother", "bdeu", "--target", "dysp")
    code, out, err = run(capsys, *common, "-o", files[0], "--report", files[1])
    assert (code == 0 and err == "" and "proved optimal" in out) or "Optimal by" in out
    assert "Markov blanket of dysp: " in out and "bronc" in out
    assert optbn.read_network(files[0]).n_variables == 8
    assert Path(files[1]).read_text().startswith("<!doctype html>")
    code, out, _ = run(capsys, *common, "--report", files[2], "--json")
    assert code == 0 and from_json(out).data.rows == 400
    assert json.loads(Path(files[2]).read_text())["format"] == "optbn-report 1"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing.csv"], "nothing.csv"),
        (["CSV", "--target", "dyps"], "did you mean 'dysp'"),
        (["CSV", "-o", "model.xyz"], "xyz"),
        (["CSV", "-o", "no/such/folder.bif"], "there is no folder"),
        (["CSV", "--score", "bdue"], "did you mean 'bdeu'"),
        (["CSV", "--smoother", "hpd"], "did you mean 'hdp'"),
        (["CSV", "--solver", "ipl"], "did you mean"),
        (["CSV", "--store", "s"], "--store needs --max-parents"),
        (["CSV", "--forbid", "a->dysp"], "'a'"),
        (["CSV", "--require", "asia->dysp", "--forbid", "asia->dysp"], "asia"),
    ],
)
def test_mistakes_are_one_line_and_exit_with_2(csv, capsys, arguments, words):
    code, out, err = run(capsys, "learn", *(csv if a == "CSV" else a for a in arguments))
    assert code == 2 and words in err and err.count("\n") == 1 and out == ""


def test_unusual_shapes():
    two = Categorical(("0", "1"))
    one = Dataset(("a",), (two,), (np.array([0, 1, 1], dtype=np.uint8),))
    assert optbn.learn(one, score="bic", smoother="mle").network.n_arcs == 0
    constant = Dataset(("a", "b"), (two, two), (np.zeros(9, dtype=np.uint8), np.zeros(9, dtype=np.uint8)))
    assert optbn.learn(constant, smoother="m_estimate").network.n_arcs == 0


def test_constraints_on_the_whole_network(asia):
    """Limits and independences are asked of the search; a required adjacency keeps the sets that scoring drops."""
    names = asia.names
    free = optbn.learn(asia, score="bdeu", max_parents=2)
    arcs = len(free.report.arcs)
    found = optbn.learn(asia, score="bdeu", max_parents=2, constraints={"max_arcs": arcs - 1})
    assert len(found.report.arcs) == arcs - 1 and found.solution.score < free.solution.score
    for u in names:
        for v in names:
            if u != v and not {(u, v), (v, u)} & {(arc.parent, arc.child) for arc in free.report.arcs}:
                asked = {"required_edges": [(u, v)], "forbidden_edges": []}
                found = optbn.learn(asia, score="bdeu", max_parents=2, constraints=asked)
                assert {(u, v), (v, u)} & {(arc.parent, arc.child) for arc in found.report.arcs}
                assert found.report.outcome.standing == "proved"
                return


def test_a_network_is_written_in_several_formats_at_once(csv, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as done:
        main(["learn", csv, "--score", "bdeu", "-D", "2", "-o", "m.json", "-o", "m.bif", "--posteriors"])
    assert done.value.code == 0
    assert optbn.compare("m.json", "m.bif").shd_dag == 0
    out = capsys.readouterr().out
    assert "m.json  the network" in out and "m.bif  the network" in out
    assert "arcs that it does not have, by their probability" in out


def test_a_column_around_zero():
    """A halving point of its range is 0.0, from where the next number is a denormal one."""
    x = np.linspace(-1.0, 1.0, 400)
    data = optbn.Dataset.from_arrays({"x": x, "y": np.where(x > 0, "above", "below")})
    network = optbn.learn(data, max_parents=1).network
    assert network.parents("y") == ("x",) or network.parents("x") == ("y",)
    assert network.query("y", {"x": 0.4}).as_dict()["above",] > 0.9


@pytest.mark.parametrize("more", [{}, {"candidates": 3}, {"constraints": {"required_edges": [("asia", "xray")]}}])
def test_data_and_score_are_bound_once(asia, more, monkeypatch):
    """Whatever is wanted: the estimate, every size, all families for the posteriors and the local models share it."""
    score = load_score("bdeu")
    bound = []

    class Counting:
        def bind(self, data):
            bound.append(data)
            return score.bind(data)

    found = optbn.learn(asia, score=Counting(), smoother="bdeu", posteriors=True, **more)
    assert found.report.outcome.standing == "proved"
    assert sum(data is asia for data in bound) == 1 and len(bound) <= 2  # and a corner of the data, to compile


def test_children_may_need_more_parents_than_the_first_size(asia):
    required = [("asia", "xray"), ("smoke", "xray")]
    found = optbn.learn(asia, score="bic", smoother="mle", constraints={"required": required})
    assert set(required) <= set(found.network.structure.arcs)


def test_what_was_restricted_is_said_before_what_was_proved():
    data = optbn.load_network("asia").sample(200, 1)
    found = optbn.learn(data, score="bic", max_parents=1, smoother="mle")
    outcome = found.report.outcome
    words = "Best network with at most 1 parent per variable: proved optimal, checked independently"
    assert outcome.proof == words and words in repr(found) and words in found.page()
    assert outcome.restrictions == ("with at most 1 parent per variable",)
    assert found.report.title == "The best network with at most 1 parent per variable for the data"
    found = optbn.learn(data, score="bic", max_parents=2, candidates=3, smoother="mle")
    assert found.report.outcome.proof.startswith(
        "Best network with at most 2 parents per variable, of the 3 likeliest parents of each variable: "
    )
    assert optbn.learn(data.select(["asia", "tub", "xray"]), score="bic").report.outcome.proof.startswith("Proved")


def test_wide_columns_are_learned_by_default(tmp_path):
    rng = np.random.default_rng(1)
    job, month, y = (rng.integers(0, levels, 800) for levels in (12, 30, 2))
    place = (job + y + rng.integers(0, 2, 800)) % 14
    rows = "".join(f"j{a},m{b},{c},p{d}\n" for a, b, c, d in zip(job, month, y, place, strict=True))
    (tmp_path / "d.csv").write_text("job,month,y,place\n" + rows)
    found = optbn.learn(tmp_path / "d.csv", smoother="laplace")
    coarse, left_out = found.report.outcome.restrictions
    assert coarse == "with 3 wide columns coarsened as parents"
    assert left_out.startswith("but for 1 famil")  # of three wide parents
    (note,) = [note for note in found.report.notes if "as parents" in note]
    assert "'job' (12 levels)" in note and "'place' (14 levels)" in note and "7 most frequent" in note
    assert found.network.domain("month").levels[:2] == ("m0", "m1")
    assert ("job", "place") in found.network.structure.arcs or ("place", "job") in found.network.structure.arcs
