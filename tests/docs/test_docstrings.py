"""What a user imports has a docstring that names every parameter."""

import inspect
import re

import pytest

import optbn


def functions(name):
    """(name, function) of an exported name: itself, or the public methods of the class."""
    exported = getattr(optbn, name)
    if not inspect.isclass(exported):
        return [(name, exported)] if callable(exported) else []
    methods = {key: getattr(each, "__func__", each) for key, each in vars(exported).items() if not key.startswith("_")}
    return [(f"{name}.{key}", each) for key, each in methods.items() if inspect.isfunction(each)]


@pytest.mark.parametrize("name", optbn.__all__)
def test_docstrings_name_every_parameter(name):
    for place, function in functions(name):
        text = inspect.getdoc(function) or ""
        named = [each for each in inspect.signature(function).parameters if each not in ("self", "cls")]
        assert [each for each in named if not re.search(rf"\b{each}\b", text)] == [], place
