"""How far a loop is, for a person who waits for it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TypeVar
from uuid import uuid4

from IPython.display import display

from d2lrnn._kernel import interactive

T = TypeVar("T")
PATIENCE = 0.5  # seconds between two updates, and before the first


def bar(rounds: int, total: int) -> str:
    """Return a progress bar as HTML."""
    return (
        f'<div><progress max="{total}" value="{rounds}" aria-label="progress"></progress> '
        f"{rounds:,} of {total:,}</div>"
    )


def watched(items: Sequence[T]) -> Iterator[T]:
    """Yield the items; a person at the kernel sees a bar if that takes long, until it is done."""
    name, drawn, seen = f"d2lrnn-{uuid4().hex}", time.monotonic(), False

    def put(markup: str) -> None:
        bundle = {"text/plain": "", "text/html": markup}
        display(bundle, raw=True, display_id=name, update=seen)  # type: ignore[no-untyped-call]

    try:
        for number, item in enumerate(items):
            if interactive() and time.monotonic() - drawn >= PATIENCE:
                put(bar(number, len(items)))
                drawn, seen = time.monotonic(), True
            yield item
    finally:
        if seen:
            put("")
