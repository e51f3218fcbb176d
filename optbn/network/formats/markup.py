"""What the readers of XML formats share: the parser, the place of a mistake, and the refusal of entities.

Nothing is ever resolved or fetched, and a file that declares or uses an entity is refused.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import NoReturn
from xml.parsers import expat

from optbn.base.errors import NetworkError

NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that no XML file can hold."""


class MarkupReader(ABC):
    """Reads one file; a format says what its elements mean. `separator` stands between a namespace and a tag."""

    def __init__(self, source: str, separator: str | None = None) -> None:
        self.source = source
        self.parser = parser = expat.ParserCreate(namespace_separator=separator)
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.characters
        parser.EntityDeclHandler = self.entity_declared
        parser.SkippedEntityHandler = self.entity_used
        parser.ExternalEntityRefHandler = self.entity_declared

    @abstractmethod
    def start(self, tag: str, attributes: dict[str, str]) -> None: ...

    @abstractmethod
    def end(self, tag: str) -> None: ...

    @abstractmethod
    def characters(self, piece: str) -> None: ...

    def parse(self, content: bytes) -> None:
        """Go through the whole file."""
        try:
            self.parser.Parse(content, True)
        except expat.ExpatError as error:
            where = f"{self.source}:{error.lineno}:{error.offset + 1}"
            raise NetworkError(f"{where}: expected well-formed XML, found: {expat.ErrorString(error.code)}") from None
        except (LookupError, ValueError) as error:
            if isinstance(error, NetworkError):
                raise
            raise NetworkError(f"{self.source}:1:1: expected an encoding this reader knows ({error})") from None

    def where(self) -> str:
        """The place that the parser has reached."""
        return f"{self.source}:{self.parser.CurrentLineNumber}:{self.parser.CurrentColumnNumber + 1}"

    def fail(self, message: str) -> NoReturn:
        """Refuse what stands there."""
        raise NetworkError(f"{self.where()}: {message}")

    def entity_declared(self, *ignored: object) -> int:
        self.fail("expected no entity declarations (they are not read, for safety)")

    def entity_used(self, name: str, parameter: bool) -> None:
        if not parameter:
            self.fail(f"expected no entities but the five of XML, found &{name};")
