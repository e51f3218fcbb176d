"""The short form of `python -m tests.faults`: each job is killed twice and must then end as if nothing had been."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from tests.faults.jobs import JOBS


@pytest.mark.parametrize("name", JOBS)
def test_a_killed_job_ends_as_if_nothing_had_been(name, tmp_path):
    job = JOBS[name]
    rng = np.random.default_rng([1, *name.encode()])
    (tmp_path / "a").mkdir()
    job.prepare(tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    expected, seconds = job.run(tmp_path / "a")
    for _ in range(2):
        job.disturb(tmp_path / "b", seconds, rng)
    assert job.run(tmp_path / "b")[0] == expected
