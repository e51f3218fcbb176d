"""What a user waits for: `optbn learn` from start to page in a process of its own, imports, layouts, the page of link.

CPU seconds of whole processes, the least of the repeats: what a person waits for on an idle machine. The wall seconds
are in the notes, with the load (processes that wanted one of the cores) at the time.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

import optbn
from optbn.network.layout import layered
from optbn.report.page import render
from tests.benchmarks import Figure, cpu_seconds
from tests.report.examples import report_of

FIRST_USE = {"asia": (9.0, 5.0), "mixed": (12.0, 7.0), "alarm": (15.0, None), "insurance": (None, None)}
"""At most and to aim for: the CPU seconds that a first ever `learn` takes more than a later one."""


def measure(*names: str) -> Iterator[Figure]:
    """All figures, or those of the first use of the data named."""
    if names:
        yield from _first_use(names)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for network in ("asia", "child", "alarm"):
            optbn.write(optbn.load_network(network).sample(1000, 1), folder / f"{network}.csv")
        yield _learn(folder, "asia", [], 1.5)
        yield _learn(folder, "child", ["--max-parents", "3"], 5.0)
        yield _learn(folder, "alarm", ["--max-parents", "3", "--score", "pcartp"], 15.0)
    yield from _first_use(tuple(FIRST_USE))
    wall, cpu = _process([sys.executable, "-c", "import optbn"], 5)
    bare = _process([sys.executable, "-c", "pass"], 5)
    yield Figure("`import optbn`, Python itself not counted", cpu - bare[1], 0.15, note=_shared(wall - bare[0]))
    alarm = optbn.load_network("alarm")
    place = {name: i for i, name in enumerate(alarm.names)}
    arcs = [(place[u], place[v]) for u, v in alarm.structure.arcs]
    widths = [22 + 7.2 * len(name) for name in alarm.names]
    layered(widths, arcs)
    yield Figure("layout of 37 nodes (alarm)", cpu_seconds(lambda: layered(widths, arcs), 5), 0.2)
    page = render(report_of(optbn.load_network("link")))
    yield Figure("the page of link (724 nodes)", len(page.encode()) / 1e6, 3.0, unit="MB")
    yield from _browser(page)


def _first_use(names: Sequence[str]) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for data in names:
            if data == "mixed":
                _mixed(folder / "mixed.csv")
            else:
                optbn.write(optbn.load_network(data).sample(1000, 1), folder / f"{data}.csv")
            (wall, first), (_, later) = _first_and_later(folder, data)
            if data == "asia":
                yield Figure("`optbn learn asia.csv`, 1,000 rows, first ever", first, 25.0, note=_shared(wall))
            what = f"`optbn learn {data}.csv`, 1,000 rows: what the first ever takes more than a later one"
            note = f"{first:.1f} and {later:.1f} CPU s, {wall:.2g} s wall at first"
            yield Figure(what, first - later, *FIRST_USE[data], note=note)


def _mixed(path: Path) -> None:
    """Three columns of levels, one of them with gaps, and three of numbers."""
    rng = np.random.default_rng(1)
    with path.open("w") as file:
        file.write("group,size,age,weight,dose,answer\n")
        for _ in range(1000):
            group, age = int(rng.integers(3)), int(rng.integers(18, 90))
            weight, dose = rng.normal(70 + 8 * group + age / 10, 9), rng.gamma(2, 3) * (1 + group)
            answer = ("" if rng.random() < 0.05 else "yes") if rng.random() < dose / 20 else "no"
            size = "sml"[min(2, int(weight / 50))]
            file.write(f"{'abc'[group]},{size},{age},{weight:.2f},{dose:.3f},{answer}\n")


def _command(folder: Path, network: str, more: Sequence[str]) -> list[str]:
    stem = str(folder / network)
    return [
        sys.executable,
        "-m",
        "optbn",
        "learn",
        f"{stem}.csv",
        "-o",
        f"{stem}.json",
        "-r",
        f"{stem}.html",
        *more,
    ]


def _learn(folder: Path, network: str, more: Sequence[str], limit: float) -> Figure:
    command = _command(folder, network, more)
    _process(command, 1)  # compiles what is not yet compiled
    wall, cpu = _process(command, 3)
    what = " ".join([f"`optbn learn {network}.csv", *more]) + "`, 1,000 rows, page included, warm"
    return Figure(what, cpu, limit, note=_shared(wall))


def _first_and_later(folder: Path, network: str) -> tuple[tuple[float, float], tuple[float, float]]:
    """The wall and CPU seconds of a command that has every kernel to compile, and of the same command once more."""
    with tempfile.TemporaryDirectory() as cache:
        fresh = os.environ | {"NUMBA_CACHE_DIR": cache}
        first, later = (_process(_command(folder, network, []), 1, fresh) for _ in range(2))
    return first, later


def _shared(wall: float) -> str:
    return f"{wall:.2g} s wall at a load of {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores"


def _process(command: Sequence[str], repeats: int, environment: Mapping[str, str] | None = None) -> tuple[float, float]:
    """The wall and CPU seconds of the process, of the run with the least wall time."""
    times = []
    for _ in range(repeats):
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
        wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append((wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
    return min(times)


def _browser(page: str) -> Iterator[Figure]:
    """Headless Chromium: from the call for link's page to its being ready for clicks; all chances anew, by evidence."""
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        return
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1400,1000"):
        options.add_argument(argument)
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "page.html"
            path.write_text(page, encoding="utf-8")
            times = []
            for _ in range(3):
                start = time.perf_counter()
                driver.get(path.as_uri())
                assert driver.find_element("css selector", "html").get_attribute("data-ready") == "true"
                times.append(time.perf_counter() - start)
            yield Figure("the page of link, until it takes clicks (Chromium), wall", min(times), 2.0)
            for network, most in (("alarm", 0.05), ("win95pts", 0.5), ("pathfinder", 0.5)):
                model = optbn.load_network(network)
                row, page = model.sample(1, seed=1), render(report_of(model))
                seen = {name: model.domain(name).levels[row.column(name)[0]] for name in model.names[:3]}  # type: ignore[union-attr]
                path.write_text(page, encoding="utf-8")
                driver.get(path.as_uri())
                asked = "return optbn.ask(arguments[0], {}).ms"
                seconds = min(driver.execute_script(asked, seen) for _ in range(10)) / 1000
                what = f"the page of {network} ({model.n_variables} variables)"
                yield Figure(f"{what}: all chances given three findings (Chromium), wall", seconds, most)
                yield Figure(what, len(page.encode()) / 1e6, 3.0, unit="MB")
    finally:
        driver.quit()
