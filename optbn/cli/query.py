"""`optbn query`: what a network says about some variables, given others."""

from __future__ import annotations

import json
import re
from typing import Annotated

import typer


def query(
    network: Annotated[str, typer.Argument(help="A network file, or the name of a bundled network.")],
    question: Annotated[str, typer.Argument(help='"P(A, B | C=yes, D=no)", or "MPE(C=yes)" for the likeliest rest.')],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Ask a network for a posterior, or for the most probable explanation of evidence. Exact.

    Example: optbn query asia "P(lung | xray=yes, smoke=yes)"
    """
    from optbn.network.catalog import find_network
    from optbn.network.inference import most_probable
    from optbn.network.inference import query as ask

    kind, targets, evidence = parse(question)
    model = find_network(network)
    if kind == "MPE":
        found = most_probable(model, evidence)
        if as_json:
            print(json.dumps({"assignment": dict(found.assignment), "log_joint": found.log_joint}))
            return
        for name, level in found.assignment.items():
            print(f"{name} = {level}{'  (given)' if name in evidence else ''}")
        print(f"log joint probability {found.log_joint:.6f}")
        return
    answer = ask(model, targets, evidence)
    if as_json:
        rows = [
            {**dict(zip(answer.variables, levels, strict=True)), "probability": p}
            for levels, p in answer.as_dict().items()
        ]
        print(json.dumps({"posterior": rows, "log_evidence": answer.log_evidence}))
        return
    _show(answer.variables, answer.as_dict())


def parse(question: str) -> tuple[str, list[str], dict[str, str]]:
    """("P" or "MPE", targets, evidence) of a question; names and levels may be quoted."""
    from optbn.errors import UnsupportedError

    wrong = UnsupportedError(
        f"cannot read the question {question!r}; write P(A, B | C=level) or MPE(C=level), with quotes around names "
        "that hold commas, bars or equals signs"
    )
    whole = re.fullmatch(r"\s*(P|MPE)\s*\((.*)\)\s*", question, re.S)
    if not whole:
        raise wrong
    word = r'\s*(?:"([^"]*)"|([^"|,=]*?))\s*'
    kind, body = whole.groups()
    sides = _split(body, "|") or [""]
    if len(sides) > 2:
        raise wrong
    target_text, given_text = (sides[0], "".join(sides[1:])) if kind == "P" else ("", sides[-1])
    targets = []
    for part in _split(target_text, ","):
        match = re.fullmatch(word, part)
        if not match:
            raise wrong
        targets.append(match[1] if match[1] is not None else match[2])
    evidence = {}
    for part in _split(given_text, ","):
        match = re.fullmatch(f"{word}={word}", part)
        if not match:
            raise wrong
        name, level = (match[i] if match[i] is not None else match[i + 1] for i in (1, 3))
        evidence[name] = level
    if (kind == "P") != bool(targets) or "" in targets:
        raise wrong
    return kind, targets, evidence


def _split(text: str, separator: str) -> list[str]:
    """The parts between separators, those within quotes left alone; nothing gives no part."""
    parts, quoted = [""], False
    for character in text:
        quoted ^= character == '"'
        if character == separator and not quoted:
            parts.append("")
        else:
            parts[-1] += character
    return parts if text.strip() else []


def _show(variables: tuple[str, ...], rows: dict[tuple[str, ...], float]) -> None:
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    for name in variables:
        table.add_column(escape(name))
    table.add_column("probability", justify="right")
    for levels, p in rows.items():
        table.add_row(*map(escape, levels), f"{p:.6g}")
    Console().print(table)
