"""Runs `optbn benchpress` with the settings of a module's entry; `snakemake` is what Snakemake gives a script."""

import subprocess
import sys

settings = snakemake.wildcards  # noqa: F821
command = [sys.executable, "-m", "optbn", "benchpress", snakemake.input["data"]]  # noqa: F821
command += ["-o", snakemake.output["adjmat"], "--time", snakemake.output["time"]]  # noqa: F821
command += ["--ntests", snakemake.output["ntests"]]  # noqa: F821
command += ["--score", settings["score"], "--max-parents", settings["maxParents"], "--missing", settings["missing"]]
if settings["edgeConstraints"] != "None":
    command += ["--constraints", "resources/constraints/" + settings["edgeConstraints"]]
if settings["cpdag"] == "True":
    command += ["--cpdag"]
if settings["timeout"] != "None":
    command += ["--timeout", settings["timeout"]]
subprocess.run(command, check=True)
