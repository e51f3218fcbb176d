"""Declared, resumable experiments. TASKS lists what a cell can do by name; a study of your own names its task file.

A task is a module with
    cell(**parameters) -> dict      one measurement; plain JSON values only
    report(rows, folder) -> str     markdown made from finished rows; may write plots into the folder
"""

TASKS: dict[str, str] = {
    "curve": "optbn.experiments.curve",
    "intersection": "optbn.experiments.intersection",
}
