"""What a row says about an option, and what one says about two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from optbn.base.registry import names_in


@dataclass(frozen=True)
class Option:
    """One option of one verb or several.

    verbs     which verbs have it, separated by spaces
    name      the keyword; on the command line --name with dashes, unless `flags` spells it
    kind      what its text is read as: str, int, float, bool, Path, or list[str] for one that may be repeated
    default   what holds without it; `shown` says so in words where the value does not
    help      {names} in it stands for the names in the registry `names`, which the shell also completes
    flags     further spellings; one that begins with -- replaces the name
    least     the smallest number allowed
    required  whether the verb needs it
    panel     the heading it stands under in the help
    python    whether it is a keyword of the function behind the verb
    label     its name among the settings in a report, if it is one of them
    repeats   whether the line "the same in Python" needs it
    """

    verbs: str
    name: str
    kind: Any
    default: Any
    help: str
    flags: tuple[str, ...] = ()
    least: float | None = None
    required: bool = False
    shown: str = ""
    names: str = ""
    panel: str = ""
    python: bool = False
    label: str = ""
    repeats: bool = False

    @property
    def spelling(self) -> str:
        """Its long flag."""
        own = [flag for flag in self.flags if flag.startswith("--")]
        return own[0] if own else f"--{self.name.replace('_', '-')}"

    def described(self) -> str:
        """The help text with the names filled in."""
        if "{names}" not in self.help:
            return self.help
        *first, last = names_in(self.names)
        return self.help.replace("{names}", f"{', '.join(first)} or {last}")


@dataclass(frozen=True)
class Rule:
    """Two options of a verb: `option` needs `other`, or does not go with it, and why.

    `values` are those of the option that the rule is about; without any, it is about all but the default.
    """

    verb: str
    option: str
    relation: str
    other: str
    why: str
    values: tuple[str, ...] = ()


NEEDS, EXCLUDES = "needs", "does not go with"
