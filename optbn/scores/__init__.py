"""Phase I: local scores. SCORES lists them by name; adding one is a module and a line here."""

SCORES: dict[str, str] = {
    "pcart": "optbn.scores.pcart:PCART",
    "pcartp": "optbn.scores.pcart:PCARTP",
}
