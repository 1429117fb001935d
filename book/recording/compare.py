"""Compare a cell's recorded outputs with those of a new run.

Words and integers must be equal. Floats may differ by a stated relative tolerance, and so may the points of
a figure's series. Times that a cell marked with `d2lrnn.measured` are not compared; nothing else is left out.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from d2lrnn.drawing.figures import SERIES_MIME
from d2lrnn.recorded import FINDING_MIME, MEASURED

# How far two numbers of one kind may be from each other, relative to the larger. The matrix
# in book/proof/tables has the largest difference of each kind; a test holds these to less than 20 times
# that.
TOLERANCES = {
    # Of a float in full, settings and processors round the last bits differently, by up to 1e-15 in the short
    # training. Chapters print fewer digits, and none of them moves.
    "printed": 1e-14,
    # Series are published with six significant digits. Last bits may decide how the sixth is rounded, and one
    # unit of it is at most this share of the number.
    "series": 1e-5,
}

# Digits that touch a letter, as in a hash or a name, are part of a word.
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:[eE][-+]\d+)?(?!\w)")
_INTEGER = re.compile(r"[-+]?\d+")

Output = Mapping[str, object]


@dataclass(frozen=True)
class Deviation:
    """One place where two runs' outputs are not the same.

    `size` is the relative difference of two numbers, `allowed` the tolerance for their `kind`; words and
    integers have neither, and must be equal.
    """

    line: str
    kind: str = ""  # "printed" or "series", for numbers
    size: float = math.inf
    allowed: float = 0.0


def differences(recorded: Iterable[Output], new: Iterable[Output]) -> list[str]:
    """Return what differs between two cells' outputs, one line each; an empty list means they agree."""
    return [found.line for found in deviations(recorded, new) if found.size > found.allowed]


def deviations(recorded: Iterable[Output], new: Iterable[Output]) -> list[Deviation]:
    """Return every place where two cells' outputs are not equal, within tolerance or not."""
    old_parts, new_parts = _parts(recorded), _parts(new)
    if len(old_parts) != len(new_parts):
        old_kinds, new_kinds = [kind for kind, _ in old_parts], [kind for kind, _ in new_parts]
        return [Deviation(f"recorded {len(old_parts)} outputs {old_kinds}, got {len(new_parts)} {new_kinds}")]
    found = []
    for number, ((old_kind, old), (new_kind, got)) in enumerate(zip(old_parts, new_parts, strict=True), 1):
        where = f"output {number} ({old_kind})"
        if old_kind != new_kind:
            found.append(Deviation(f"{where}: got {new_kind}"))
        elif old.keys() != got.keys():
            found.append(Deviation(f"{where}: recorded {sorted(old)}, got {sorted(got)}"))
        else:
            in_figure = SERIES_MIME in old
            for key in old:
                found += _within(f"{where}, {key}", _compare(key, old[key], got[key], in_figure))
    return found


def _within(where: object, found: list[Deviation]) -> list[Deviation]:
    return [replace(one, line=f"{where}: {one.line}") for one in found]


def mask_measured(text: str) -> str:
    """Replace each value that `d2lrnn.measured` marked, and the blanks that align it."""
    return MEASURED.sub(r" <measured>\1 ", text)


def _parts(outputs: Iterable[Output]) -> list[tuple[str, dict[str, object]]]:
    """Reduce outputs to (kind, content), with adjacent pieces of one stream joined."""
    parts: list[tuple[str, dict[str, object]]] = []
    for output in outputs:
        kind = str(output["output_type"])
        content: dict[str, object]
        if kind == "stream":
            kind, content = str(output["name"]), {"text": _text(output["text"])}
            if parts and parts[-1][0] == kind:
                content["text"] = f"{parts.pop()[1]['text']}{content['text']}"
        elif kind == "error":
            content = {"ename": output["ename"], "evalue": output["evalue"]}
        else:
            content = dict(output["data"])  # type: ignore[call-overload]
        parts.append((kind, content))
    return parts


def _text(value: object) -> str:
    return value if isinstance(value, str) else "".join(value)  # type: ignore[arg-type]


def _compare(key: str, old: object, new: object, in_figure: bool) -> list[Deviation]:
    if key in (SERIES_MIME, FINDING_MIME):
        return _compare_series(_json(old), _json(new))
    if in_figure and (
        key == "text/html" or key.startswith("image/")
    ):  # drawn from the series, which is compared
        return [] if bool(_text(old)) == bool(_text(new)) else [Deviation("one of the pictures is empty")]
    if key in ("text", "ename", "evalue") or key.startswith("text/"):
        return _compare_text(_text(old), _text(new))
    if key.startswith("image/"):
        return [Deviation("a picture without its data cannot be compared: display it with d2lrnn.show")]
    return [] if _json(old) == _json(new) else [_words(old, new)]


def _words(old: object, new: object) -> Deviation:
    return Deviation(f"recorded {_shorten(old)}, got {_shorten(new)}")


def _numbers(kind: str, old: float, new: float) -> list[Deviation]:
    """Compare two numbers, relative to the larger one."""
    if old == new:
        return []
    size = abs(old - new) / max(abs(old), abs(new))
    # An infinity or nan is no number that could be near another.
    size = size if math.isfinite(size) else math.inf
    return [Deviation(f"recorded {old}, got {new}", kind, size, TOLERANCES[kind])]


def _json(value: object) -> object:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except json.JSONDecodeError:
        return value


def _compare_text(old: str, new: str) -> list[Deviation]:
    old, new = mask_measured(old), mask_measured(new)
    if _NUMBER.sub("0", old) != _NUMBER.sub("0", new):
        return [_words(old, new)]
    found = []
    for a, b in zip(_NUMBER.findall(old), _NUMBER.findall(new), strict=True):
        floats = not (_INTEGER.fullmatch(a) or _INTEGER.fullmatch(b))
        if floats and (float(a) != float(b) or float(a) == 0):
            # With the text itself: a float has lost its last zeros.
            line = f"recorded {a}, got {b}"
            found += [replace(one, line=line) for one in _numbers("printed", float(a), float(b))]
        elif a != b:  # integers, or a float written another way
            found.append(Deviation(f"recorded {a}, got {b}"))
    return found


def _compare_series(old: object, new: object) -> list[Deviation]:
    """Compare two descriptions of a figure: words and integers exactly, floats with tolerance."""
    if isinstance(old, dict) and isinstance(new, dict):
        if old.keys() != new.keys():
            return [Deviation(f"recorded {sorted(old)}, got {sorted(new)}")]
        return [one for key in old for one in _within(key, _compare_series(old[key], new[key]))]
    if isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            return [Deviation(f"recorded {len(old)} points, got {len(new)}")]
        pairs = enumerate(zip(old, new, strict=True))
        return [one for i, (a, b) in pairs for one in _within(f"point {i}", _compare_series(a, b))]
    if isinstance(old, float) and isinstance(new, (int, float)) and not isinstance(new, bool):
        return _numbers("series", old, new)
    same = old == new and isinstance(old, bool) == isinstance(new, bool)
    return [] if same else [Deviation(f"recorded {old!r}, got {new!r}")]


def _shorten(value: object, limit: int = 400) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[:limit] + "…"
