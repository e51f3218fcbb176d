"""The options of a verb as typer takes them, made from the table in `optbn.base.options`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Annotated, Any

import typer

from optbn.base.options import Option, check_together, of
from optbn.base.registry import names_in
from optbn_solvers.base.clock import age

LEAST_SECONDS = 0.1


class Values(SimpleNamespace):
    """The values of a verb's options, as attributes."""

    def keywords(self, verb: str) -> dict[str, Any]:
        """Those that are keywords of the function behind the verb."""
        return {name: getattr(self, name) for name, option in of(verb).items() if option.python}

    def in_time(self, verb: str) -> dict[str, Any]:
        """The same, with what is left of a limit of time: it counts from the start of the program."""
        limit: float | None = self.time_limit
        return self.keywords(verb) | {"time_limit": None if limit is None else max(LEAST_SECONDS, limit - age())}


def with_options(verb: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A decorator: the command takes every option of the verb; its parameter `options` gets their Values, checked."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        table = of(verb)

        @functools.wraps(command)
        def taking(*arguments: Any, **values: Any) -> None:
            own = {name: values.pop(name) for name in table}
            check_together(verb, own, shell=True)
            command(*arguments, **values, options=Values(**own))

        signature = inspect.signature(command, eval_str=True)
        others = [parameter for name, parameter in signature.parameters.items() if name != "options"]
        split = next((i for i, each in enumerate(others) if each.kind is each.KEYWORD_ONLY), len(others))
        parameters = [*others[:split], *map(_parameter, table.values()), *others[split:]]
        taking.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        taking.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return taking

    return decorate


def _parameter(option: Option) -> inspect.Parameter:
    kind = option.kind if option.required or option.default is not None else option.kind | None
    default = inspect.Parameter.empty if option.required else option.default
    annotation = Annotated[kind, _typer_option(option)]  # type: ignore[valid-type]
    return inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _typer_option(option: Option) -> Any:
    def complete(start: str) -> list[str]:
        return [name for name in names_in(option.names) if name.startswith(start)]

    spelled = option.flags if option.spelling in option.flags else (option.spelling, *option.flags)
    return typer.Option(
        *spelled,
        help=option.described(),
        min=option.least,
        autocompletion=complete if option.names else None,
        rich_help_panel=option.panel or None,
        show_default=option.shown or True,
    )
