"""Groups of options that several verbs share: the command takes one argument, made of their values."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any


@dataclass(frozen=True)
class Group:
    """A decorator. The options, by the names that `gather` takes them by, stand in a panel of their own in the help;
    the command's parameter `into` gets what `gather` makes of them. An option that is left out is None."""

    into: str
    panel: str
    options: Mapping[str, Any]
    gather: Callable[..., Any]

    def __call__(self, command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def taking(*arguments: Any, **values: Any) -> None:
            own = {name: values.pop(name) for name in self.options}
            command(*arguments, **values, **{self.into: self.gather(**own)})

        signature = inspect.signature(command, eval_str=True)
        kept = [parameter for name, parameter in signature.parameters.items() if name != self.into]
        parameters = [*kept, *(self._parameter(name) for name in self.options)]
        taking.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        taking.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return taking

    def _parameter(self, name: str) -> inspect.Parameter:
        kind, option = self.options[name].__origin__, copy.copy(self.options[name].__metadata__[0])
        option.rich_help_panel = self.panel
        annotation = Annotated[kind, option]  # type: ignore[valid-type]
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
