"""Open a notebook in JupyterLab in a browser, run all of it, and move a live widget with the keyboard.

Usage: python launch_lab.py NOTEBOOK   (in the folder of the notebook; run by `launch`, which says where
Chromium is in $CHROMIUM)

The notebook is not trusted when it is opened, so this also looks whether its figures are seen before it runs.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
RUN = 300_000  # milliseconds that all cells may take
TRIES = 6
SETTINGS = {
    # Cells that are out of sight stay in the page, for this script to find.
    "notebook-extension/tracker": {"windowingMode": "none"},
    "apputils-extension/notification": {"checkForUpdates": False, "fetchNews": "false"},
}
FALLBACK = "img.d2lrnn-fallback"


def main(notebook: Path) -> None:
    """Serve the notebook's folder, look at it in a browser, and stop the server."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = [
        "--no-browser",
        "--ip=127.0.0.1",
        f"--port={port}",
        "--IdentityProvider.token=",
        "--allow-root",
    ]
    settings = notebook.parent.parent / "settings"
    for name, values in SETTINGS.items():
        file = settings / "@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values), encoding="utf-8")
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", *options],
        cwd=notebook.parent,
        env={**os.environ, "JUPYTERLAB_SETTINGS_DIR": str(settings)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{address}/api")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=FLAGS)
            page = browser.new_context(viewport={"width": 1300, "height": 1000}).new_page()
            page.goto(f"{address}/lab/tree/{notebook.name}?reset")
            look(page, notebook.stem)
            browser.close()
    finally:
        server.terminate()
        server.wait(timeout=30)


def wait_for(address: str, seconds: float = 60) -> None:
    """Wait until something answers at an address."""
    end = time.monotonic() + seconds
    while True:
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.5)


def run_all(page: Page) -> None:
    """Run all cells, again if JupyterLab dropped them without a word since the kernel was still starting."""
    ready = page.locator(".jp-Notebook-ExecutionIndicator[data-status='idle']").first
    expect(ready).to_be_visible(timeout=60_000)
    prompt = page.locator(".jp-CodeCell .jp-InputPrompt").first
    for _ in range(TRIES):
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        with contextlib.suppress(AssertionError):
            expect(prompt).not_to_have_text("[ ]:", timeout=10_000)
            return
    raise RuntimeError(f"no cell began to run after {TRIES} clicks on Run All Cells")


def look(page: Page, name: str) -> None:
    """See the title and a figure in the untrusted notebook, run all, and see a live figure follow a key."""
    expect(page.locator(".jp-Cell").first.locator("h1")).to_be_visible(timeout=60_000)
    expect(page.locator(".jp-CodeCell").first.locator(".jp-InputPlaceholder")).to_be_visible()
    print(f"{name} in JupyterLab: the title comes first, and the set-up is folded", flush=True)
    expect(page.locator(FALLBACK).first).to_be_visible(timeout=60_000)
    print(f"{name} in JupyterLab: figures are seen before it runs", flush=True)
    run_all(page)
    view = page.locator(".jupyter-widgets .widget-html-content:has(svg)").first
    expect(view).to_be_attached(timeout=RUN)
    view.scroll_into_view_if_needed()
    before = view.inner_html()
    widget = page.locator(".widget-vbox:has(.widget-html-content svg)").first
    widget.locator(".noUi-handle").first.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "([view, before]) => view.innerHTML !== before", arg=[view.element_handle(), before], timeout=30_000
    )
    errors = page.locator(".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.error']")
    expect(errors).to_have_count(0)
    print(f"{name} in JupyterLab: all cells ran, and the figure follows the arrow keys", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
