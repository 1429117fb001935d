"""Named texts: two stories shipped with the package, and H. G. Wells's *The Time Machine*, found or fetched.

After a text is edited, copy into `CORPORA` below what `python -m d2lrnn.text.corpora` prints of it.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from d2lrnn import files
from d2lrnn._support import integer, one_of, string
from d2lrnn.text.tokens import clean_lines, tokenize
from d2lrnn.text.vocabulary import UNITS, Vocab

#: The name of the text that is read unless another is asked for.
DEFAULT = "tide_clock"
_SCRIPT = {"en": "latin", "zh": "han"}  # of a language


@dataclass(frozen=True)
class Corpus:
    """Describe one named text.

    Parameters
    ----------
    name : str
        What `load_text` takes.
    title, language, license, source : str
        The work's title, its ISO 639-1 language code, its licence and where it comes from.
    characters : int
        Length of `load_text(name)`.
    words : int or None
        Words left by `clean_lines`; None for a language that writes no spaces between words.
    line_end : str
        What the end of a line becomes in a corpus of characters, see `load_corpus`.
    sha256 : str
        SHA-256 of the file's bytes, in hexadecimal digits.
    """

    name: str
    title: str
    language: str
    license: str
    source: str
    characters: int
    words: int | None
    line_end: str
    sha256: str


class _Corpora(Mapping[str, Corpus]):
    """The corpora by name: read-only, and the same object after copying or pickling."""

    def __init__(self, *corpora: Corpus) -> None:
        self._corpora = {corpus.name: corpus for corpus in corpora}

    def __getitem__(self, name: str) -> Corpus:
        return self._corpora[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._corpora)

    def __len__(self) -> int:
        return len(self._corpora)

    def __repr__(self) -> str:
        return repr(self._corpora)

    def __reduce__(self) -> str:
        return "CORPORA"  # the name of the only one


#: The texts by name, read-only: "tide_clock", "stone_bridge" and "time_machine". Of each it holds the
#: `title`, `language`, `license` and `source`, its number of `characters` and `words` (None where a language
#: writes no spaces), the file's `sha256`, and the `line_end` that stands between the characters of two lines.
CORPORA: Mapping[str, Corpus] = _Corpora(
    Corpus(
        name="tide_clock",
        title="The Tide Clock",
        language="en",
        license="CC0-1.0",
        source="written for this course",
        characters=218_987,
        words=43_231,
        line_end=" ",
        sha256="dffe1a094d96a1ae52a511340a6a1ec900186f602f047538d3cf95f3f897f70f",
    ),
    Corpus(
        name="stone_bridge",
        title="石桥记",
        language="zh",
        license="CC0-1.0",
        source="written for this course",
        characters=18_144,
        words=None,
        line_end="\n",
        sha256="cbe0b17bcbc9048ea6cda4a4002daaa5f15b340e1d4758c4ed0db288064325f6",
    ),
    Corpus(
        name="time_machine",
        title="The Time Machine",
        language="en",
        license="public domain",
        source="H. G. Wells, 1895, in the edition that Dive into Deep Learning (d2l.ai) distributes",
        characters=178_979,
        words=32_775,
        line_end="",  # d2l joins the lines' characters with nothing between them
        sha256="8424dbd9532ac81f7e5f0b6add90e6952baea29158309d7d1bf3884f4e12c516",
    ),
)

_FILE = "timemachine.txt"
_BYTES = 178_979
_SHA1 = "090b5e7e70c295757f55df93cb0a180b9691891a"
_MIRRORS = (
    "https://d2l-data.s3-accelerate.amazonaws.com/timemachine.txt",
    "http://d2l-data.s3-accelerate.amazonaws.com/timemachine.txt",  # for a proxy that blocks the first
    "https://raw.githubusercontent.com/d2l-ai/d2l-zh/592fbef84a684e752393edbf267c07dbc53e082b/data/timemachine.txt",
)
_TIMEOUT = 10  # seconds without an answer before the next mirror is tried


def load_text(name: str = DEFAULT) -> str:
    r"""Return a named text as it is written, before any cleaning.

    The stories are read from the package and need no network. "time_machine" is the file that the environment
    variable D2LRNN_DATA names, or `timemachine.txt` in the folder that it names. Without either, it is read
    from the user's cache, where it is downloaded once. Each is checked against the SHA-1 that d2l publishes.

    Parameters
    ----------
    name : str
        A key of `CORPORA`.

    Returns
    -------
    str
        The text, its lines separated by "\n".

    Raises
    ------
    ValueError
        If `name` is not in `CORPORA`, or if the file that D2LRNN_DATA leads to is not the right one.
    TypeError
        If `name` is not a str.
    FileNotFoundError
        If D2LRNN_DATA names neither a file nor a folder.
    OSError
        If the file that D2LRNN_DATA leads to can't be read, or is a folder.
    ConnectionError
        If The Time Machine is not here and no mirror serves it. The message says how to go on offline.
    """
    if string("name", name) not in CORPORA:
        known = ", ".join(repr(key) for key in CORPORA)
        raise ValueError(
            f"name must be one of {known}; got {name!r} (to read a file, pass its path to read_text instead)"
        )
    if name == "time_machine":
        return files.decoded(_own_copy() or _fetched_copy(), _FILE)
    return files.of_package(f"data/{name}.txt")


def load_corpus(
    name: str = DEFAULT, unit: str = "char", max_tokens: int | None = None
) -> tuple[list[int], Vocab]:
    """Return a named text as indices, and its vocabulary.

    The lines' tokens are put in one list; empty lines leave no trace. Between the characters of two lines
    there is what `CORPORA[name].line_end` says: a space in "tide_clock", so that no two words are glued
    together, a newline in "stone_bridge", which has no spaces, and nothing in "time_machine", as in d2l
    (170,580 characters).

    Parameters
    ----------
    name : str
        A key of `CORPORA`.
    unit : str
        "char" or "word".
    max_tokens : int or None
        Number of tokens to keep, from the first; None keeps all. The vocabulary is that of the whole text.

    Returns
    -------
    corpus : list of int
        The tokens' indices, in reading order.
    vocab : Vocab
        The vocabulary, which knows its unit.

    Raises
    ------
    ValueError
        If `name` or `unit` is unknown, if `max_tokens` is below 1, or if `unit` is "word" for a Chinese text.
    TypeError
        If `max_tokens` is neither None nor an integer, or if `name` or `unit` is not a str.
    ConnectionError, OSError
        As `load_text`.
    """
    one_of("unit", unit, UNITS)
    if max_tokens is not None:
        integer("max_tokens", max_tokens, minimum=1)
    text = load_text(name)
    known = CORPORA[name]
    if known.words is None and unit == "word":
        raise ValueError(f"unit must be 'char' for {name!r}, got 'word': Chinese has no spaces between words")
    lines = [line for line in clean_lines(text, script=_SCRIPT[known.language]) if line]
    if unit == "char":
        lines = [known.line_end.join(lines)]
    tokens = list(chain.from_iterable(tokenize(lines, unit)))
    vocab = Vocab(tokens, unit=unit)
    return vocab[tokens[:max_tokens]], vocab


def _own_copy() -> bytes | None:
    """Return The Time Machine from where D2LRNN_DATA leads, or None if that is nowhere."""
    named = os.environ.get("D2LRNN_DATA")
    if not named:
        return None
    path = Path(named).expanduser()
    if not path.exists():
        raise FileNotFoundError(
            errno.ENOENT,
            f"D2LRNN_DATA must name a folder with {_FILE}, or that file; there is no such",
            named,
        )
    if path.is_dir():
        path /= _FILE
        if not path.exists():
            return None
    data = files.contents("D2LRNN_DATA", path)
    digest = hashlib.sha1(data, usedforsecurity=False).hexdigest()
    if digest != _SHA1:
        raise ValueError(
            f"{path} is not The Time Machine as d2l distributes it: "
            f"expected {_BYTES} bytes with SHA-1 {_SHA1}, found {len(data)} bytes with SHA-1 {digest}; "
            "replace the file, or remove it to have it downloaded"
        )
    return data


def _fetched_copy() -> bytes:
    """Return The Time Machine from the user's cache, after downloading it if the cache has no sound copy."""
    import pooch  # type: ignore[import-untyped]

    cache = Path(pooch.os_cache("d2lrnn"))
    in_terminal = sys.stderr is not None and sys.stderr.isatty()
    download = pooch.HTTPDownloader(progressbar=in_terminal, timeout=_TIMEOUT)
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel(logging.WARNING)  # the progress bar says enough
    failures = []
    try:
        for url in _MIRRORS:
            try:  # a sound copy in the cache is returned without asking the mirror
                path = pooch.retrieve(url, f"sha1:{_SHA1}", fname=_FILE, path=cache, downloader=download)
                return Path(path).read_bytes()
            except (OSError, ValueError) as error:  # no answer or a bad one; a wrong hash
                failures.append(f"  {url}\n    {type(error).__name__}: {error}")
    finally:
        logger.setLevel(level)
    reasons = "\n".join(failures)
    now = os.environ.get("D2LRNN_DATA")
    raise ConnectionError(
        f"The Time Machine could not be downloaded:\n{reasons}\n"
        f"To go on offline, put the file as {_FILE} in a folder and set the environment variable D2LRNN_DATA "
        f"(now {now!r}) to that folder, or use the text that comes with the package: load_text({DEFAULT!r})"
    )


def _print_figures() -> None:
    """Print what `CORPORA` must say of each shipped text."""
    for name, corpus in CORPORA.items():
        if name == "time_machine":
            continue  # its bytes never change
        text = load_text(name)
        words = None if corpus.words is None else sum(map(len, tokenize(clean_lines(text))))
        digest = hashlib.sha256(text.encode()).hexdigest()
        print(f'{name}: characters={len(text)}, words={words}, sha256="{digest}"')


if __name__ == "__main__":
    _print_figures()
