"""Real and categorical variables in one network, and exact answers from it."""

import numpy as np

import optbn

rng = np.random.default_rng(7)
n = 800
machine = rng.choice(["old", "new"], n)
load = rng.gamma(3.0, 10.0, n)
heat = 40 + 0.3 * load + np.where(machine == "old", 15, 0) + rng.normal(0, 3, n)
fault = np.where(rng.random(n) < np.where(heat > 62, 0.5, 0.03), "yes", "no")
data = optbn.Dataset.from_arrays({"machine": machine, "load": load, "heat": heat, "fault": fault})

network = optbn.learn(data, max_parents=2).network
print(network)
for kind in ("old", "new"):
    chance = network.query("fault", {"machine": kind}).as_dict()[("yes",)]
    heat_of = network.query("heat", {"machine": kind, "fault": "yes"})
    print(f"{kind}: P(fault) = {chance:.3f}; when it fails the heat is {heat_of.mean:.1f} ± {heat_of.sd:.1f}")
print(network.sample(3, seed=1, evidence={"fault": "yes", "machine": "new"}).to_frame())
