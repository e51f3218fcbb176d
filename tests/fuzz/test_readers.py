"""Every reader under damaged files: what `python -m tests.fuzz` found, and some fresh damage each time."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.mutate import WORDS, Edit
from tests.fuzz.targets import TARGETS

FINDS = sorted(path for path in (Path(__file__).parent / "finds").rglob("*") if path.is_file())
EXAMPLES = {"block": 5, "csv": 15, "stream": 10}


@functools.cache
def seeds(name: str) -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        return TARGETS[name].seeds(Path(folder))


@pytest.mark.parametrize("name", TARGETS)
def test_valid_files_are_accepted(name, tmp_path):
    for content in seeds(name):
        assert TARGETS[name].check(content, tmp_path)


@pytest.mark.parametrize("path", FINDS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_was_found_once(path, tmp_path):
    TARGETS[path.parent.name].check(path.read_bytes(), tmp_path)


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_files_are_read_or_refused(name, tmp_path):
    target = TARGETS[name]
    words = [*WORDS, *target.words.split(b" ")]
    content = st.one_of(
        st.binary(max_size=4),
        st.sampled_from(words),
        st.builds(lambda word, times: word * times, st.sampled_from(words), st.sampled_from([2, 30, 3000])),
        st.builds(
            lambda file, at, size: file[int(at * len(file)) :][:size],
            st.sampled_from(seeds(name)),
            st.floats(0, 1),
            st.integers(1, 200),
        ),
    )
    edits = st.lists(st.builds(Edit, st.floats(0, 1), st.integers(0, 30), content), min_size=1, max_size=4)

    @settings(
        max_examples=EXAMPLES.get(name, 25), deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(st.sampled_from(seeds(name)), edits)
    def run(file, edits):
        for edit in edits:
            file = edit.apply(file)
        target.check(file, tmp_path)

    run()
