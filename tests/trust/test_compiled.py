"""Code that is kept on disk is used only while all sources that it is made of stay as they were."""

from __future__ import annotations

import os
import subprocess
import sys

import numba
import pytest

INNER = "from optbn_solvers.base.compiled import kernel\n\n\n@kernel\ndef inner(x):\n    return {}\n"
OUTER = (
    "from optbn_solvers.base.compiled import kernel\n"
    "from stamped.inner import (\n    inner,\n)\n\n\n@kernel\ndef outer(x):\n    return inner(x) + 1\n"
)


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_a_changed_kernel_within_another_is_compiled_again(tmp_path):
    package = tmp_path / "stamped"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "outer.py").write_text(OUTER)
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def answer(body: str) -> str:
        (package / "inner.py").write_text(INNER.format(body))
        script = "from stamped.outer import outer; print(outer(10), sum(outer.stats.cache_hits.values()))"
        done = subprocess.run(
            [sys.executable, "-c", script], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    assert answer("x") == "11 0"
    assert answer("x * 3") == "31 0"  # numba itself says 11 here: the file of `outer` is the same
    os.utime(package / "inner.py", (1, 1))
    assert answer("x * 3").split()[0] == "31"
