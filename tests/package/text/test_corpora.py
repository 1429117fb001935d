"""Named texts: what ships, what is fetched, and what is said when neither works."""

from __future__ import annotations

import copy
import hashlib
import importlib.resources
import logging
import os
import pickle
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pooch  # type: ignore[import-untyped]
import pytest

import d2lrnn
from d2lrnn import _support
from d2lrnn.files import read_text
from d2lrnn.text import corpora
from d2lrnn.text.corpora import CORPORA, DEFAULT, load_text
from d2lrnn.text.tokens import clean_lines, tokenize

ROOT = Path(d2lrnn.__file__).parents[1]
SHIPPED = [name for name in CORPORA if name != "time_machine"]
GOOD = b"The Time Traveller (for so it will be convenient to speak of him)\n" * 40


def run_python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, encoding="utf-8", check=False
    )


# The shipped texts


@pytest.mark.parametrize("name", SHIPPED)
def test_sha256_in_the_table_is_that_of_the_shipped_file(name: str) -> None:
    data = (importlib.resources.files("d2lrnn") / "data" / f"{name}.txt").read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    assert digest == CORPORA[name].sha256, "edited? `python -m d2lrnn.text.corpora` prints the new figures"


@pytest.mark.parametrize("name", SHIPPED)
def test_characters_in_the_table_are_those_of_the_text(name: str) -> None:
    assert len(load_text(name)) == CORPORA[name].characters


@pytest.mark.parametrize("name", [name for name in SHIPPED if CORPORA[name].words is not None])
def test_words_in_the_table_are_those_left_by_cleaning(name: str) -> None:
    assert sum(map(len, tokenize(clean_lines(load_text(name))))) == CORPORA[name].words


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_text_has_unix_line_ends_only(name: str) -> None:
    data = (importlib.resources.files("d2lrnn") / "data" / f"{name}.txt").read_bytes()
    assert b"\r" not in data


@pytest.mark.parametrize("name", SHIPPED)
def test_command_prints_the_figures_of_the_table(name: str) -> None:
    known = CORPORA[name]
    figures = f'characters={known.characters}, words={known.words}, sha256="{known.sha256}"'
    assert f"{name}: {figures}" in run_python("-m", "d2lrnn.text.corpora").stdout.splitlines()


def test_default_text_is_the_english_story() -> None:
    assert load_text() == load_text("tide_clock")


def test_default_is_a_name_in_the_table() -> None:
    assert DEFAULT in CORPORA


def test_every_corpus_is_listed_under_its_own_name() -> None:
    assert all(name == corpus.name for name, corpus in CORPORA.items())


def test_table_of_corpora_is_read_only() -> None:
    with pytest.raises(TypeError):
        CORPORA["mine"] = CORPORA[DEFAULT]  # type: ignore[index]


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda table: pickle.loads(pickle.dumps(table))])
def test_table_of_corpora_can_be_copied_and_pickled(again: Callable[[object], object]) -> None:
    assert again(CORPORA) is CORPORA


def test_table_of_corpora_is_a_mapping() -> None:
    assert dict(CORPORA) == {name: CORPORA[name] for name in ("tide_clock", "stone_bridge", "time_machine")}


def test_table_of_corpora_shows_its_texts() -> None:
    assert repr(CORPORA).startswith("{'tide_clock': Corpus(name='tide_clock', title='The Tide Clock'")


def test_unknown_name_lists_the_known_names() -> None:
    with pytest.raises(ValueError, match="'tide_clock', 'stone_bridge', 'time_machine'; got 'timemachine'"):
        load_text("timemachine")


def test_path_given_as_a_name_is_sent_to_read_text(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(ValueError, match="read_text"):
        load_text(str(path))


def test_name_that_is_not_a_str_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="name must be a str, got 3"):
        load_text(3)  # type: ignore[arg-type]


# A reader's own file


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"caf\xc3\xa9 \xe2\x80\x9cyes\xe2\x80\x9d", "café “yes”"),
        (b"\xef\xbb\xbffirst", "first"),
        (b"a\r\nb\rc\nd\r\n", "a\nb\nc\nd\n"),
        (b"a\r\r\nb", "a\n\nb"),
        (b"", ""),
    ],
    ids=["utf-8", "byte-order mark", "line ends", "CR before CRLF", "empty"],
)
def test_read_text_decodes_and_normalises_newlines(tmp_path: Path, data: bytes, text: str) -> None:
    path = tmp_path / "mine.txt"
    path.write_bytes(data)
    assert read_text(path) == text


def test_read_text_takes_a_path_as_a_str(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_bytes(b"mine")
    assert read_text(str(path)) == "mine"


def test_byte_order_mark_inside_the_text_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_bytes("a\ufeffb".encode())
    assert read_text(path) == "a\ufeffb"


@pytest.mark.parametrize(
    ("start", "position"), [(b"", 3), (b"\xef\xbb\xbf", 6)], ids=["plain", "after a BOM"]
)
def test_file_that_is_not_utf8_gives_the_byte_position(tmp_path: Path, start: bytes, position: int) -> None:
    path = tmp_path / "latin1.txt"
    path.write_bytes(start + b"caf\xe9 au lait")
    with pytest.raises(ValueError, match=f"0xe9 at byte {position}"):
        read_text(path)


def test_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "latin1.txt"
    path.write_bytes(b"caf\xe9 au lait")
    with pytest.raises(ValueError, match=r"latin1\.txt is not UTF-8"):
        read_text(path)


@pytest.mark.parametrize("kind", [str, Path])
def test_missing_file_is_file_not_found(tmp_path: Path, kind: type[str]) -> None:
    with pytest.raises(FileNotFoundError, match=r"path must be .*: No such file.*missing\.txt"):
        read_text(kind(tmp_path / "missing.txt"))


def test_file_in_a_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_bytes(b"mine")
    with pytest.raises(OSError, match=r"path=.*mine\.txt.*more.* must be in a folder that is there"):
        read_text(tmp_path / "mine.txt" / "more")


def test_folder_where_a_file_should_be_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(
        IsADirectoryError, match=f"path must be the path of a file, .*{tmp_path.name}.* is a folder"
    ):
        read_text(tmp_path)


def test_file_without_permission_is_an_error_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(PermissionError, match=r"path must be .*: Permission denied.*mine\.txt"):
        read_text(tmp_path / "mine.txt")


@pytest.mark.parametrize(
    "bad", ["", "https://example.org/mine.txt", "file:///mine.txt", "s3://bucket/mine", "a\0b"]
)
def test_str_that_is_no_path_is_a_value_error(bad: str) -> None:
    with pytest.raises(ValueError, match="path must be the path of a file, got ") as error:
        read_text(bad)
    assert str(error.value).endswith(_support.short(bad))


def test_a_path_in_ones_home_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "mine.txt").write_bytes(b"mine")
    assert read_text("~/mine.txt") == "mine"


class BytesPath:
    """A path, as the standard library has it, that is bytes."""

    def __fspath__(self) -> bytes:
        return b"mine.txt"


@pytest.mark.parametrize("bad", [None, 3, b"mine.txt", ["mine.txt"], BytesPath()])
def test_path_of_another_type_is_a_type_error(bad: str) -> None:
    with pytest.raises(
        TypeError, match=r"path must be the path of a file, got .*(NoneType|int|bytes|list|BytesPath)"
    ):
        read_text(bad)


def test_reading_and_cleaning_never_use_the_platforms_encoding(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_bytes("\ufeffThe “café”\r\nisn’t open\r\n".encode())
    script = (
        "import sys\n"
        "from d2lrnn import Vocab, clean_lines, load_text, read_text, tokenize\n"
        "load_text()\n"
        "text = read_text(sys.argv[1])\n"
        "raw = Vocab(list(text))\n"
        "words = Vocab(tokenize(clean_lines(text)))\n"
        "print('\\ufeff' in raw, '\\r' in raw, list(words))\n"
    )
    flags = ["-X", "warn_default_encoding", "-W", "error::EncodingWarning"]
    done = run_python(*flags, "-c", script, str(path))
    expected = "False False ['<unk>', 'the', 'cafe', 'isn', 't', 'open']"
    assert (done.stdout.strip(), done.stderr) == (expected, "")


@pytest.mark.parametrize("module", ["d2lrnn", "d2lrnn.text.corpora", "d2lrnn.text.tokens"])
@pytest.mark.parametrize("heavy", ["torch", "numpy", "pooch", "matplotlib"])
def test_import_stays_light(module: str, heavy: str) -> None:
    done = run_python("-c", f"import sys, {module}; print({heavy!r} in sys.modules)")
    assert (done.stdout.strip(), done.stderr) == ("False", "")


# The Time Machine: the reader's folder, the cache, the mirrors


class Mirrors:
    """A server on this machine, an empty cache, and GOOD, which counts as The Time Machine."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.cache = folder / "cache"
        self.monkeypatch = monkeypatch
        mirrors = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                mirrors.asked.append(self.path)
                data = mirrors.files.get(self.path)
                self.send_response(404 if data is None else 200)
                self.send_header("Content-Length", str(len(data or b"")))
                self.end_headers()
                self.wfile.write(data or b"")

            def log_message(self, *_: object) -> None:
                """Keep the tests quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        monkeypatch.setattr(pooch, "os_cache", lambda _: self.cache)
        monkeypatch.setattr(corpora, "_SHA1", hashlib.sha1(GOOD).hexdigest())
        monkeypatch.setattr(corpora, "_BYTES", len(GOOD))
        monkeypatch.delenv("D2LRNN_DATA", raising=False)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server.server_port}{path}"

    def serve(self, *contents: bytes) -> None:
        """Make one mirror of each of `contents`: /0, /1, and so on."""
        self.files = {f"/{i}": content for i, content in enumerate(contents)}
        self.use(*map(self.url, self.files))

    def use(self, *urls: str) -> None:
        self.monkeypatch.setattr(corpora, "_MIRRORS", urls)


@pytest.fixture
def mirrors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirrors]:
    mirrors = Mirrors(tmp_path, monkeypatch)
    yield mirrors
    mirrors.server.shutdown()
    mirrors.server.server_close()


@pytest.fixture
def dead() -> str:
    """Give an address at which nothing listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    return f"http://127.0.0.1:{port}/timemachine.txt"


@pytest.fixture
def own(mirrors: Mirrors, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the reader's folder, named by D2LRNN_DATA."""
    folder = mirrors.cache.with_name("own")
    folder.mkdir()
    monkeypatch.setenv("D2LRNN_DATA", str(folder))
    return folder


def test_download_returns_the_text(mirrors: Mirrors) -> None:
    mirrors.serve(GOOD)
    assert load_text("time_machine") == GOOD.decode()


def test_download_is_kept_in_the_cache(mirrors: Mirrors) -> None:
    mirrors.serve(GOOD)
    load_text("time_machine")
    assert {path.name: path.read_bytes() for path in mirrors.cache.iterdir()} == {"timemachine.txt": GOOD}


def test_cached_text_is_not_downloaded_again(mirrors: Mirrors) -> None:
    mirrors.serve(GOOD)
    load_text("time_machine")
    load_text("time_machine")
    assert mirrors.asked == ["/0"]


def test_second_mirror_serves_when_the_first_is_dead(mirrors: Mirrors, dead: str) -> None:
    mirrors.serve(GOOD)
    mirrors.use(dead, mirrors.url("/0"))
    assert load_text("time_machine") == GOOD.decode()


def test_mirror_that_never_answers_is_given_up_in_time(
    mirrors: Mirrors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpora, "_TIMEOUT", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        mirrors.use(f"http://127.0.0.1:{silent.getsockname()[1]}/")
        with pytest.raises(ConnectionError, match=r"read timeout=0\.1"):
            load_text("time_machine")


def test_second_mirror_serves_when_the_first_has_another_file(mirrors: Mirrors) -> None:
    mirrors.serve(b"<html>blocked</html>", GOOD)
    assert load_text("time_machine") == GOOD.decode()


def test_mirrors_after_the_first_good_one_are_not_asked(mirrors: Mirrors) -> None:
    mirrors.serve(GOOD, GOOD)
    load_text("time_machine")
    assert mirrors.asked == ["/0"]


@pytest.mark.parametrize(
    "damaged", [b"", GOOD[:100], GOOD[:-1] + b"?"], ids=["empty", "truncated", "changed"]
)
def test_damaged_cached_file_is_fetched_again(mirrors: Mirrors, damaged: bytes) -> None:
    mirrors.cache.mkdir()
    (mirrors.cache / "timemachine.txt").write_bytes(damaged)
    mirrors.serve(GOOD)
    assert load_text("time_machine") == GOOD.decode()


def test_wrong_content_everywhere_is_reported_as_a_wrong_hash(mirrors: Mirrors) -> None:
    mirrors.serve(GOOD[:100])
    with pytest.raises(ConnectionError, match=r"/0\n.*does not match the known hash"):
        load_text("time_machine")


def test_wrong_content_leaves_no_file_in_the_cache(mirrors: Mirrors) -> None:
    mirrors.serve(GOOD[:100], b"")
    with pytest.raises(ConnectionError):
        load_text("time_machine")
    assert list(mirrors.cache.iterdir()) == []


def test_failure_names_each_mirror_with_its_own_error(mirrors: Mirrors, dead: str) -> None:
    missing = mirrors.url("/missing")
    mirrors.use(dead, missing)
    with pytest.raises(
        ConnectionError, match=rf"(?s){dead}\n +ConnectionError: .*{missing}\n +HTTPError: 404"
    ):
        load_text("time_machine")


@pytest.mark.parametrize("way_on", ["D2LRNN_DATA", "timemachine.txt in a folder", "load_text('tide_clock')"])
def test_failure_says_how_to_go_on_offline(mirrors: Mirrors, dead: str, way_on: str) -> None:
    mirrors.use(dead)
    with pytest.raises(ConnectionError) as failure:
        load_text("time_machine")
    assert way_on in str(failure.value)


def test_download_prints_nothing_outside_a_terminal(
    mirrors: Mirrors, capfd: pytest.CaptureFixture[str]
) -> None:
    mirrors.serve(GOOD)
    load_text("time_machine")
    assert capfd.readouterr() == ("", "")


def test_download_shows_a_progress_bar_in_a_terminal(
    mirrors: Mirrors, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mirrors.serve(GOOD)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    load_text("time_machine")
    assert "100%" in capsys.readouterr().err


def test_download_logs_nothing(
    mirrors: Mirrors, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    mirrors.serve(GOOD)
    monkeypatch.setattr(pooch.get_logger(), "handlers", [caplog.handler])
    load_text("time_machine")
    assert caplog.records == []


def test_download_leaves_pooch_logging_as_it_was(
    mirrors: Mirrors, dead: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pooch.get_logger(), "level", logging.DEBUG)
    mirrors.use(dead)
    with pytest.raises(ConnectionError):
        load_text("time_machine")
    assert pooch.get_logger().level == logging.DEBUG


def test_own_folder_comes_before_the_mirrors(mirrors: Mirrors, own: Path) -> None:
    (own / "timemachine.txt").write_bytes(GOOD)
    mirrors.serve(GOOD)
    load_text("time_machine")
    assert mirrors.asked == []


@pytest.mark.usefixtures("own")
def test_own_folder_without_the_file_is_passed_over(mirrors: Mirrors) -> None:
    mirrors.serve(GOOD)
    assert load_text("time_machine") == GOOD.decode()


def test_own_folder_is_never_written_to(mirrors: Mirrors, own: Path) -> None:
    mirrors.serve(GOOD)
    load_text("time_machine")
    assert list(own.iterdir()) == []


def test_own_folder_may_start_with_a_tilde(
    mirrors: Mirrors, own: Path, monkeypatch: pytest.MonkeyPatch, dead: str
) -> None:
    (own / "timemachine.txt").write_bytes(GOOD)
    mirrors.use(dead)
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(own.parent))
    monkeypatch.setenv("D2LRNN_DATA", "~/own")
    assert load_text("time_machine") == GOOD.decode()


@pytest.mark.parametrize(
    "damaged", [b"", GOOD[:100], GOOD[:-1] + b"?"], ids=["empty", "truncated", "changed"]
)
def test_damaged_own_file_is_an_error_that_names_it(mirrors: Mirrors, own: Path, damaged: bytes) -> None:
    path = own / "timemachine.txt"
    path.write_bytes(damaged)
    mirrors.serve(GOOD)
    with pytest.raises(ValueError, match="is not The Time Machine") as failure:
        load_text("time_machine")
    assert str(path) in str(failure.value)


def test_damaged_own_file_error_gives_both_sizes_and_hashes(own: Path) -> None:
    damaged = GOOD[:100]
    (own / "timemachine.txt").write_bytes(damaged)
    expected = f"expected {len(GOOD)} bytes with SHA-1 {hashlib.sha1(GOOD).hexdigest()}"
    found = f"found 100 bytes with SHA-1 {hashlib.sha1(damaged).hexdigest()}"
    with pytest.raises(ValueError, match=f"{expected}, {found}"):
        load_text("time_machine")


def test_damaged_own_file_is_left_alone(own: Path) -> None:
    (own / "timemachine.txt").write_bytes(b"mine")
    with pytest.raises(ValueError, match="is not The Time Machine"):
        load_text("time_machine")
    assert (own / "timemachine.txt").read_bytes() == b"mine"


def test_d2lrnn_data_may_name_the_file_itself(
    mirrors: Mirrors, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own / "tm.txt").write_bytes(GOOD)
    monkeypatch.setenv("D2LRNN_DATA", str(own / "tm.txt"))
    mirrors.serve(b"other")
    assert (load_text("time_machine"), mirrors.asked) == (GOOD.decode(), [])


def test_another_file_that_d2lrnn_data_names_is_refused_by_name(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own / "tm.txt").write_bytes(b"mine")
    monkeypatch.setenv("D2LRNN_DATA", str(own / "tm.txt"))
    with pytest.raises(ValueError, match=r"tm\.txt is not The Time Machine"):
        load_text("time_machine")


def test_d2lrnn_data_that_leads_nowhere_is_an_error_and_nothing_is_downloaded(
    mirrors: Mirrors, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("D2LRNN_DATA", str(own / "no-such-folder"))
    mirrors.serve(GOOD)
    with pytest.raises(FileNotFoundError, match=r"D2LRNN_DATA must name .*no-such-folder"):
        load_text("time_machine")
    assert mirrors.asked == []


def test_folder_in_place_of_the_own_file_is_an_error_and_nothing_is_downloaded(
    mirrors: Mirrors, own: Path
) -> None:
    (own / "timemachine.txt").mkdir()
    mirrors.serve(GOOD)
    with pytest.raises(IsADirectoryError, match=r"D2LRNN_DATA must be .*timemachine\.txt.* is a folder"):
        load_text("time_machine")
    assert mirrors.asked == []


def test_failure_says_what_d2lrnn_data_is(mirrors: Mirrors, own: Path, dead: str) -> None:
    mirrors.use(dead)
    with pytest.raises(ConnectionError) as failure:
        load_text("time_machine")
    assert f"now {os.environ['D2LRNN_DATA']!r}" in str(failure.value)
