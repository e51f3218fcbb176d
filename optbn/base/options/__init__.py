"""What the verbs of the command line accept: one row per option (`rows`), one per rule between options (`rules`).

The command line, the checks of combinations, the settings of a report, the line "the same in Python" and the table in
docs/options.md are made from these rows. Adding an option is a row and its use; an option with `python` is also a
keyword of the function behind the verb, by the same name and with the same default, which a test checks.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from typing import Any

from optbn.base.errors import UnknownNameError, UnsupportedError
from optbn.base.options.row import EXCLUDES as EXCLUDES
from optbn.base.options.row import NEEDS as NEEDS
from optbn.base.options.row import Option as Option
from optbn.base.options.rows import DEFAULT_SCORE as DEFAULT_SCORE
from optbn.base.options.rows import OPTIONS as OPTIONS
from optbn.base.options.rules import RULES as RULES
from optbn.base.registry import names_in, unknown
from optbn.base.settings import check_seed


def of(verb: str) -> dict[str, Option]:
    """The options of a verb by name, in the order of the table."""
    return {option.name: option for option in OPTIONS if verb in option.verbs.split()}


def checked(verb: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the values that are options of the verb, refused where they are wrong or do not go together."""
    chosen = {name: values[name] for name in of(verb) if name in values}
    check_seed(values.get("seed", 0))
    check_numbers(verb, chosen)
    check_together(verb, chosen)
    return chosen


def check_together(verb: str, values: Mapping[str, Any], shell: bool = False) -> None:
    """Refuse values that do not go together; options are named as on the command line, or as keywords."""
    options = of(verb)

    def present(name: str) -> bool:
        value = values.get(name)
        return value is not None and value is not False and value != [] and value != options[name].default

    def named(name: str) -> str:
        return options[name].spelling if shell else name

    for rule in RULES:
        if rule.verb != verb or not present(rule.option):
            continue
        value = values[rule.option]
        if (rule.values and value not in rule.values) or present(rule.other) == (rule.relation == NEEDS):
            continue
        first = f"{named(rule.option)} {value}" if rule.values else named(rule.option)
        raise UnsupportedError(f"{first} {rule.relation} {named(rule.other)}: {rule.why}")


def check_numbers(verb: str, values: Mapping[str, Any]) -> None:
    """Refuse what is no number where an option is one, whole numbers that are too small, and negative ones."""
    for name, value in values.items():
        option = of(verb)[name]
        if value is None or option.kind not in (int, float):
            continue
        least = 0 if option.kind is float or option.least is None else int(option.least)
        number = not isinstance(value, bool) and isinstance(value, Integral if option.kind is int else Real)
        if not (number and float(value) >= least):  # nan is not
            what = "a whole number" if option.kind is int else "a number"
            raise UnsupportedError(f"{name} is {value!r}, expected {what}, at least {least}")


def check_choice(verb: str, name: str, value: str) -> None:
    """Refuse a name that the registry of the option does not have."""
    known = names_in(of(verb)[name].names)
    if value not in known:
        raise unknown(name, value, known)


def check_arguments(call: Callable[..., Any] | None, names: Iterable[str], owner: str, settings: Iterable[str]) -> None:
    """Refuse a keyword that is neither an argument of the function nor a setting of its `owner` (score 'bdeu', say)."""
    known = sorted(settings)
    if call is None:
        for name in sorted(set(names) - set(known)):
            raise UnknownNameError(f"{owner} has no setting {name!r}; it has: {', '.join(known) or 'none'}")
        return
    arguments = [name for name, each in inspect.signature(call).parameters.items() if each.kind is not each.VAR_KEYWORD]
    for name in names:
        if name in known:
            continue
        near = difflib.get_close_matches(name, [*arguments, *known], n=1)
        if near:
            raise UnknownNameError(f"{call.__name__}() has no argument {name!r}; did you mean {near[0]}?")
        raise UnknownNameError(
            f"{call.__name__}() has no argument {name!r}, and {owner} has no setting {name!r}; it has: "
            f"{', '.join(known) or 'none'}"
        )


def reported(verb: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that a report lists: those with a label; of what was not chosen, only the limit of time."""
    return {
        option.label: values[name]
        for name, option in of(verb).items()
        if option.label and (values[name] is not None or name == "time_limit")
    }


def repeated(verb: str, values: Mapping[str, Any]) -> str:
    """The keywords with which a call gives the same result again: those that are not at their defaults."""
    chosen = ((name, values[name]) for name, option in of(verb).items() if option.repeats)
    always = ("score", "max_parents", "solver", "smoother", "seed")
    return ", ".join(f"{name}={value!r}" for name, value in chosen if name in always or value != of(verb)[name].default)


def table(verb: str) -> str:
    """The options of a verb as a table in Markdown."""
    lines = ["| option | in Python | without it | |", "| --- | --- | --- | --- |"]
    for name, option in of(verb).items():
        spelled = ", ".join([option.spelling, *(flag for flag in option.flags if flag != option.spelling)])
        without = option.shown or ("required" if option.required else "" if option.default is None else option.default)
        keyword = f"`{name}`" if option.python else ""
        text = option.described().replace("|", "\\|")
        lines.append(f"| `{spelled}` | {keyword} | {'' if without is False else without} | {text} |")
    rules = [
        f"- `{options[rule.option].spelling}{' ' + ' or '.join(rule.values) if rule.values else ''}` {rule.relation} "
        f"`{options[rule.other].spelling}`: {rule.why}."
        for options in [of(verb)]
        for rule in RULES
        if rule.verb == verb
    ]
    return "\n".join([*lines, *([""] if rules else []), *rules])
