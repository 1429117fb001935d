"""What browser tests share: Chromium, and a server that shows a folder as a strict web host would."""

import contextlib
import gzip
import hashlib
import os
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from book.proof.browser import ARGUMENTS, installed

# What takes long, as print, forced colours and Firefox, is tried on these pages, which between them hold
# every part that a page has; weekly and before a release on all.
ALL_MODES = bool(os.environ.get("D2LRNN_ALL_MODES"))
SAMPLE = [
    "api/text.html",
    "appendix/glossary.html",
    "chapters/rnn-scratch.html",
    "chapters/sequences.html",
    "chapters/vanishing-gradients.html",
]
# As the README gives it.
POLICY = (
    "default-src 'none'; script-src 'self' 'sha256-kMKEJtINkl/hbh4SPQUxscxzGmsA31CWEuraU93QlZM='; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
AXE_SHA256 = "84494fec757e4710dc751c8d7a636e457f4532f08f85c86dc9070133fbff53bc"  # axe-core 4.12.1
SUB_PATH = "/a/course/"
DESK = {"width": 1280, "height": 900}
EXPLORERS = ".d2lrnn-explorer, .d2lrnn-text"
# What a drawing is made of is left out: to assistive technology it is one image with a name.
FOLD_DRAWINGS = """() => document.querySelectorAll("main svg").forEach((svg) =>
  svg.replaceChildren(...svg.querySelectorAll(":scope > title, :scope > desc")))"""
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"]
# What a page in other colours, and else the same, can break. Contrast takes axe longer than all other rules,
# and `too_close` looks for the same; so it is asked once a page, and everywhere only where there is time.
COLOUR_RULES = {
    "type": "rule",
    "values": ["link-in-text-block", *(["color-contrast"] if ALL_MODES else [])],
}
# What is too close today, in drawings, and the row of the site's review by which issue 21 mends it
# (E5: letters still to come; E16: the palette as text), or the issue that draws it anew. A page that gets
# better must leave the list.
KNOWN = {
    ("light", "chapters/bptt-vanilla.html"): ("E16", 3),
    ("light", "chapters/bptt.html"): ("issue 24", 2),
    ("light", "chapters/language-models.html"): ("issue 22", 1),
    ("light", "chapters/rnn-concise.html"): ("E16", 1),
    ("light", "chapters/rnn.html"): ("E5", 1),
    ("dark", "chapters/bptt-vanilla.html"): ("E16", 2),
    ("dark", "chapters/bptt.html"): ("issue 24", 2),
    ("dark", "chapters/language-models.html"): ("issue 22", 1),
    ("dark", "chapters/rnn-concise.html"): ("E16", 1),
    ("dark", "chapters/rnn.html"): ("E5", 1),
}
LOOK = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")
TOO_CLOSE = f"""async () => {{
  await new Promise((go) => requestAnimationFrame(() => setTimeout(go))); // scripts may change the theme
  document.getAnimations().forEach((change) => change.finish());
  const look = {LOOK};
  return [...look.drawings(), ...look.texts()];
}}"""
AXE = """async ([runOnly, left]) => {
  const rules = Object.fromEntries(left.map((rule) => [rule, { enabled: false }]));
  const { violations } = await axe.run(document, { runOnly, rules, resultTypes: ["violations"] });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => [id, ...node.target, node.failureSummary.split("\\n")[1]].join(" ")));
}"""


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """Start the system's Chromium or the one that Playwright installed; with neither, skip."""
    found = installed()
    with sync_playwright() as playwright:
        if not found and not Path(playwright.chromium.executable_path).is_file():
            pytest.skip(
                "no Chromium: install Debian's package chromium, or run `playwright install chromium`"
            )
        browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield browser
        browser.close()


class _Handler(SimpleHTTPRequestHandler):
    """Serves its folder below SUB_PATH, compressed, with the policy, and 404.html for what is not there."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        file = Path(self.translate_path(self.path.removeprefix(SUB_PATH.rstrip("/"))))
        file = file / "index.html" if file.is_dir() else file
        status = 200
        if not self.path.startswith(SUB_PATH) or not file.is_file():
            status, file = 404, Path(self.directory) / "404.html"
        body = file.read_bytes() if file.is_file() else b""
        kind = self.guess_type(str(file))
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8" if kind.startswith("text/") else kind)
        self.send_header("Content-Security-Policy", POLICY)
        if file.suffix not in (".woff", ".woff2", ".png"):
            body = gzip.compress(body, 6)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self.wfile.write(b"" if self.command == "HEAD" else body)

    do_HEAD = do_GET  # noqa: N815  # http.server's name

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine while the block runs, and give its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{SUB_PATH}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def axe() -> str:
    """Return the script of axe-core."""
    script = (files("axe_playwright_python") / "axe.min.js").read_bytes()
    if hashlib.sha256(script).hexdigest() != AXE_SHA256:
        raise RuntimeError("axe.min.js is not the one of axe-playwright-python 0.1.8")
    return script.decode()


def violations(page: Page, rules: object = WCAG) -> list[str]:
    """Return where a page breaks rules of accessibility, as axe-core finds; by default WCAG 2.2 AA."""
    page.evaluate(axe())
    return page.evaluate(AXE, [rules, []])


def too_close(page: Page) -> list[str]:
    """Return the colours of drawings and texts that are too close to what is behind them."""
    return page.evaluate(TOO_CLOSE)


def settled(page: Page) -> None:
    """Wait until a page has loaded, and its fonts."""
    page.wait_for_load_state("networkidle")
    page.evaluate("document.fonts.ready.then(() => null)")
