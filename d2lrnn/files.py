"""Files: texts to read, and files that are whole or not there, since an interrupted one leaves the old."""

from __future__ import annotations

import contextlib
import importlib.resources
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from d2lrnn import _support


def of_package(name: str) -> str:
    """Return a text file that comes with the package, by its path in it."""
    return decoded((importlib.resources.files("d2lrnn") / name).read_bytes(), name)


def path_of(name: str, value: object) -> Path:
    """Return a path, or raise unless it can be a file's in a folder that is there; `~` is one's home."""
    if not isinstance(value, (str, os.PathLike)) or isinstance(os.fspath(value), bytes):
        raise TypeError(f"{name} must be the path of a file, got {_support.shown(value)}")
    text = os.fspath(value)
    if not text or "\0" in text or "://" in text:
        raise ValueError(f"{name} must be the path of a file, got {_support.short(text)}")
    try:
        target = Path(text).expanduser()
    except RuntimeError as error:  # nobody has that home
        raise ValueError(f"{name} must be the path of a file, got {text!r}: {error}") from error
    if target.is_dir():
        raise IsADirectoryError(f"{name} must be the path of a file, but {str(target)!r} is a folder")
    if not target.resolve().parent.is_dir():
        raise FileNotFoundError(f"{name}={str(target)!r} must be in a folder that is there")
    return target


def writable(name: str, value: object) -> Path:
    """Return what `path` does, or raise also if a file cannot be written there."""
    target = path_of(name, value)
    try:
        part = _part(target)
        part.touch(exist_ok=False)
        part.unlink()
    except OSError as error:
        reason = f"{name}={str(target)!r} cannot be written: {error.strerror}"
        raise type(error)(error.errno, reason) from error
    return target


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[BinaryIO]:
    """Open a file beside `target` to write to, which takes its place at the end of the block.

    If the block raises, or the process ends, `target` stays as it was. (A process that is killed leaves a
    file with a dot before its name and `.part` after it, for you to remove.)
    """
    target = target.resolve()  # of a link, what it stands for
    part = _part(target)
    file = part.open("xb")
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # on the disk before the name: also a computer that stops has one of both
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _part(target: Path) -> Path:
    """Return the path of a file that nobody else writes, in the same folder."""
    target = target.resolve()
    return target.with_name(f".{target.name[:100]}.{uuid4().hex}.part")


def read_text(path: str | os.PathLike[str]) -> str:
    r"""Read a text file of your own.

    The encoding is UTF-8 on every platform. A byte-order mark is dropped; CRLF and CR become "\n".

    Parameters
    ----------
    path : str or path
        The file; `~` at its beginning is your home.

    Returns
    -------
    str
        The text, its lines separated by "\n". All else is kept, invisible characters too: `clean_lines` takes
        those out.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    IsADirectoryError
        If `path` is a folder.
    OSError
        If the file can't be read: `PermissionError`, for one.
    ValueError
        If `path` can be no file's, as "" or an address such as "https://...", or if the file is not UTF-8;
        the message gives the position of the first wrong byte.
    TypeError
        If `path` is neither a str nor a path.
    """
    return decoded(contents("path", path), path)


def contents(name: str, path: str | os.PathLike[str]) -> bytes:
    """Return what a file holds, or raise an error that names the argument and the path."""
    file = path_of(name, path)
    try:
        return file.read_bytes()
    except OSError as error:
        raise OSError(
            error.errno, f"{name} must be the path of a file that can be read: {error.strerror}", str(file)
        ) from error


def decoded(data: bytes, path: str | os.PathLike[str]) -> str:
    r"""Return bytes as text with "\n" at the ends of lines, or raise ValueError if they are not UTF-8."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        wrong = f"0x{data[error.start]:02x} at byte {error.start}, counted from 0"
        raise ValueError(f"{path} is not UTF-8 text: {error.reason}, {wrong}; save it as UTF-8") from error
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
