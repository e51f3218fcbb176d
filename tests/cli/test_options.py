"""The table of options: functions have its keywords, the registries their names, and its rules hold in both doors."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest

import optbn
from optbn.base import options
from optbn.base.errors import UnknownNameError, UnsupportedError
from optbn.base.registry import names_in
from optbn.cli import main
from optbn.cli.texts import constraints
from optbn_solvers.base.errors import ConstraintError

VERBS = ("learn", "score", "solve", "fit", "edges", "bootstrap", "gap", "related", "classify")

FUNCTIONS = {
    "learn": "optbn.learning.learn:learn",
    "score": "optbn.scores.pipeline:score_table",
    "solve": "optbn.learning.solving:solve",
    "fit": "optbn.smoothing.fitting:fit",
    "edges": "optbn.learning.edges:edges",
    "bootstrap": "optbn.learning.bootstrap:bootstrap",
    "gap": "optbn.learning.gap:gap",
    "related": "optbn.learning.differing:learn_differing",
}
"""The function behind a verb. `classify` has a class per model, which takes its settings."""


def function(verb: str):
    module, _, name = FUNCTIONS[verb].partition(":")
    return getattr(importlib.import_module(module), name)


@pytest.mark.parametrize("verb", FUNCTIONS)
def test_the_function_behind_a_verb_has_its_keywords_and_defaults(verb):
    parameters = inspect.signature(function(verb)).parameters
    for name, option in options.of(verb).items():
        if option.python:
            assert parameters[name].default == option.default, name


@pytest.mark.parametrize("verb", FUNCTIONS)
def test_the_docstring_names_every_parameter(verb):
    text = inspect.getdoc(function(verb))
    for name, parameter in inspect.signature(function(verb)).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY:
            assert re.search(rf"\b{name}\b", text), name


def test_rows_are_of_known_verbs_and_each_name_once_per_verb():
    for option in options.OPTIONS:
        assert set(option.verbs.split()) <= set(VERBS), option.name
    for verb in VERBS:
        names = [option.name for option in options.OPTIONS if verb in option.verbs.split()]
        assert len(names) == len(set(names)), verb
    for rule in options.RULES:
        assert {rule.option, rule.other} <= set(options.of(rule.verb)), rule


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_lists_what_the_registries_hold(verb, capsys):
    with pytest.raises(SystemExit):
        main([verb, "--help"])
    text = " ".join(capsys.readouterr().out.replace("│", " ").split())
    for option in options.of(verb).values():
        assert option.spelling in text
        if "{names}" in option.help:
            assert option.described() == option.help.replace("{names}", _listed(names_in(option.names)))


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


@pytest.mark.parametrize("rule", options.RULES, ids=lambda rule: f"{rule.verb}-{rule.option}-{rule.other}")
def test_a_rule_is_kept_on_the_command_line(rule):
    table = options.of(rule.verb)

    def some(name: str) -> object:
        option = table[name]
        return {bool: True, int: 7, float: 7.5, list[str]: ["x"]}.get(option.kind, "x")

    values = {name: option.default for name, option in table.items()}
    values[rule.option] = rule.values[0] if rule.values else some(rule.option)
    if rule.relation == options.EXCLUDES:
        values[rule.other] = some(rule.other)
        for each in options.RULES:  # what that option needs is there
            if (each.verb, each.option, each.relation) == (rule.verb, rule.other, options.NEEDS):
                values[each.other] = values[each.other] or some(each.other)
    with pytest.raises(UnsupportedError) as told:
        options.check_together(rule.verb, values, shell=True)
    assert table[rule.option].spelling in str(told.value)
    values[rule.other] = table[rule.other].default
    others = [other for other in options.RULES if other.verb == rule.verb and other.option == rule.option]
    for other in others:  # and with what the rules ask for, it goes
        values[other.other] = some(other.other) if other.relation == options.NEEDS else table[other.other].default
    options.check_together(rule.verb, values)


def test_a_wrong_keyword_is_named_with_the_nearest_right_one():
    data = optbn.load_network("asia").sample(50, 1)
    with pytest.raises(UnknownNameError, match=r"^learn\(\) has no argument 'time_limits'; did you mean time_limit\?$"):
        optbn.learn(data, time_limits=3)
    with pytest.raises(UnknownNameError, match=r"learn\(\) has no argument 'es'; did you mean ess\?"):
        optbn.learn(data, score="bdeu", es=3)
    with pytest.raises(UnknownNameError, match=r"and score 'bdeu' has no setting 'zzz'; it has: ess"):
        optbn.learn(data, score="bdeu", zzz=3)


def test_a_wrong_keyword_of_solve_is_named_too():
    table = optbn.score_table(optbn.load_network("asia").sample(50, 1), "bdeu", 1)
    with pytest.raises(UnknownNameError, match=r"^solve\(\) has no argument 'time_limits'; did you mean time_limit\?$"):
        optbn.solve(table, "dp", time_limits=3)


@pytest.mark.parametrize(
    ("call", "wrong", "meant"),
    [
        (optbn.fit, "smother", "smoother"),
        (optbn.fit, "sweep", "sweeps"),
        (optbn.edges, "scor", "score"),
        (optbn.bootstrap, "resample", "resamples"),
        (optbn.score_table, "max_parent", "max_parents"),
    ],
)
def test_a_slip_in_a_keyword_is_answered_with_the_nearest(call, wrong, meant):
    data = optbn.load_network("cancer").sample(20, 1)
    arguments = ("cancer", data) if call is optbn.fit else (data,)
    with pytest.raises(
        UnknownNameError, match=rf"^{call.__name__}\(\) has no argument {wrong!r}; did you mean {meant}\?$"
    ):
        call(*arguments, **{wrong: 3})


def test_a_rule_is_kept_in_python_by_the_keywords():
    data = optbn.load_network("asia").sample(50, 1)
    with pytest.raises(UnsupportedError, match=r"^store needs max_parents: "):
        optbn.learn(data, store="kept")
    with pytest.raises(UnsupportedError, match=r"^candidates does not go with store: "):
        optbn.learn(data, store="kept", max_parents=2, candidates=3)


def test_the_page_of_options_is_the_table():
    page = Path(__file__).parents[2] / "docs" / "options.md"
    for verb in VERBS:
        assert f"## optbn {verb}\n\n{options.table(verb)}\n" in page.read_text(), "run python docs/options.py"


def test_arcs_in_words():
    assert constraints({"forbid": [" A -> B "]}) == {"forbidden": [("A", "B")]}
    for text in ("A", "->B", "A->", "A->B->C"):
        with pytest.raises(ConstraintError, match="is not an arc"):
            constraints({"forbid": [text]})
