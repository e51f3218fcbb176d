"""Whatever is thrown at a reader, a NetworkError is all that comes back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from optbn.base.errors import NetworkError
from optbn.data.dataset import Categorical
from optbn.network.cpds import TableCPD
from optbn.network.formats import decode, encode
from optbn.network.network import BayesianNetwork
from tests.naive.network import random_network
from tests.network.test_formats import WILD_BIF, WILD_NET, WILD_XML, strange_network
from tests.network.test_network import mixed_network

FORMATS = ("bif", "xmlbif", "net", "json")
SMALL = random_network(np.random.default_rng(5), 4)
SEEDS = {
    "bif": [WILD_BIF.encode(), encode(SMALL, "bif")],
    "net": [WILD_NET.encode(), encode(SMALL, "net")],
    "xmlbif": [WILD_XML.encode("latin-1"), encode(SMALL, "xmlbif")],
    "json": [encode(mixed_network(), "json"), encode(SMALL, "json")],
}
PIECES = {
    "bif": b"""network variable probability property type discrete table default { } ( ) [ ] ; , | " // /* */ a x
        0 0.5 1e 2""",
    "net": b"""net node potential class states = data label position { } ( ) ; | " % // /* a "x" 0 0.5 continuous
        optbn_name""",
    "xmlbif": b"""<BIF> </BIF> <NETWORK> <VARIABLE> <NAME> </NAME> <TABLE> <FOR> <!-- --> <![CDATA[ ]]> &amp; &x;
        0.5 <? ?> \"""",
    "json": b"""{ } [ ] : , "kind" "leaf" "parent" "below" "levels" null true 1e999 -1 0.5 "" "tree" "binned" "cuts"
        99999999999""",
}
settings.register_profile("formats", deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))


def only_network_errors(content: bytes, format: str) -> None:
    try:
        network = decode(content, format, "fuzz")
    except NetworkError as error:
        assert str(error).startswith("fuzz") and "\n" not in str(error)
    else:
        assert decode(encode(network, "json"), "json") == network


@pytest.mark.parametrize("format", FORMATS)
def test_mutated_files(format):
    @settings(settings.get_profile("formats"))
    @given(st.data())
    def run(data):
        content = data.draw(st.sampled_from(SEEDS[format]))
        for _ in range(data.draw(st.integers(1, 3))):
            begin = data.draw(st.integers(0, len(content)))
            end = min(len(content), begin + data.draw(st.integers(0, 20)))
            piece = data.draw(st.one_of(st.binary(max_size=3), st.sampled_from(PIECES[format].split())))
            content = content[:begin] + piece + content[end:]
        only_network_errors(content, format)

    run()


@pytest.mark.parametrize("format", FORMATS)
def test_token_soup(format):
    @settings(settings.get_profile("formats"))
    @given(st.lists(st.sampled_from(PIECES[format].split()), max_size=30), st.binary(max_size=8))
    def run(tokens, tail):
        only_network_errors(b" ".join(tokens) + tail, format)

    run()


NAMES = st.lists(st.text(max_size=6), min_size=1, max_size=4, unique=True)


@pytest.mark.parametrize("format", ["bif", "net", "json", "xmlbif"])
def test_any_names_survive(format):
    @settings(settings.get_profile("formats"))
    @given(NAMES, NAMES, st.text(max_size=6))
    @example(["a", 'node_1"', "\\"], ["//", "/*", " "], "unknown ")
    def run(names, levels, title):
        domain = Categorical(tuple(levels))
        table = np.full(len(levels), 1 / len(levels))
        cpds = [TableCPD(domain, (), (), table)]
        cpds += [TableCPD(domain, (name,), (domain,), [table] * len(levels)) for name in names[:-1]]
        network = BayesianNetwork(tuple(names), (domain,) * len(names), tuple(cpds), title)
        try:
            content = encode(network, format)
        except NetworkError as error:
            assert format == "xmlbif" and "which XML cannot say" in str(error)
            return
        again = decode(content, format)
        assert again == network and again.name == (network.name if title != "unknown" or format != "bif" else "")

    run()


def test_the_strange_network_is_a_seed_too():
    for format in FORMATS:
        only_network_errors(encode(strange_network(), format)[:-20], format)
