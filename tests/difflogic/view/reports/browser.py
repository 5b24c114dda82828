"""Headless Chromium for the tests, with its own profile, console and list of requests."""

import json
import shutil
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from tests.marks import needs

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--force-device-scale-factor=1",
    "--window-size=1200,1000",
)


PROGRAMS = ("chromium", "chromedriver")
needs_browser = needs(*PROGRAMS)


@contextmanager
def chromium():
    """Start a Browser."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with TemporaryDirectory() as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
        try:
            yield Browser(driver)
        finally:
            driver.quit()


class Browser:
    """A window. `js` runs a script in it, `wait` waits until a script returns true."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, page: Path, **media):
        """Open a page from disk, with media features such as prefers_color_scheme="dark"."""
        media = {"prefers_reduced_motion": "reduce"} | media
        features = [{"name": name.replace("_", "-"), "value": media[name]} for name in media]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        self.requests(), self.messages()  # those of the page before
        self.driver.get(page.as_uri())
        self.wait("return Boolean(window.dct)")
        return self

    def show(self, folder: Path, text, **media):
        """Write a page into a folder, and open it; return its address."""
        path = folder / "page.html"
        path.write_text(text, "utf-8")
        self.open(path, **media)
        return path.as_uri()

    @contextmanager
    def screen(self, width=360, height=740, scale=2, mobile=True):
        """Emulate another screen, by default that of a phone."""
        size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": mobile}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        try:
            yield
        finally:
            self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, script, seconds=60):
        """Return the first true value that a script returns."""
        from selenium.webdriver.support.wait import WebDriverWait

        return WebDriverWait(self.driver, seconds, 0.02).until(lambda _: self.js(script))

    def find(self, css):
        return self.driver.find_element("css selector", css)

    def choose(self, name, value):
        """Choose one of several, by its label."""
        self.find(f"[name={name}][value='{value}']").find_element("xpath", "..").click()

    def set(self, css, value):
        """Set a control, with the events that a user would cause."""
        self.js(
            "const control = document.querySelector(arguments[0]); control.value = arguments[1];"
            "for (const name of ['input', 'change']) control.dispatchEvent(new Event(name));",
            css,
            str(value),
        )

    def text(self, css):
        return self.js("return document.querySelector(arguments[0]).textContent", css)

    def press(self, *keys):
        """Press keys in the focused element."""
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def drag(self, *cells):
        """Press the mouse over a cell (y, x), move over the others, and let go."""
        from selenium.webdriver.common.actions.action_builder import ActionBuilder

        self.js("document.querySelector('#cells').scrollIntoView({block: 'center'})")
        left, top, width, height, columns, rows = self.js(
            "const c = document.querySelector('#cells'), b = c.getBoundingClientRect();"
            "return [b.left, b.top, b.width, b.height, c.width, c.height]"
        )
        actions = ActionBuilder(self.driver, duration=0)
        for number, (y, x) in enumerate(cells):
            actions.pointer_action.move_to_location(
                left + (x + 0.5) * width / columns, top + (y + 0.5) * height / rows
            )
            if number == 0:
                actions.pointer_action.pointer_down()
        actions.pointer_action.pointer_up()
        actions.perform()

    def bits(self):
        """The state (channels, height, width)."""
        channels, height, width, text = self.js(
            "const s = dct.simulation, g = s.geometry;"
            "return [g.channels, g.height, g.width,"
            " s.allChannels.map((c) => s.bits(c).join('')).join('')]"
        )
        return (np.frombuffer(text.encode(), np.uint8) - 48).reshape(channels, height, width)

    def messages(self):
        """The console's messages since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """The addresses requested since the last call, without data and Chromium's own pages."""
        events = (
            json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")
        )
        urls = [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]
        return [url for url in urls if not url.startswith(("chrome", "data:"))]
