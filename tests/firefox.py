"""Firefox for tests: the system's own, without a window, driven by Mozilla's protocol Marionette."""

import contextlib
import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import AXE, EXPLORERS, FOLD_DRAWINGS, TOO_CLOSE, WCAG, axe
from marionette_driver.by import By
from marionette_driver.keys import Keys
from marionette_driver.marionette import Marionette

from book.proof.browser import FIREFOX, installed

# Seconds: a Firefox that does not answer is an error, not a run without end.
TO_START, TO_ANSWER, TO_LOAD = 60, 90, 30
# A phone's scroll bars lie over the page.
SETTINGS = {"ui.useOverlayScrollbars": 1, "ui.prefersReducedMotion": 1}
# What Firefox reports of pages, warnings left out. It fetches ahead the page that a page calls its next one,
# which the policy forbids: nothing is lost by that.
REPORTED = """return Services.console.getMessageArray()
  .filter((said) => said instanceof Ci.nsIScriptError && !(said.flags & Ci.nsIScriptError.warningFlag))
  .filter(({ sourceName, errorMessage }) => sourceName.startsWith("http://127.0.0.1")
    && !(/default-src/.test(errorMessage) && errorMessage.includes(arguments[0])))
  .map(({ category, errorMessage }) => `${category}: ${errorMessage}`);"""
RESIZE = "gBrowser.selectedBrowser.style.cssText = `flex: none; width: ${arguments[0]}px`"
RESIZED = """(width) => new Promise((done) => {
  const look = () => (innerWidth === width ? done(null) : requestAnimationFrame(look));
  look();
})"""
KEYS = {
    "range": [Keys.ARROW_RIGHT],
    "select": [Keys.ARROW_DOWN],
    "text": [Keys.END, "e"],
    "button": [Keys.ENTER],
}


class Firefox:
    """A running Firefox and the page in it."""

    def __init__(self, marionette: Marionette) -> None:
        self.marionette = marionette

    def evaluate(self, function: str, *arguments: object) -> Any:
        """Return what a JavaScript function of the page returns, also when it is asynchronous."""
        return self.marionette.execute_script(f"return ({function})(...arguments)", arguments, sandbox=None)

    def visit(self, address: str) -> None:
        """Load a page and wait for its fonts."""
        self._inside("Services.console.reset()")
        self.marionette.navigate(address)
        self.evaluate("() => document.fonts.ready.then(() => null)")

    def errors(self) -> list[str]:
        """Return the errors that Firefox has reported of the page."""
        ahead = self.evaluate("() => document.querySelector('link[rel=next]')?.href ?? 'no next page'")
        found: list[str] = self._inside(REPORTED, ahead)
        return found

    def resize(self, width: int) -> None:
        """Make the page this wide: Firefox's window itself is at least 500 pixels wide."""
        self._inside(RESIZE, width)
        self.evaluate(RESIZED, width)

    def violations(self) -> list[str]:
        """Return the colours that are too close, and where the page breaks other rules of WCAG 2.2 AA."""
        close: list[str] = self.evaluate(TOO_CLOSE)
        self.evaluate(FOLD_DRAWINGS)
        rules = [WCAG, ["color-contrast"]]
        broken: list[str] = self.evaluate(f"(rules) => {{ {axe()}; return ({AXE})(rules); }}", rules)
        return close + broken

    def still_controls(self) -> tuple[list[str], int]:
        """Return the explorers' controls that no key moves, and the number of all controls."""
        still, number = [], 0
        for box in self.marionette.find_elements(By.CSS_SELECTOR, EXPLORERS):
            for control in box.find_elements(By.CSS_SELECTOR, "input, select, button"):
                number += 1
                before = box.get_property("innerHTML")
                control.send_keys(*KEYS[control.get_attribute("type") or "select"])
                if box.get_property("innerHTML") == before:
                    still.append(control.get_property("outerHTML"))
        return still, number

    def _inside(self, script: str, *arguments: object) -> Any:
        """Run a script with the browser's own rights."""
        with self.marionette.using_context("chrome"):
            return self.marionette.execute_script(script, arguments)


@contextlib.contextmanager
def firefox(folder: Path) -> Iterator[Firefox]:
    """Start the system's Firefox, its log and profile in a folder, and end it; without one, skip."""
    found = installed(FIREFOX)
    if not found:
        pytest.skip("no Firefox: install Debian's package firefox-esr")
    marionette = Marionette(
        port=0,  # any that is free
        app="fxdesktop",
        bin=found,
        headless=True,
        prefs=SETTINGS,
        app_args=["-remote-allow-system-access"],  # for `Firefox._inside`
        gecko_log=str(folder / "gecko.log"),
        workspace=str(folder),
        startup_timeout=TO_START,
        socket_timeout=TO_ANSWER,
    )
    try:
        marionette.start_session()
        marionette.timeout.page_load = marionette.timeout.script = TO_LOAD
        yield Firefox(marionette)
    finally:
        runner = marionette.instance.runner
        marionette.cleanup()
        assert not runner.is_running(), "Firefox did not end"
        del marionette, runner
        gc.collect()  # the profile's folder goes with its object: now, not when Python ends
