"""`optbn query`: what a network says about some variables, given others."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

import optbn
from optbn.base.errors import UnsupportedError
from optbn.cli.networks import complete_network
from optbn.cli.question import parse
from optbn.cli.terminal import console

if TYPE_CHECKING:
    from optbn.data.dataset import Domain
    from optbn.network.network import BayesianNetwork
    from optbn.network.posterior import Posterior


def query(
    network: Annotated[
        str,
        typer.Argument(
            help="A network file, the name of a bundled network, or - for stdin.", autocompletion=complete_network
        ),
    ],
    question: Annotated[
        str,
        typer.Argument(
            help='"P(A, B | C=yes, X=1.5, Z>20)"; "P(A=no, Z>20 | C=yes)"; "P(* | C=yes)" of each alone; "MPE(C=yes)" '
            "for the likeliest rest."
        ),
    ],
    sample: Annotated[int | None, typer.Option("--sample", help="Draw this many rows instead, as csv.", min=0)] = None,
    seed: Annotated[int, typer.Option("--seed", help="The seed of the rows drawn.", min=0)] = 1,
    interval: Annotated[
        float | None,
        typer.Option("--interval", help="Also give an interval of this probability (such as 0.9) for every answer."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Ask a network for a posterior, for the most probable explanation of evidence, or for rows that fit it. Exact.

    Variables before the bar are answered level by level; values before it (A=no, Z>20) with their probability together.
    Levels and numbers are given as NAME=VALUE, ranges as age>50 or 10<=bmi<20, dates as 2024-01-31. Real variables that
    are not given are summed over, too; together with others the answer has their intervals.
    --interval says how sure the answer is, for a .json of optbn fit or learn (with a smoother that has
    a posterior: hdp, hierarchical, bdeu, laplace, m_estimate).

    Example: optbn query asia "P(lung | xray=yes, smoke=yes)"
    """
    kind, targets, event, evidence = parse(question)
    if sample is not None and (kind == "MPE" or as_json):
        raise UnsupportedError("--sample draws rows of P(...) as csv; it goes without MPE and --json")
    if interval is not None and (kind == "MPE" or sample is not None):
        raise UnsupportedError("--interval is for the probabilities of P(...); it goes without MPE and --sample")
    if event and (sample is not None or interval is not None):
        raise UnsupportedError("--sample and --interval are for variables: name them before the bar, without values")
    model = optbn.load_network(network)
    _warn(model, evidence)
    if event:
        _event(model, event, evidence, as_json)
    elif sample is not None:
        _draw(model, list(model.names) if targets == ["*"] else targets, evidence, sample, seed)
    elif kind == "MPE":
        _explain(model, evidence, as_json)
    elif targets == ["*"]:
        _each(model, evidence, interval, as_json)
    else:
        _answer(model, targets, evidence, interval, as_json)


def _draw(model: BayesianNetwork, targets: list[str], evidence: dict[str, str], rows: int, seed: int) -> None:
    for name in targets:
        model.index(name)  # a wrong name should not wait for the draws
    optbn.write(model.sample(rows, seed, evidence).select(targets), sys.stdout.buffer, "csv")
    sys.stdout.buffer.flush()


def _explain(model: BayesianNetwork, evidence: dict[str, str], as_json: bool) -> None:
    found = model.most_probable(evidence)
    if as_json:
        content = {"assignment": dict(found.assignment), "log_joint": found.log_joint}
        print(json.dumps(content | ({"intervals": dict(found.intervals)} if found.intervals else {})))
        return
    for name, level in found.assignment.items():
        known = "  (given)" if name in evidence else ""
        interval = f"  ({found.intervals[name].replace('x', name)})" if name in found.intervals else ""
        print(f"{name} = {level}{interval}{known}")
    print(f"log joint probability {found.log_joint:.6f}")


def _event(model: BayesianNetwork, event: dict[str, str], evidence: dict[str, str], as_json: bool) -> None:
    found = model.probability(event, evidence)
    print(json.dumps({"probability": found}) if as_json else f"{found:.6g}")


def _answer(
    model: BayesianNetwork, targets: list[str], evidence: dict[str, str], interval: float | None, as_json: bool
) -> None:
    answer = model.query(targets, evidence) if interval is None else model.query(targets, evidence, interval=interval)
    if as_json:
        print(json.dumps(_content(answer) | {"log_evidence": answer.log_evidence}))
    else:
        _print(answer, model.domain(targets[0]))


def _each(model: BayesianNetwork, evidence: dict[str, str], interval: float | None, as_json: bool) -> None:
    answers: Mapping[str, Posterior] = model.posteriors(evidence)
    if interval is not None:
        answers = {name: model.query(name, evidence, interval=interval) for name in answers}
    if as_json:
        print(json.dumps({name: _content(answer) for name, answer in answers.items()}))
        return

    blocks: list[list[tuple[tuple[str, ...], tuple[float | str, ...]]]] = []
    for name, answer in answers.items():
        domain = model.domain(name)
        rows: list[tuple[str, tuple[float | str, ...]]] = [
            (
                what,
                (domain.text(number) if isinstance(domain, optbn.Real) and domain.unit and what != "sd" else number,),
            )
            for what, number in _moments(answer).items()
        ]
        rows += [(level, numbers) for (level, *_), numbers in _rows(answer)]
        blocks.append([((name if i == 0 else "", level), numbers) for i, (level, numbers) in enumerate(rows)])
    _show(("variable", "level"), blocks)


def _content(answer: Posterior) -> dict[str, Any]:
    rows = [
        {**dict(zip(answer.variables, levels, strict=True)), **dict(zip(NUMBERS, numbers, strict=False))}
        for levels, numbers in _rows(answer)
    ]
    return {"posterior": rows, **_moments(answer)}


NUMBERS = ("probability", "low", "high")


def _rows(answer: Posterior) -> list[tuple[tuple[str, ...], tuple[float, ...]]]:
    """Per combination of levels its probability, and the ends of its interval if it has one."""
    from optbn.network.intervals import UncertainPosterior

    columns = [answer.probabilities, *((answer.low, answer.high) if isinstance(answer, UncertainPosterior) else ())]
    numbers = zip(*(column.ravel().tolist() for column in columns), strict=True)
    return list(zip(answer.as_dict(), numbers, strict=True))


SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)


def _moments(answer: Posterior) -> dict[str, float]:
    """Mean, standard deviation and quantiles of a real variable."""
    from optbn.network.posterior import RealPosterior

    if not isinstance(answer, RealPosterior):
        return {}
    return {"mean": answer.mean, "sd": answer.sd} | {f"{share:.0%}": answer.quantile(share) for share in SHARES}


def _warn(model: BayesianNetwork, evidence: dict[str, str]) -> None:
    """A line on each number outside the range of the data that the network was learned from."""
    from optbn.network.ranges import number_of, range_of

    for name, value in evidence.items():
        domain = model.domain(name)
        if not isinstance(domain, optbn.Real):
            continue
        found, number = range_of(value, domain.unit), number_of(value, domain.unit)
        low, high = (found.low, found.high) if found else (number, number)
        if low is not None and high is not None and (low > domain.high or high < domain.low):
            text = found.text(name, domain.unit) if found else f"{name}={value}"
            span = f"{domain.text(domain.low)} to {domain.text(domain.high)}"
            print(f"optbn: {text} is outside its range, {span}: no data say what follows", file=sys.stderr)


def _print(answer: Posterior, domain: Domain) -> None:
    moments = _moments(answer)
    if moments and isinstance(domain, optbn.Real):
        mean, low, quarter, middle, three, high = (domain.text(moments[key]) for key in moments if key != "sd")
        deviation = f"{moments['sd']:.6g} {domain.unit}".rstrip()
        print(f"{answer.variables[0]}: mean {mean}, standard deviation {deviation}")
        print(f"  half of it lies between {quarter} and {three}, nine tenths between {low} and {high}; median {middle}")
    if answer.probabilities.size > 1:
        _show(answer.variables, [_rows(answer)])


def _show(names: tuple[str, ...], blocks: Sequence[Sequence[tuple[tuple[str, ...], tuple[float | str, ...]]]]) -> None:
    """A table of texts and numbers (or their words), with a line between blocks."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    for name in names:
        table.add_column(escape(name), overflow="fold")
    width = max(len(numbers) for block in blocks for _, numbers in block)
    for title in NUMBERS[:width]:
        table.add_column(title, justify="right", no_wrap=True, min_width=11)
    for block in blocks:
        for texts, numbers in block:
            table.add_row(*map(escape, texts), *(n if isinstance(n, str) else f"{n:.6g}" for n in numbers))
        table.add_section()
    console().print(table)
