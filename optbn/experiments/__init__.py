"""Declared, resumable experiments. TASKS lists what a cell can do by name; adding one is a module and a line here.

A task is a module with
    cell(**parameters) -> dict      one measurement; plain JSON values only
    report(rows, folder) -> str     markdown made from finished rows; may write plots into the folder
"""

TASKS: dict[str, str] = {
    "recovery": "optbn.experiments.recovery",
    "intersection": "optbn.experiments.intersection",
    "times": "optbn.experiments.times",
    "hyper": "optbn.experiments.hyper",
    "classifiers": "optbn.classifiers.study",
    "discriminative": "optbn.classifiers.discriminative.study",
    "trees": "optbn.classifiers.trees.study",
}
