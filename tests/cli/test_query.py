"""How questions are read."""

from __future__ import annotations

import pytest

from optbn.cli.query import parse
from optbn.errors import UnsupportedError


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("P(lung)", ("P", ["lung"], {})),
        ("P(lung, tub | xray=yes, smoke = no )", ("P", ["lung", "tub"], {"xray": "yes", "smoke": "no"})),
        ('P("a|b, c" | "x=1"="<5, 6")', ("P", ["a|b, c"], {"x=1": "<5, 6"})),
        ("P(Lung Parench | Age=>65)", ("P", ["Lung Parench"], {"Age": ">65"})),
        ("MPE(xray=yes)", ("MPE", [], {"xray": "yes"})),
        ("MPE()", ("MPE", [], {})),
        ("MPE(| xray=yes)", ("MPE", [], {"xray": "yes"})),
    ],
)
def test_questions(question, expected):
    assert parse(question) == expected


@pytest.mark.parametrize(
    "question", ["", "lung", "P()", "P(lung", "P(a | b)", "P(a, | b=1)", "P(,a)", "Q(a)", "P(a|b==c)", "P(a|b=1|c=2)"]
)
def test_what_is_no_question_is_said_to_be_none(question):
    with pytest.raises(UnsupportedError, match="cannot read the question"):
        parse(question)
