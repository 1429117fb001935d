"""Where the repository is on the web, and what its host can do: the one place that knows.

The address is recorded in `_config.yml`. It stands in the notebooks' first cells, which install the release
from there.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import quote, urlsplit

import yaml

ROOT = Path(__file__).resolve().parents[2]
VARIABLE = "D2LRNN_REPOSITORY"

# Hosts that serve the same repository under another name, as where port 22 is closed.
_SAME = {
    "altssh.bitbucket.org": "bitbucket.org",
    "altssh.gitlab.com": "gitlab.com",
    "ssh.github.com": "github.com",
}
_SCP = re.compile(r"(?:[^@/:]+@)?(?P<host>[^@/:]+):(?P<path>[^/].*)")
_PLACE = re.compile(r"(?:[\w.-]+|\[[\da-f:]+\])(?::\d+)?", re.IGNORECASE)
_PATH = re.compile(r"(?:/[\w.~+-]+)+")


@dataclass(frozen=True)
class Host:
    """What a host of repositories has: its name for the theme, what pip installs, and the name at Binder.

    `package` and `binder` hold `{url}`, `{path}`, `{name}` and `{version}`; `groups` tells whether a
    repository may lie in groups of groups.
    """

    provider: str
    package: str
    binder: str
    groups: bool = False


HOSTS = {
    "github.com": Host(
        "github",
        "{url}/releases/download/v{version}/d2lrnn-{version}-py3-none-any.whl",
        "gh/{path}",
    ),
    "gitlab.com": Host(
        "gitlab", "{url}/-/archive/v{version}/{name}-v{version}.zip", "gl/{escaped}", groups=True
    ),
    "bitbucket.org": Host("bitbucket", "{url}/get/v{version}.zip", "git/{escaped_url}"),
}


@dataclass(frozen=True)
class Repository:
    """A repository's address on the web, without `.git` or a slash at its end."""

    url: str

    @property
    def host(self) -> Host | None:
        """What the repository's host can do, if it is known."""
        return HOSTS.get(urlsplit(self.url).netloc)

    def package(self, version: str) -> str:
        """Return the address from which pip installs a release, or "" on a host that is not known."""
        return self._filled(self.host.package, version) if self.host else ""

    def binder(self) -> str:
        """Return what follows `/v2/` in an address at Binder, or "" on a host that is not known."""
        return self._filled(self.host.binder) if self.host else ""

    def _filled(self, pattern: str, version: str = "") -> str:
        path = urlsplit(self.url).path.strip("/")
        return pattern.format(
            url=self.url,
            path=path,
            name=path.rpartition("/")[2],
            escaped=quote(path, safe=""),
            escaped_url=quote(self.url, safe=""),
            version=version,
        )


def web_address(remote: str) -> str:
    """Return the web address of a repository that git knows as `remote`, or "" if it may have none.

    What is fetched by https has pages there; an address for ssh says so only on hosts that are known.
    """
    scp = None if "://" in remote else _SCP.fullmatch(remote)
    parts = urlsplit(f"ssh://{scp['host']}/{scp['path']}" if scp else remote)
    host = (parts.hostname or "").removeprefix("www.")
    host = _SAME.get(host, host)
    path = parts.path.rstrip("/").removesuffix(".git")
    if not _PATH.fullmatch(path):
        return ""
    if known := HOSTS.get(host):
        depth = path.count("/")
        return f"https://{host}{path}" if depth == 2 or (known.groups and depth > 2) else ""
    place = re.search(r"[^@]+$", parts.netloc)  # without a name and a password
    if parts.scheme not in ("http", "https") or not place or not _PLACE.fullmatch(place[0]):
        return ""
    return f"{parts.scheme}://{place[0].lower()}{path}"


def given(address: str, name: str) -> Repository | None:
    """Return the repository that a person named, or None for an empty address; `name` says where it stands.

    Raises
    ------
    ValueError
        If the address is not one of a repository on the web.
    """
    if not address:
        return None
    if not (url := web_address(address)):
        raise ValueError(f"{name} is {address!r}, which is no address of a repository on the web")
    return Repository(url)


@cache
def recorded() -> Repository | None:
    """Return the repository that `_config.yml` records, which the first cells install from."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    return given(config["repository"]["url"], "repository: url: in _config.yml")


def current() -> Repository | None:
    """Return the repository by the environment, else as recorded, else by git's remote; None without one."""
    named = given(os.environ.get(VARIABLE, ""), VARIABLE)
    return named or recorded() or remote(ROOT)


def remote(checkout: Path) -> Repository | None:
    """Return the repository of a checkout's remote `origin`, if the checkout is one of its own.

    A folder within another repository has a remote too, but not of its own; and one on this machine is of no
    use to others.
    """
    top = _git(checkout, "rev-parse", "--show-toplevel")
    if not top or not Path(top).samefile(checkout):
        return None
    url = web_address(_git(checkout, "remote", "get-url", "origin"))
    here = re.match(r"https?://(localhost|127\.|\[?::1)", url)
    return Repository(url) if url and not here else None


def _git(folder: Path, *arguments: str) -> str:
    """Return what git says in a folder, or "" if it says no, or is missing."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False, env=own
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
