"""The site of this checkout, built once for all test files, and Chromium to look at it with."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from browsing import ALL_MODES, DESK, SAMPLE, chromium, served
from filelock import FileLock
from small_course import ROOT


@pytest.fixture(scope="session")
def site(tmp_path_factory, worker_id):
    """Build the site as `make site` does, without a repository's address; workers share it."""
    shared = tmp_path_factory.getbasetemp()
    target = (shared if worker_id == "master" else shared.parent) / "site"
    html = target / "_build" / "html"
    environment = {key: value for key, value in os.environ.items() if not key.startswith("D2LRNN")}
    program = Path(sys.executable).with_name("jupyter-book")
    command = [program, "build", ROOT, "--path-output", target, "-W", "-n", "--keep-going"]
    with FileLock(f"{target}.lock"):
        if not (target / "built").exists():
            done = subprocess.run(
                command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr
            (target / "built").touch()
    return html


@pytest.fixture(scope="session")
def pages(site):
    return sorted(p.relative_to(site).as_posix() for p in site.rglob("*.html") if "_static" not in p.parts)


@pytest.fixture(scope="session")
def sample(pages):
    return pages if ALL_MODES else SAMPLE


@pytest.fixture(scope="session")
def address(site):
    with served(site) as where:
        yield where


@pytest.fixture(scope="module")  # Playwright takes one at a time
def browser():
    with chromium() as started:
        yield started


@pytest.fixture
def page(browser):
    opened = browser.new_page(viewport=DESK)
    opened.set_default_timeout(8000)
    yield opened
    opened.close()
