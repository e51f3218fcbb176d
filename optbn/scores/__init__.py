"""Phase I: local scores. SCORES lists them by name; adding one is a module and a line here."""

SCORES: dict[str, str] = {}
