"""The log: a head, lines in which the gap is bound less incumbent, the last of them closed."""

from __future__ import annotations

import optbn


def test_the_log_ends_where_bound_and_incumbent_meet(capsys):
    data = optbn.load_network("asia").sample(300, 1)
    found = optbn.learn(data, score="bdeu", max_parents=2, smoother="laplace", progress=True)
    shown = capsys.readouterr()
    lines = shown.err.splitlines()
    assert shown.out == "" and lines[0] == "read" and "score" in lines and "fit" in lines
    rows = [line.split() for line in lines[lines.index("solve") + 2 : lines.index("fit")]]
    assert rows and all(len(row) >= 5 for row in rows)
    assert abs(float(rows[-1][1]) - found.report.outcome.score) < 1e-5
    for row in rows:
        if "-" not in row[1:4]:
            assert abs(float(row[2]) - float(row[1]) - float(row[3])) < 1e-3 * max(1.0, float(row[3]))


def test_it_is_silent_unless_asked(capsys):
    optbn.learn(optbn.load_network("cancer").sample(50, 1), score="bdeu", max_parents=1, smoother="laplace")
    assert capsys.readouterr().err == ""
