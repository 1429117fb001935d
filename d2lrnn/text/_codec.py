"""What `Vocab` and `BPETokenizer` share: tokens and ids that a caller gives, and files of JSON."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping

from d2lrnn import files
from d2lrnn._support import index, integer, listed, ordered, string
from d2lrnn.files import read_text


def strings(name: str, items: Iterable[str], expected: str = "a list of str") -> list[str]:
    """Return some str as plain ones, or raise naming the item that is none."""
    return [
        _plain(f"{name}[{i}]", item) for i, item in enumerate(ordered(name, listed(name, items), expected))
    ]


def flat(name: str, tokens: Iterable[str | Iterable[str]]) -> Iterator[str]:
    """Go through tokens that are in one list or in lines."""
    for i, item in enumerate(ordered(name, listed(name, tokens), "a list of str, or of lists of str")):
        if isinstance(item, str):
            yield _plain(name, item)
        else:
            yield from strings(f"{name}[{i}]", item, "a str or a list of str")


def _plain(name: str, token: object) -> str:
    """Return a str, also of a subclass such as NumPy's, as a plain str."""
    return str.__str__(string(name, token))


def counted(freqs: object) -> list[tuple[str, int]]:
    """Return tokens and their counts as read from a file, or raise unless the most frequent come first."""
    if not isinstance(freqs, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in freqs):
        raise TypeError("token_freqs must be a list of pairs")
    pairs = [(string("token", token), integer("count", count, minimum=1)) for token, count in freqs]
    if len(dict(pairs)) < len(pairs):
        raise ValueError("the tokens of token_freqs must be distinct")
    if pairs != sorted(pairs, key=lambda pair: -pair[1]):
        raise ValueError("token_freqs must begin with the most frequent token")
    return pairs


def token_ids(ids: Iterable[int], size: int) -> list[int]:
    """Return ids as a list of int, or raise unless they have one axis and each is in 0..size-1."""
    return [index("id", listed("id", i), size) for i in ordered("ids", listed("ids", ids), "a list of ids")]


def save(path: str | os.PathLike[str], kind: str, contents: Mapping[str, object]) -> None:
    """Write `contents` to a file, whole or not at all."""
    target = files.path_of("path", path)
    text = json.dumps({"kind": kind, **contents}, ensure_ascii=False)
    if pair := re.search("[\ud800-\udbff][\udc00-\udfff]", text):
        raise ValueError(f"a token holds two lone surrogates, {pair[0]!a}, which JSON reads as one character")
    with files.replacing(target) as file:
        file.write(text.encode(errors="backslashreplace") + b"\n")  # a lone surrogate as JSON's own \uXXXX


@contextlib.contextmanager
def loading(path: str | os.PathLike[str], kind: str, keys: tuple[str, ...]) -> Iterator[tuple[object, ...]]:
    """Give what `save` wrote under each key; what is wrong with it is an error that names the file."""
    text = read_text(path)
    try:
        contents = json.loads(text)
        if not isinstance(contents, dict) or contents.get("kind") != kind:
            raise ValueError(f'it is no object with "kind": "{kind}"')
        if contents.keys() != {"kind", *keys}:
            raise ValueError(f"its keys must be kind, {', '.join(keys)}; got {', '.join(contents)}")
        yield tuple(contents[key] for key in keys)
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"path={os.fspath(path)!r} is no file that {kind}.save writes: {error}") from error
