"""Reading files: what comes in is what is in the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import optbn


def test_csv_codes_levels_and_numbers(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("sex,age,grade\nm,1.5,2\nf,2.25,1\nm,0.5,10\n")
    data = optbn.read(path)
    assert data.names == ("sex", "age", "grade")
    assert data.domain("sex").levels == ("f", "m")
    assert data.domain("grade").levels == ("1", "2", "10")
    assert (data.domain("age").low, data.domain("age").high) == (0.5, 2.25)
    np.testing.assert_array_equal(data.column("sex"), [1, 0, 1])
    np.testing.assert_array_equal(data.column("age"), [1.5, 2.25, 0.5])
    np.testing.assert_array_equal(data.column("grade"), [1, 0, 2])
