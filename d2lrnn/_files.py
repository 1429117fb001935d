"""Files that are whole or not there: what is interrupted while it is written leaves the old one."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from d2lrnn import _checks


def path(name: str, value: object) -> Path:
    """Return a path, or raise unless it can be a file's in a folder that is there; `~` is one's home."""
    if not isinstance(value, (str, os.PathLike)) or isinstance(os.fspath(value), bytes):
        raise TypeError(f"{name} must be the path of a file, got {_checks.shown(value)}")
    text = os.fspath(value)
    if not text or "\0" in text or "://" in text:
        raise ValueError(f"{name} must be the path of a file, got {_checks.short(text)}")
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
    target = path(name, value)
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
    try:
        with part.open("xb") as file:
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
