"""How probable it is that something holds: P(age > 60 and plan = plus | evidence).

P(event | evidence) = P(event and evidence) / P(evidence), each by one elimination. Where event and evidence have a
range of the same variable, the numerator has the part that both share.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from optbn.base.errors import UnsupportedError
from optbn.data.dataset import Real
from optbn.network.inference import impossible, log_probability
from optbn.network.moments import support_of
from optbn.network.ranges import Range
from optbn.network.states import Evidence, States, Value

if TYPE_CHECKING:
    from optbn.network.network import BayesianNetwork


def probability(network: BayesianNetwork, event: Evidence, evidence: Evidence) -> float:
    """P(event | evidence), exact."""
    if not event:
        raise UnsupportedError("the event is empty; name a variable and a value")
    wanted, known = States.under(network, event), States.under(network, evidence)
    both: dict[str, Value] = dict(evidence)
    for name, value in event.items():
        found = wanted.within.get(name)
        if found is None and isinstance(network.domain(name), Real) and not math.isnan(wanted.given[name]):
            found = _around(network, name, wanted.given[name])
        if name in known.within and found is not None:
            both[name] = found.meets(known.within[name])
        elif name in known.known:
            raise UnsupportedError(f"{name!r} is both in the question and in the evidence")
        else:
            both[name] = value if found is None else found
    below = log_probability(known)
    if below == -math.inf:
        raise impossible(known)
    return min(1.0, math.exp(log_probability(States.under(network, both)) - below))


def _around(network: BayesianNetwork, name: str, number: float) -> Range:
    """The range of a single number, which has a probability only where the variable takes whole numbers."""
    if not support_of(network.cpd(name).leaves).whole:
        raise UnsupportedError(
            f"{name!r} is real: a single number has probability 0; ask for a range, such as {name}>{number:g}"
        )
    return Range(number, number, upto=True)
