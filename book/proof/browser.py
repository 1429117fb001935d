"""The Chromium that proofs and tests drive: where it is, and how it is started."""

from __future__ import annotations

import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
# No background traffic of the browser's own; a container's root has no sandbox.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def installed() -> str | None:
    """Return the path of the system's Chromium, or None without one."""
    return next(filter(None, map(shutil.which, NAMES)), None)
