"""The browsers that proofs and tests drive: where they are, and how Chromium is started."""

from __future__ import annotations

import shutil
from collections.abc import Iterable

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "chrome")
FIREFOX = ("firefox-esr", "firefox")
# No background traffic of the browser's own; a container's root has no sandbox.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def installed(names: Iterable[str] = CHROMIUM) -> str | None:
    """Return the path of the first of these programs that the system has, or None without one."""
    return next(filter(None, map(shutil.which, names)), None)
