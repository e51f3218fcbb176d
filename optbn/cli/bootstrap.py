"""`optbn bootstrap`: how often each arc comes back in the best networks of resamples."""

from __future__ import annotations

import json
from typing import Any

import optbn
from optbn.base.numbers import counted
from optbn.cli.options import Values, with_options
from optbn.cli.progress import bars
from optbn.cli.reading import DataArgument, with_reading
from optbn.cli.texts import score_name, settings
from optbn.scores import load_score


@with_options("bootstrap")
@with_reading
def bootstrap(how: dict[str, Any], data: DataArgument, options: Values) -> None:
    """Learn the best network of many resamples, each proved, and count how often each arc comes back.

    Example: optbn bootstrap data.csv --resamples 200 --store resamples.jsonl
    """
    from optbn.learning.resampling import Resampling

    method = load_score(options.score, **settings(options.setting))
    drawing = Resampling(options.kind, options.block, options.fraction, options.stratify)
    with bars("count") as show:
        found = optbn.bootstrap(
            data,
            **options.in_time("bootstrap") | {"score": method},
            resampling=drawing,
            reading=how | {"missing": options.missing},
            progress=show,
        )
    rows = found.rows()
    consensus = found.consensus()
    if options.as_json:
        parents = {name: list(consensus.parents(name)) for name in consensus.names}
        answer = {
            "resamples": len(found),
            "max_parents": found.max_parents,
            "restrictions": found.restrictions,
            "proved": int(found.proved.sum()),
            "pairs": rows,
            "consensus": parents,
        }
        print(json.dumps(answer))
        return
    wanted = f" of {options.resamples}: no time was left for more" if len(found) < options.resamples else ""
    proved = int(found.proved.sum())
    print(f"{counted(len(found), 'resample')}{wanted}, {proved} of their best networks proved.")
    short = f"; time was too short for {options.max_parents}" if found.max_parents != options.max_parents else ""
    best = "Each is the best" if proved == len(found) else "Each is proved or found to be the best"
    print(f"{best} by {score_name(method)}, {', '.join(found.restrictions) or 'of all networks'}{short}.")
    shown = [row for row in rows if row["adjacent"] >= options.threshold]
    print(f"Pairs that are adjacent in at least {options.threshold:.0%} of them, with 95 % intervals:\n")
    width = max([len(f"{row['from']} -> {row['to']}") for row in shown], default=4)
    print(f"  {'pair'.ljust(width)}  adjacent       interval  directed so  the other way")
    for row in shown:
        pair = f"{row['from']} {'->' if row['forward'] > row['backward'] else '--'} {row['to']}".ljust(width)
        interval = f"{row['low']:.1%} to {row['high']:.1%}"
        print(f"  {pair}  {row['adjacent']:8.1%}  {interval:>16}  {row['forward']:11.1%}  {row['backward']:13.1%}")
    print(
        f"\nThe acyclic graph that agrees best with the resamples has {len(consensus.arcs)} arcs (--json lists them)."
    )
