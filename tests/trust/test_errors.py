"""What a program around optbn can rely on when something is refused, and text that a locale cannot say."""

from __future__ import annotations

import importlib
import os
import pickle
import pkgutil
import subprocess
import sys

import pytest

import optbn
import optbn_solvers

INTERNAL = {"Stopped", "Mixed", "WrongProof"}  # caught before anybody sees them


def public_errors():
    """All exception classes that the two packages define."""
    found = set()
    for package in (optbn, optbn_solvers):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name.endswith("__main__"):
                continue
            try:
                loaded = importlib.import_module(module.name)
            except ImportError:
                continue  # an extra that is not installed
            errors = [v for v in vars(loaded).values() if isinstance(v, type) and issubclass(v, BaseException)]
            ours = [error for error in errors if error.__module__.split(".")[0] in ("optbn", "optbn_solvers")]
            found.update(e for e in ours if not e.__name__.startswith("_") and e.__name__ not in INTERNAL)
    return sorted(found, key=lambda kind: kind.__name__)


def test_every_error_is_an_optbn_error_and_goes_to_another_process():
    errors = public_errors()
    assert len(errors) > 15
    for kind in errors:
        assert issubclass(kind, optbn.OptbnError), kind
        again = pickle.loads(pickle.dumps(kind("what to do")))
        assert type(again) is kind and str(again) == "what to do"


def test_errors_come_back_from_the_workers_of_a_cluster():
    """Dask has errors copied by tblib, which makes them by `kind.__new__`."""
    support = pytest.importorskip("tblib.pickling_support")
    for kind in public_errors():
        copy, arguments = support.pickle_exception(kind("what to do"))[:2]
        again = copy(*arguments)
        assert type(again) is kind and str(again) == "what to do"


def test_a_wrong_solver_is_an_optbn_error():
    with pytest.raises(optbn.OptbnError, match="no solver 'simplex'"):
        optbn.learn(optbn.load_network("asia").sample(50, 1), solver="simplex")


@pytest.mark.parametrize(("encoding", "shown"), [(None, "解約"), ("ascii", "\\u89e3\\u7d04")])
def test_names_that_the_locale_cannot_say_do_not_end_the_work(tmp_path, encoding, shown):
    path = tmp_path / "d.csv"
    path.write_text("解約,a\n" + "x,1\ny,2\n" * 5, encoding="utf-8")
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONIOENCODING", "LANG") and not k.startswith("LC_")}
    plain = {**kept, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    plain |= {"PYTHONIOENCODING": encoding} if encoding else {}
    done = subprocess.run([sys.executable, "-m", "optbn", "describe", path], env=plain, capture_output=True, check=True)
    assert shown in done.stdout.decode("utf-8")
