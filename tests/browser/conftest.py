"""A browser for the tests, and pages opened in it."""

from __future__ import annotations

import json
import shutil

import pytest

from optbn.report.page import render


@pytest.fixture(scope="package")
def browser():
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        pytest.skip("chromium and chromedriver are not installed")
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1400,1000"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    yield driver
    driver.quit()


@pytest.fixture
def open_page(browser, tmp_path):
    """Open a report's page; afterwards check that it logged nothing bad and fetched nothing but itself."""

    def load(report):
        path = tmp_path / "page.html"
        path.write_text(render(report), encoding="utf-8")
        browser.get_log("browser")
        browser.get_log("performance")
        browser.get(path.as_uri())
        assert browser.find_element("css selector", "html").get_attribute("data-ready") == "true"
        return browser

    yield load
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = {e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"}
    asked = {url for url in asked if not url.startswith("blob:")}  # made by the page itself, to save a picture
    assert {url.rsplit("/", 1)[-1] for url in asked} <= {"page.html"}
