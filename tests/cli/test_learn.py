"""`optbn learn`: the files it writes."""

from __future__ import annotations

import json

import numpy as np
import pytest

import optbn
from optbn.cli import main


def test_what_bif_cannot_say_does_not_meet_the_report(capsys, tmp_path):
    rng = np.random.default_rng(1)
    group = rng.integers(2, size=60)
    rows = [f"{'ab'[g]},{x:.3f}" for g, x in zip(group, rng.normal(3.0 * group), strict=True)]
    (tmp_path / "mix.csv").write_text("\n".join(["A,X", *rows]))
    network, report = tmp_path / "m.bif", tmp_path / "m.json"
    with pytest.raises(SystemExit) as end:
        main(["learn", str(tmp_path / "mix.csv"), "-D", "1", "-o", str(network), "-r", str(report)])
    out, err = capsys.readouterr()
    assert not end.value.code and err == ""
    assert f"{network}.json  the network (" in out and "'X' is real" in out and f"{report}  the record" in out
    assert optbn.read_network(f"{network}.json").names == ("A", "X")
    assert json.loads(report.read_text())["format"] == "optbn-report 1" and not network.exists()


def test_a_report_does_not_overwrite_the_network(capsys, tmp_path):
    optbn.write(optbn.load_network("asia").sample(50, 1), tmp_path / "a.csv")
    with pytest.raises(SystemExit) as end:
        main(["learn", str(tmp_path / "a.csv"), "-o", str(tmp_path / "m.json"), "-r", str(tmp_path / "m.json")])
    assert end.value.code == 2 and "m.json is named twice" in capsys.readouterr().err
    assert not (tmp_path / "m.json").exists()


def test_each_finding_of_reading_is_told_once(capsys, tmp_path, caplog):
    rows = "".join(f"2024-03-{i % 28 + 1:02d},{'ab'[i % 2]},same\n" for i in range(60))
    (tmp_path / "d.csv").write_text("day,A,constant\n" + rows)
    with pytest.raises(SystemExit), caplog.at_level("WARNING", "optbn.data"):
        main(["learn", str(tmp_path / "d.csv"), "-D", "1", "--report", str(tmp_path / "r.html")])
    out, err = capsys.readouterr()
    assert out.count("read as days since 1970") == 1 and out.count("constant column") == 1
    assert not caplog.records and not err
    assert "2024-03-01 to 2024-03-28" in (tmp_path / "r.html").read_text()
