"""The page under axe-core, the auditor of accessibility: `AXE=.../axe.min.js pytest tests/browser` (npm pack axe-core).

It is the auditor that is trusted here, so it is fetched for the occasion and is no part of this project.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import optbn
from tests.report.examples import hostile_network, report_of

AXE = os.environ.get("AXE", "")
pytestmark = pytest.mark.skipif(not AXE, reason="AXE does not name axe-core's axe.min.js")
AUDIT = """
const done = arguments[0];
axe.run(document, { resultTypes: ["violations"] }).then((found) => done(JSON.stringify(found.violations)));
"""
USE = """
const question = document.querySelector("#question"), click = new MouseEvent("click", { bubbles: true });
question.value = "1";
question.dispatchEvent(new Event("change", { bubbles: true }));
document.querySelectorAll(".node")[0].querySelector(".level").dispatchEvent(click);
document.querySelectorAll(".node")[2].dispatchEvent(click);
"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280, 1920])
@pytest.mark.parametrize("name", ["alarm", "hostile"])
def test_the_auditor_finds_nothing(open_page, name, width, dark):
    """At rest, and with a variable opened and evidence given."""
    network = hostile_network() if name == "hostile" else optbn.load_network(name)
    driver = open_page(report_of(network))
    scheme = {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", scheme)
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        driver.execute_script(Path(AXE).read_text(encoding="utf-8"))
        found = json.loads(driver.execute_async_script(AUDIT))
        driver.execute_script(USE)
        found += json.loads(driver.execute_async_script(AUDIT))
        driver.execute_script("document.querySelector('#menu').open = true; document.querySelector('#near').click();")
        found += json.loads(driver.execute_async_script(AUDIT))
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert [(each["id"], each["nodes"][0]["html"][:200], each["nodes"][0]["failureSummary"]) for each in found] == []
