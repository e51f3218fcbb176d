"""Readers on what exists in the wild, and on what should not."""

from __future__ import annotations

import gzip
import importlib
import logging

import numpy as np
import pytest

from optbn.base.errors import NetworkError, OptbnError, UnknownNameError
from optbn.data.dataset import Categorical
from optbn.network.cpds import TableCPD, TreeCPD
from optbn.network.formats import FORMATS, decode, encode, read_network, write_network
from optbn.network.leaves import CategoricalLeaves
from optbn.network.network import BayesianNetwork
from optbn.network.tree import Split, Tree
from tests.naive.network import random_network
from tests.network.test_network import mixed_network

TABLE_FORMATS = [name for name in FORMATS if hasattr(importlib.import_module(FORMATS[name][0]), "read")]


def bif(text: str, **how) -> BayesianNetwork:
    return decode(text.encode(), "bif", "f.bif", **how)


def strange_network() -> BayesianNetwork:
    """Names and levels that need every kind of care."""
    names = (
        "Heart rate",
        "<5",
        "Asy/Patch",
        "größe µ",
        'say "hi" \\ there',
        "a|b,c;{d}",
        "node",
        "%50",
        "// no",
        " padded ",
        "x.y-z",
    )
    domains = []
    for i in range(len(names)):
        levels = (
            names[-i - 1],
            f"l{i}",
            "0",
            "1e-3",
            "yes, no",
            "/* not a comment */",
            "tab\there",
            "line\nbreak",
            "\r",
            "",
        )
        domains.append(Categorical(levels, ordered=i % 2 == 0))
    rng = np.random.default_rng(1)
    cpds = []
    for i, domain in enumerate(domains):
        parents = names[max(0, i - 1) : i]
        given = tuple(domains[max(0, i - 1) : i])
        table = rng.dirichlet(np.ones(10), size=tuple(10 for _ in given))
        cpds.append(TableCPD(domain, parents, given, table))
    properties = {
        "": ("author = A. N. Other", "free text; with {braces}", "name = shadow", 'quoted = "x"'),
        "<5": ("position = (73, 165)", "label = Less than 5", "states = none", "a line\nand another"),
        "Heart rate": ("label = Pulse", "\\ backslash", "size = (1, 2.5, -3e-7)", "optbn_name = no"),
    }
    return BayesianNetwork(names, tuple(domains), tuple(cpds), 'the "strange" one', properties)


@pytest.mark.parametrize("format", TABLE_FORMATS)
def test_strange_names_and_properties_survive(format):
    network = strange_network()
    again = decode(encode(network, format), format)
    assert again == network
    assert again.name == network.name
    assert again.properties == network.properties


@pytest.mark.parametrize("format", TABLE_FORMATS)
def test_every_float_survives(format):
    rng = np.random.default_rng(2)
    network = random_network(rng, 8)
    tiny = TableCPD(Categorical(("a", "b", "c")), (), (), [5e-324, 1e-17, 1.0])
    network = BayesianNetwork((*network.names, "t"), (*network.domains, tiny.domain), (*network.cpds, tiny))
    assert decode(encode(network, format), format) == network


def test_json_holds_every_kind_of_cpd():
    network = mixed_network()
    for format in ("json", "graphml"):
        assert decode(encode(network, format), format) == network


def test_files_by_extension_and_gzip(tmp_path):
    network = random_network(np.random.default_rng(3), 5)
    for name in ("n.bif", "n.xml", "n.xmlbif", "n.net", "n.json", "n.graphml", "n.bif.gz", "n.BIF"):
        write_network(network, tmp_path / name)
        assert read_network(tmp_path / name) == network
    assert gzip.decompress((tmp_path / "n.bif.gz").read_bytes()) == (tmp_path / "n.bif").read_bytes()
    write_network(network, tmp_path / "odd.txt", "net")
    assert read_network(tmp_path / "odd.txt", "net") == network
    write_network(network, tmp_path / "n.dot")
    assert '"x0"' in (tmp_path / "n.dot").read_text()
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []
    with pytest.raises(NetworkError, match="cannot tell the format"):
        read_network(tmp_path / "odd.txt")
    with pytest.raises(NetworkError, match="dot can only be written; the formats that can be read are bif, xmlbif"):
        read_network(tmp_path / "n.dot")
    with pytest.raises(UnknownNameError, match=r"no network format 'biff'.*did you mean 'bif'"):
        read_network(tmp_path / "n.bif", "biff")
    with pytest.raises(OptbnError, match="there is no folder"):
        write_network(network, tmp_path / "no" / "n.bif")
    with pytest.raises(NetworkError, match="broken gzip"):
        decode((tmp_path / "n.bif.gz").read_bytes()[:40], "bif")


def test_a_failure_leaves_the_old_file(tmp_path):
    path = tmp_path / "n.bif"
    path.write_text("precious")
    with pytest.raises(NetworkError, match="variable 'T' has the real parent 'X', which BIF cannot say"):
        write_network(mixed_network(), path)
    assert path.read_text() == "precious"


WILD_BIF = """// a comment before anything
network "my net" { property author "A \\"quoted\\" name; really" ; property version = 1 ; }
variable  "Heart rate" {  /* several
  lines */ type discrete[3] { "<5", Asy/Patch, 12+ };
  property position = (73,165) ;
}
variable b-2 { property x; type discrete [ 2 ] { yes no } }
variable größe { type discrete [2] { Has Paper, No Paper }; } // trailing
probability ( "Heart rate" | b-2 größe ) {
  (no, No Paper) .5 .25 0.25;
  default 1e-1, 2.0E-1, .7 ;
  ("yes", Has Paper) 1, 0, 0 ;
  property note = last ;
}
probability(b-2){ table 0.5 0.5; };
probability ( größe | b-2 ) { table 0.2, 0.4, 0.8, 0.6; }
"""


@pytest.mark.parametrize("text", [WILD_BIF, WILD_BIF.replace("\n", "\r\n"), "\ufeff" + WILD_BIF])
def test_bif_in_the_wild(text):
    network = bif(text)
    assert network.name == "my net"
    assert network.names == ("Heart rate", "b-2", "größe")
    assert network.domain("Heart rate").levels == ("<5", "Asy/Patch", "12+")
    assert network.domain("größe").levels == ("Has Paper", "No Paper")
    table = network.cpd("Heart rate").probabilities
    assert table[0, 0].tolist() == [1, 0, 0] and table[1, 1].tolist() == [0.5, 0.25, 0.25]
    assert table[0, 1].tolist() == table[1, 0].tolist() == [0.1, 0.2, 0.7]
    assert network.cpd("größe").probabilities.tolist() == [[0.2, 0.8], [0.4, 0.6]]  # child slowest
    assert network.properties == {
        "": ('author "A \\"quoted\\" name; really"', "version = 1"),
        "Heart rate": ("position = (73, 165)", "note = last"),
        "b-2": ("x",),
    }


def test_a_bif_table_with_the_child_fastest_is_recognised(caplog):
    text = """variable a { type discrete [2] { x, y }; } variable b { type discrete [3] { p, q, r }; }
    probability ( a ) { table 0.5, 0.5; }
    probability ( b | a ) { table 0.1, 0.2, 0.7, 0.3, 0.3, 0.4; }"""
    with caplog.at_level(logging.WARNING):
        network = bif(text)
    assert network.cpd("b").probabilities.tolist() == [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]
    assert "f.bif:3:29: the table of 'b' has the child fastest" in caplog.text


WILD_NET = """net { node_size = (80 40); HR_Font = "Arial"; name = "wild"; }
% a comment in Hugin's way
node Weather { label = "The % weather; today"; position = (10 20); states = ("sun" "<5" "Asy/Patch"); }
discrete node B // another
{ states = (no  "yes" ); label = ""; };
potential ( B | Weather )
{ data = (( 0.5 0.5 )  % first
          ( .25 0.75 ) ( 1 0 )); }
potential ( Weather | ) { data = ( 0.2 0.3 0.5 ); }
"""


@pytest.mark.parametrize(
    "text", [WILD_NET, WILD_NET.replace("\n", "\r\n"), "class wild\n{ inputs = (); " + WILD_NET.split("\n", 1)[1] + "}"]
)
def test_net_in_the_wild(text):
    network = decode(text.encode(), "net", "f.net")
    assert network.name == "wild"
    assert network.names == ("Weather", "B")
    assert network.domain("Weather").levels == ("sun", "<5", "Asy/Patch")
    assert network.cpd("B").probabilities.tolist() == [[0.5, 0.5], [0.25, 0.75], [1, 0]]
    assert network.properties["Weather"] == ("label = The % weather; today", "position = (10, 20)")
    if "class" not in text:
        assert network.properties[""] == ("node_size = (80, 40)", "HR_Font = Arial")
        assert b"position = (10 20);" in encode(network, "net") and b'HR_Font = "Arial";' in encode(network, "net")


def test_identifiers_stand_for_names_in_net():
    text = encode(strange_network(), "net").decode()
    assert 'optbn_name = "Asy/Patch";' in text and 'label = "Asy/Patch";' in text
    assert "potential ( node_2 | node_1 )" in text


WILD_XML = """<?xml version="1.0" encoding="ISO-8859-1"?>
<!-- DTD for the XMLBIF 0.3 format -->
<!DOCTYPE BIF [
  <!ELEMENT BIF ( NETWORK )*>
        <!ATTLIST BIF VERSION CDATA #REQUIRED>
  <!ELEMENT NETWORK ( NAME, ( PROPERTY | VARIABLE | DEFINITION )* )>
]>
<BIF VERSION="0.3" xmlns="http://www.cs.ubc.ca/labs/lci/fopi/ve/XMLBIFv0_3">
<NETWORK><NAME>dog &amp; cat</NAME><PROPERTY>detailed = no</PROPERTY>
<VARIABLE TYPE="nature"><NAME>größe</NAME><OUTCOME> &lt;5 </OUTCOME><OUTCOME>Asy/Patch</OUTCOME>
  <PROPERTY>position = (73,165)</PROPERTY></VARIABLE>
<VARIABLE><NAME>b</NAME><VALUE>t</VALUE><VALUE>f</VALUE></VARIABLE>
<DEFINITION><FOR>b</FOR><GIVEN>größe</GIVEN>
  <TABLE>0.6 <!-- b=t --> 0.4
         1.5e-1, .85</TABLE></DEFINITION>
<DEFINITION><TABLE>0.15 0.85</TABLE><FOR>größe</FOR></DEFINITION>
</NETWORK></BIF>
"""


def test_xmlbif_in_the_wild():
    network = decode(WILD_XML.encode("latin-1"), "xmlbif", "f.xml")
    assert network.name == "dog & cat"
    assert network.names == ("größe", "b") and network.domain("größe").levels == ("<5", "Asy/Patch")
    assert network.cpd("b").probabilities.tolist() == [[0.6, 0.4], [0.15, 0.85]]
    assert network.properties == {"": ("detailed = no",), "größe": ("position = (73, 165)",)}


V = "variable a { type discrete [2] { x, y }; }\nvariable b { type discrete [2] { p, q }; }\n"
A = "probability ( a ) { table 0.5, 0.5; }\n"
B = "probability ( b ) { table 0.5, 0.5; }\n"

MALFORMED = [
    ("bif", "", "f:1:1: expected a network, found no variable"),
    ("bif", "network x {", r"f:1:12: expected 'property' or '}', found the end of the file"),
    ("bif", "hello", r"f:1:1: expected 'network', 'variable' or 'probability', found 'hello'"),
    ("bif", "\n\n   ?", r"f:3:4: expected 'network', 'variable' or 'probability', found '\?'"),
    ("bif", "/* never ends", "f:1:1: expected the end of this comment"),
    ("bif", 'network "x {\n}', "f:1:9: expected the end of this quoted text, found none"),
    ("bif", "variable a { }", "f:1:10: expected 'type discrete .* in variable 'a', found none"),
    ("bif", "variable a { type real; }", "f:1:19: expected 'discrete'"),
    ("bif", "variable a { type discrete [3] { x, y }; }", "f:1:32: expected 3 levels of 'a', found 2"),
    ("bif", "variable a { type discrete [2] { x, x }; }", "f:1:10: expected different levels of 'a', found 'x' twice"),
    ("bif", "variable a { type discrete [0] { }; }", "f:1:10: expected levels of 'a', found none"),
    ("bif", "variable a { type discrete [2] x, y; }", r"f:1:32: expected the levels in \{ \}, found 'x'"),
    (
        "bif",
        V + "variable a { type discrete [2] { x, y }; }",
        r"f:3:10: expected one variable 'a', found a second \(the first is at f:1:10\)",
    ),
    ("bif", V + A, "f:2:10: expected a distribution of 'b' in the file, found none"),
    ("bif", V + A + A, "f:4:13: expected one distribution of 'a', found a second"),
    ("bif", V + "probability ( c ) { table 1; }", "f:3:15: expected a declared variable, found 'c'"),
    ("bif", V + "probability ( a | c ) { table 1; }", "f:3:19: expected a declared variable, found 'c'"),
    (
        "bif",
        V + "probability ( a | a ) { table 1; }",
        "f:3:13: expected different variables, found 'a' and its parents to share one",
    ),
    ("bif", V + "probability ( a b | b ) { }", "f:3:15: expected one variable before '\\|', found 2"),
    ("bif", V + "probability a { table 1; }", r"f:3:13: expected \( CHILD"),
    (
        "bif",
        V + B + "probability ( a ) { table 0.5, 0.4; }",
        "f:4:21: distribution of 'a': probabilities sum to 0.9, not 1",
    ),
    ("bif", V + "probability ( a ) { table 0.5, 0,5; }", "f:3:27: expected 2 probabilities of 'a', found 3"),
    ("bif", V + "probability ( a ) { table 0.5, 0.5x; }", "f:3:32: expected a number, found '0.5x'"),
    ("bif", V + "probability ( a ) { table 0.5, nan; }", "f:3:32: expected a number, found 'nan'"),
    ("bif", V + "probability ( a ) { table 0.5, 0_5; }", "f:3:32: expected a number, found '0_5'"),
    ("bif", V + "probability ( a ) { table 0.5, 1e; }", "f:3:32: expected a number, found '1e'"),
    ("bif", V + B + "probability ( a ) { table 1e999, 1; }", "f:4:21: distribution of 'a': inf is not a probability"),
    ("bif", V + B + "probability ( a ) { table -0.5, 1.5; }", "f:4:21: distribution of 'a': -0.5 is not a probability"),
    ("bif", V + "probability ( a ) { table 0.5, 0.5 }", "f:3:27: expected numbers and ';', found '0.5'"),
    ("bif", V + "probability ( a ) { }", "f:3:21: expected 'table' in the distribution of 'a'"),
    (
        "bif",
        V + "probability ( a ) { tabel 1; }",
        r"f:3:21: expected a row .*, 'table', 'default', 'property' or '}', found 'tabel'",
    ),
    ("bif", V + "probability ( a ) { table 1 0; table 1 0; }", "f:3:32: expected one 'table', found a second"),
    (
        "bif",
        V + "probability ( a | b ) { (p) 1 0; table 1 0 0 1; }",
        "f:3:34: expected either a 'table' or rows, found both",
    ),
    (
        "bif",
        V + A + "probability ( b | a ) { (x) 1, 0; }",
        r"f:4:35: expected a row for \(y\), or a default, in the distribution of 'b'",
    ),
    (
        "bif",
        V + A + "probability ( b | a ) { (x) 1, 0;\n (z) 1, 0; }",
        r"f:5:3: expected a level of 'a' \(x, y\), found 'z'",
    ),
    (
        "bif",
        V + A + "probability ( b | a ) { (x) 1, 0;\n (x) 1, 0; }",
        r"f:5:2: expected one row for \(x\), found a second \(the first is at f:4:25\)",
    ),
    ("bif", V + A + "probability ( b | a ) { (x, y) 1, 0; }", "f:4:25: expected 1 levels, one per parent, found 2"),
    (
        "bif",
        V + A + "probability ( b | a ) { (x) 1; }",
        "f:4:29: expected 2 probabilities, one per level of 'b', found 1",
    ),
    (
        "bif",
        V + A + "probability ( b | a ) { (x) 1, 0; (y) 0.3, 0.3; }",
        r"f:4:35: distribution of 'b' given \(y\): probabilities sum to 0.6",
    ),
    ("bif", V + A + "probability ( b | a ) { (x 1, 0; }", "f:4:25: expected parent levels and '\\)'"),
    (
        "bif",
        V + "probability ( a | b ) { default 1 0; } probability ( b | a ) { default 1 0; }",
        "f: the parents form a cycle",
    ),
    ("bif", V.encode() + b"\xff", r"f:3:1: expected UTF-8 text, found the byte 0xff; convert"),
    ("net", "", "f:1:1: expected a network, found no variable"),
    ("net", "net {", "f:1:6: expected 'key = value;' or '}', found the end"),
    ("net", "nett { }", "f:1:1: expected 'net', 'node' or 'potential', found 'nett'"),
    ("net", "utility U { }", "f:1:1: expected a chance node with states"),
    ("net", "node A { }", "f:1:6: expected 'states = ...;' in node 'A', found none"),
    ("net", "node A { states = x y; }", r'f:1:19: expected \("level"'),
    (
        "net",
        'node A { states = ("x" "y"); states = ("x"); }',
        "f:1:30: expected one list of states of 'A', found a second",
    ),
    ("net", 'node A { states = ("x"); }\nnode A { states = ("x"); }', "f:2:6: expected one node 'A', found a second"),
    ("net", 'node A { states = ("x"); }\npotential ( B ) { }', "f:2:13: expected a declared node, found 'B'"),
    (
        "net",
        'node A { states = ("x"); }\npotential ( A ) { }',
        "f:2:11: expected 'data = ...;' in the potential of 'A', found none",
    ),
    (
        "net",
        'node A { states = ("x"); }\npotential ( A ) { data = ((1); }',
        r"f:2:19: expected as many '\(' as '\)', found 2 and 1",
    ),
    (
        "net",
        'node A { states = ("x"); }\npotential ( A ) { data = (1 2); }',
        "f:2:19: expected 1 probabilities of 'A', found 2",
    ),
    (
        "net",
        'node A { states = ("x"); }\npotential ( A ) { data = (1 oops); }',
        "f:2:29: expected a number, found 'oops'",
    ),
    (
        "net",
        'node A { states = ("x"); }\npotential ( A ) { model_nodes = (); }',
        "f:2:19: expected 'data = ...;' with numbers, found 'model_nodes'",
    ),
    (
        "net",
        'node A { states = ("x"); }\npotential ( A ) { data = (0.4); }',
        "f:2:19: distribution of 'A': probabilities sum to 0.4",
    ),
    ("net", 'class X { node A { states = ("x"); }', "f:1:37: expected '}', found the end of the file"),
    ("xmlbif", "", "f:1:1: expected well-formed XML"),
    ("xmlbif", "<BIF>", "f:1:6: expected well-formed XML"),
    ("xmlbif", "<BIF></BIF>", "f:1:1: expected a network, found no variable"),
    ("xmlbif", "<BIF>\n <NETWORK></NETWROK></BIF>", "f:2:13: expected well-formed XML, found: mismatched tag"),
    ("xmlbif", "<html></html>", "f:1:1: expected <BIF>, found <HTML>"),
    ("xmlbif", "<BIF><NETWORK><NODE/></NETWORK></BIF>", "f:1:15: expected one of VARIABLE, .*, found <NODE>"),
    ("xmlbif", "<BIF><NETWORK>text</NETWORK></BIF>", "f:1:15: expected an element, found 'text'"),
    (
        "xmlbif",
        '<BIF><NETWORK><VARIABLE TYPE="utility"/></NETWORK></BIF>',
        'f:1:15: expected a variable of TYPE="nature"',
    ),
    ("xmlbif", "<BIF><NETWORK>\n<VARIABLE/></NETWORK></BIF>", "f:2:1: expected one NAME in this VARIABLE, found 0"),
    (
        "xmlbif",
        "<BIF><NETWORK><VARIABLE><NAME>a</NAME></VARIABLE></NETWORK></BIF>",
        "f:1:15: expected levels of 'a', found none",
    ),
    (
        "xmlbif",
        "<BIF><NETWORK><VARIABLE><NAME>a</NAME><OUTCOME>x</OUTCOME></VARIABLE>\n"
        "<DEFINITION><FOR>a</FOR><TABLE>1 oops</TABLE></DEFINITION></NETWORK></BIF>",
        "f:2:34: expected a number, found 'oops'",
    ),
    (
        "xmlbif",
        "<BIF><NETWORK><VARIABLE><NAME>a</NAME><OUTCOME>x</OUTCOME></VARIABLE>\n"
        "<DEFINITION><FOR>a</FOR></DEFINITION></NETWORK></BIF>",
        "f:2:1: expected one TABLE for 'a', found 0",
    ),
    (
        "xmlbif",
        '<!DOCTYPE BIF [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><BIF><NETWORK><NAME>&b;</NAME></NETWORK></BIF>',
        "f:1:27: expected no entity declarations",
    ),
    (
        "xmlbif",
        '<!DOCTYPE BIF [<!ENTITY a SYSTEM "file:///etc/passwd">]><BIF>&a;</BIF>',
        "f:1:54: expected no entity decl",
    ),
    (
        "xmlbif",
        '<!DOCTYPE BIF SYSTEM "x.dtd"><BIF><NETWORK><NAME>&b;</NAME></NETWORK></BIF>',
        "f:1:50: expected no entities but",
    ),
    ("xmlbif", '<?xml version="1.0" encoding="klingon"?><BIF/>', "expected"),
    ("json", "", r"f:1:1: expected JSON \(Input data was truncated\)"),
    ("json", '{"format":\n "optbn-network", }', "f:2:19: expected JSON"),
    ("json", "[]", "f: Expected `object`, got `array`"),
    ("json", '{"format": "optbn-network"}', "f: Object missing required field `version`"),
    (
        "json",
        '{"format": "x", "version": 1, "variables": [], "cpds": []}',
        "expected the format 'optbn-network', found 'x'",
    ),
    ("json", '{"format": "optbn-network", "version": 9, "variables": [], "cpds": []}', "written by a newer optbn"),
    (
        "json",
        '{"format": "optbn-network", "version": 1, "variables": [{"nme": "a"}], "cpds": []}',
        r"\$.variables\[0\]",
    ),
    (
        "json",
        '{"format": "optbn-network", "version": 1, "variables": [{"name": "a", "levels": ["x", "y"]}], '
        '"cpds": [{"kind": "table", "parents": [], "rows": [[0.5, 0.4]]}]}',
        "f: variable 'a': the table: probabilities sum to 0.9, not 1",
    ),
    (
        "json",
        '{"format": "optbn-network", "version": 1, "variables": [{"name": "a", "levels": ["x", "x"]}], '
        '"cpds": [{"kind": "table", "parents": [], "rows": [[0.5, 0.5]]}]}',
        "f: .*level 'x' is declared twice",
    ),
    (
        "json",
        '{"format": "optbn-network", "version": 1, "variables": [{"name": "a", "levels": ["x", "y"]}], '
        '"cpds": [{"kind": "tree", "parents": ["a"], "nodes": [{"parent": "a", "left": 1, "right": 2}, '
        '{"leaf": 0}, {"leaf": 1}], '
        '"leaves": {"kind": "categorical", "rows": [[1, 0], [0, 1]]}}]}',
        "f: variable 'a': tree node 0 needs a leaf, or a parent with one of 'below', 'levels' and 'has_number'",
    ),
]


@pytest.mark.parametrize(("format", "text", "message"), MALFORMED)
def test_malformed_files_say_where_and_what(format, text, message):
    content = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(NetworkError, match=message) as caught:
        decode(content, format, "f")
    assert "\n" not in str(caught.value)


def test_rows_off_by_rounding_are_kept_and_others_rescaled_on_request(caplog):
    rounded = (
        "variable a { type discrete [3] { x, y, z }; } probability ( a ) { table 0.3333333, 0.3333333, 0.3333333; }"
    )
    assert bif(rounded).cpd("a").probabilities.tolist() == [0.3333333] * 3
    assert bif(rounded.replace("0.3333333", "0.333333")).cpd("a").probabilities.sum() < 1 - 9e-7
    coarse = rounded.replace("0.3333333", "0.333")
    with pytest.raises(NetworkError, match=r"sum to 0.999, not 1; read it with rescale "):
        bif(coarse)
    with caplog.at_level(logging.WARNING):
        network = bif(coarse, rescale=True)
    assert network.cpd("a").probabilities.tolist() == [0.333 / sum([0.333] * 3)] * 3
    assert "1 rows of 'a' divided by their sums" in caplog.text
    with pytest.raises(NetworkError, match="sums to 0 and cannot be rescaled"):
        bif(coarse.replace("0.333", "0"), rescale=True)


def test_a_tree_becomes_a_table_where_a_format_knows_no_trees(caplog):
    yn, abc = Categorical(("y", "n")), Categorical(("a", "b", "c"))
    a, b = TableCPD(abc, (), (), [0.2, 0.3, 0.5]), TableCPD(yn, (), (), [0.5, 0.5])
    tree = Tree.build([Split(0, (0, 2), 1, 2), 0, Split(1, (0,), 3, 4), 1, 2], (abc, yn))
    t = TreeCPD(yn, ("a", "b"), (abc, yn), tree, CategoricalLeaves([[0.1, 0.9], [0.2, 0.8], [0.9, 0.1]]))
    network = BayesianNetwork(("a", "b", "t"), (abc, yn, yn), (a, b, t))
    for format in ("bif", "xmlbif", "net"):
        with caplog.at_level(logging.WARNING):
            table = decode(encode(network, format), format).cpd("t")
        assert table.probabilities[:, :, 0].tolist() == [[0.1, 0.1], [0.2, 0.9], [0.1, 0.1]]
    assert "variable 't': BIF has no trees, written as a table of 12 entries" in caplog.text
    for format in ("bif", "xmlbif", "net"):
        with pytest.raises(NetworkError, match=r"variable '[TX]' (is real|has the real parent 'X'), which .*\.json"):
            encode(mixed_network(), format)


def test_xml_refuses_what_it_cannot_say():
    domain = Categorical(("a\x00b", "c"))
    network = BayesianNetwork(("x",), (domain,), (TableCPD(domain, (), (), [0.5, 0.5]),))
    with pytest.raises(NetworkError, match="which XML cannot say"):
        encode(network, "xmlbif")
    assert decode(encode(network, "bif"), "bif") == network


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_writes_is_known_by_its_endings_and_names_broken_files(format, tmp_path):
    network = random_network(np.random.default_rng(4), 4)
    for ending in FORMATS[format][1:]:
        write_network(network, tmp_path / f"n{ending}")
        if format in TABLE_FORMATS:
            assert read_network(tmp_path / f"n{ending}") == network
    for content in (b"", b"\x00\xff", encode(network, format)[:-7]):
        with pytest.raises(OptbnError, match=r"^f\.x"):
            decode(content, format, "f.x")
