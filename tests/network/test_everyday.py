"""A network in everyday use: asking, predicting, printing, drawing, saving."""

from __future__ import annotations

import xml.dom.minidom as xml

import numpy as np
import pytest

import optbn
from optbn.network.drawing import Picture
from optbn.network.drawing.latex import cpd_latex, escaped, graph_latex
from optbn.network.drawing.local import draw_cpd
from tests.report.examples import hostile_network

ASIA = optbn.load_network("asia")


def test_evidence_by_keyword_and_answers_by_level():
    answer = ASIA.query("lung", xray="yes", smoke="yes")
    assert answer["yes"] == ASIA.query("lung", {"xray": "yes", "smoke": "yes"}).probabilities[0]
    assert answer.to_frame()["probability"].sum() == pytest.approx(1)
    assert "yes" in str(answer) and "probability" in str(answer)
    joint = ASIA.query(("lung", "tub"), {"xray": "yes"}, smoke="yes")
    assert joint["yes", "no"] == joint.probabilities[0, 1]
    assert list(joint.to_frame().columns) == ["lung", "tub", "probability"]
    with pytest.raises(optbn.OptbnError, match="there are"):
        answer["maybe"]


def test_a_cell_without_a_value_is_summed_over():
    frame = ASIA.sample(300, 3).to_frame().astype(object)
    rng = np.random.default_rng(0)
    frame = frame.mask(rng.random(frame.shape) < 0.2)
    frame["smoke"] = frame["smoke"].astype(object)
    shown = ASIA.predict_proba("bronc", frame)
    for row in range(0, 300, 23):
        cells = frame.drop(columns="bronc").iloc[row].dropna().to_dict()
        assert shown[row] == pytest.approx(ASIA.query("bronc", cells).probabilities, abs=1e-12)
    best = ASIA.predict("bronc", frame)
    assert (best == np.array(["yes", "no"])[shown.argmax(axis=1)]).all()


def test_levels_that_the_network_does_not_have_are_refused_or_missing():
    frame = ASIA.sample(5, 3).to_frame().astype(str)
    frame.loc[3, "smoke"] = "sometimes"
    with pytest.raises(optbn.OptbnError, match="row 4: the network has no level 'sometimes'"):
        ASIA.predict_proba("lung", frame)
    cells = frame.drop(columns=["smoke", "lung"]).iloc[3].to_dict()
    shown = ASIA.predict_proba("lung", frame, unseen="missing")[3]
    assert shown == pytest.approx(ASIA.query("lung", cells).probabilities)
    with pytest.raises(optbn.OptbnError, match="way to treat unseen levels"):
        ASIA.predict("lung", frame, unseen="ignore")


def test_a_real_target_is_predicted_by_its_mean():
    network = hostile_network()
    data = network.sample(6, 1)
    name = network.names[1]
    shown = network.predict(name, data)
    for row in range(6):
        cells = {n: network.domain(n).levels[data.column(n)[row]] for n in network.names if n != name}
        assert shown[row] == pytest.approx(network.query(name, cells).mean)


def test_distributions_print_and_become_frames():
    table = ASIA.cpd("dysp")
    frame = table.to_frame()
    assert list(frame.columns) == ["bronc", "either", "yes", "no"] and len(frame) == 4
    assert frame["yes"].tolist() == table.leaves.probabilities[:, 0].tolist()
    assert "0.9" in str(table) and "bronc" in str(table)
    a, b, c, d = hostile_network().cpds
    tree = c.to_frame()
    assert len(tree) == 3 and tree.iloc[0, 1:].tolist() == [0.1, 0.9]
    first = hostile_network().names[0]
    assert tree["where"][1].endswith(f"{first} in {{</td>}}")
    assert b.to_frame()["mean"].tolist() == [1.0, 2.0] and len(d.to_frame()) == 3 and len(a.to_frame()) == 1
    assert ASIA.arcs_frame().values.tolist() == [list(arc) for arc in ASIA.structure.arcs]


def test_save_and_load_by_the_ending(tmp_path):
    for ending in ("json", "bif", "net", "xml", "json.gz"):
        ASIA.save(tmp_path / f"asia.{ending}")
        assert optbn.BayesianNetwork.load(tmp_path / f"asia.{ending}") == ASIA


def test_only_levels_that_can_still_occur_stand_on_a_branch():
    from optbn.data.dataset import Categorical
    from optbn.network.cpds import TreeCPD
    from optbn.network.leaves import CategoricalLeaves
    from optbn.network.tree import Split, Tree

    three, two = Categorical(("a", "b", "c")), Categorical(("n", "y"))
    tree = Tree.build([Split(0, (0,), 1, 2), 0, Split(0, (0, 1), 3, 4), 1, 2], (three,))
    cpd = TreeCPD(two, ("x",), (three,), tree, CategoricalLeaves(np.full((3, 2), 0.5)))
    assert cpd.to_frame()["where"].tolist() == ["x in {a}", "x in {b, c} and x in {b}", "x in {b, c} and x in {c}"]


@pytest.mark.parametrize("network", [ASIA, optbn.load_network("alarm"), hostile_network()])
def test_pictures_are_well_formed_and_name_everything(network):
    pictures = [network.draw(), network.draw(chances=True), network.draw(essential=True)]
    pictures += [draw_cpd(name, network.cpd(name)) for name in network.names]
    for picture in pictures:
        xml.parseString(picture.svg)
    words = [node.firstChild.data for node in xml.parseString(pictures[0].svg).getElementsByTagName("text")]
    assert len(words) == network.n_variables
    assert pictures[0].svg.count("<polygon") == network.n_arcs
    assert pictures[2].svg.count("<polygon") == len(network.to_cpdag().arcs)
    assert network._repr_svg_() == pictures[0].svg


def test_evidence_shows_in_the_picture():
    picture = ASIA.draw({"smoke": "yes", "xray": "yes"})
    assert "64.6%" in picture.svg or f"{100 * ASIA.query('lung', smoke='yes', xray='yes')['yes']:.1f}%" in picture.svg


def test_pictures_are_saved_by_their_ending(tmp_path):
    pytest.importorskip("resvg_py")
    pytest.importorskip("svglib")
    picture = ASIA.draw(chances=True)
    begins = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}
    for ending, magic in begins.items():
        picture.save(tmp_path / f"a.{ending}")
        assert (tmp_path / f"a.{ending}").read_bytes().startswith(magic)
    with pytest.raises(optbn.OptbnError, match="a picture is saved as"):
        picture.save(tmp_path / "a.gif")
    assert isinstance(picture, Picture)


def test_latex_escapes_names_and_balances_its_braces():
    assert escaped("a_b & 50% #1") == r"a\_b \& 50\% \#1"
    network = hostile_network()
    texts = [graph_latex(network.names, network.structure.arcs)]
    texts += [cpd_latex(name, network.cpd(name)) for name in network.names]
    for text in texts:
        plain = text.replace(r"\{", "").replace(r"\}", "")
        assert plain.count("{") == plain.count("}")
        assert text.count(r"\begin") == text.count(r"\end")
    assert texts[0].count("->") == network.n_arcs
