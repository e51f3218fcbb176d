"""Every published network: counts as known, and the same after a journey through all formats."""

from __future__ import annotations

import gzip
import hashlib
import json

import pytest

import optbn
from optbn.base.errors import OptbnError, UnknownNameError
from optbn.network import catalog
from optbn.network.formats import decode, encode, read_network
from tests.paths import shared_data
from tests.release import bundle

NAMES = sorted(catalog.catalog())


@pytest.mark.parametrize("name", NAMES)
def test_the_published_file_has_the_known_counts_and_survives_every_format(name):
    path = shared_data("networks", f"{name}.bif")
    known = {entry["name"]: entry for entry in json.loads(path.with_name("networks.json").read_text())["networks"]}
    network = read_network(path)
    expected = known[name]["known_bnrepository"]
    assert (network.n_variables, network.n_arcs) == (expected["nodes"], expected["arcs"])
    parameters = expected["parameters"]  # two counts are published for some
    assert network.n_parameters in (parameters if isinstance(parameters, list) else [parameters])
    assert network.n_parameters == known[name]["pyagrum"]["nodes_arcs_params"][2] if known[name]["pyagrum_ok"] else True
    travelled = network
    for format in ("bif", "xmlbif", "net", "json", "bif"):
        travelled = decode(encode(travelled, format), format)
    assert travelled == network
    assert optbn.load_network(name) == network


@pytest.mark.parametrize("name", NAMES)
def test_the_bundled_file_is_what_the_catalogue_says(name):
    entry = catalog.catalog()[name]
    content = (catalog.folder() / entry["file"]).read_bytes()
    text = gzip.decompress(content) if entry["file"].endswith(".gz") else content
    assert hashlib.sha256(text).hexdigest() == entry["sha256"]
    assert len(content) < 1_000_000
    network = optbn.load_network(name)
    assert network.name == name
    assert (network.n_variables, network.n_arcs, network.n_parameters) == (
        entry["nodes"],
        entry["arcs"],
        entry["parameters"],
    )
    assert encode(network, "bif") == text


def test_the_bundle_is_complete_and_small():
    assert len(NAMES) == 24
    assert sum(path.stat().st_size for path in catalog.folder().iterdir()) < 8_000_000
    assert "creativecommons.org/licenses/by-sa/3.0" in (catalog.folder() / "LICENSE").read_text()


def test_the_bundle_can_be_made_again(tmp_path):
    source = shared_data("networks")
    wanted = json.loads((source / "networks.json").read_text())
    wanted["networks"] = [e for e in wanted["networks"] if e["name"] in ("asia", "pathfinder")]
    (tmp_path / "source").mkdir()
    (tmp_path / "target").mkdir()
    for entry in wanted["networks"]:
        (tmp_path / "source" / entry["file"]).symlink_to(source / entry["file"])
    (tmp_path / "source" / "networks.json").write_text(json.dumps(wanted))
    bundle.bundle(tmp_path / "source", tmp_path / "target")
    made = json.loads((tmp_path / "target" / "catalog.json").read_text())
    assert made == {name: catalog.catalog()[name] for name in ("asia", "pathfinder")}


def test_an_unknown_name_lists_what_exists():
    with pytest.raises(
        UnknownNameError, match=r"no bundled network 'alram' \(did you mean 'alarm'\?\); there are: alarm, "
    ):
        optbn.load_network("alram")


def test_a_network_is_found_by_name_or_path(tmp_path):
    asia = optbn.load_network("asia")
    path = tmp_path / "mine.bif"
    optbn.write_network(asia, path)
    assert optbn.load_network(path) == optbn.load_network(str(path)) == asia
    assert optbn.compare("asia", path).shd_dag == 0
    with pytest.raises(FileNotFoundError, match=r"no-such\.bif"):
        optbn.load_network(tmp_path / "no-such.bif")
    with pytest.raises(OptbnError, match="the name of a bundled network or a path, got NoneType"):
        optbn.load_network(None)
