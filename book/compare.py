"""Compare a cell's recorded outputs with those of a new run.

Words and integers must be equal. Floats may differ by a stated relative tolerance, and so may the points of
a figure's series. Times that a cell marked with `d2lrnn.measured` are not compared; nothing else is left out.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping

from d2lrnn.figures import SERIES_MIME
from d2lrnn.measure import MEASURED

# A printed float is a rounded one: two runs that agree to 1e-12 print the same digits, so this only
# forgives the last of many printed digits.
FLOAT_RTOL = 1e-6
# Series are published with six significant digits; 1e-4 is a hundredth of the smallest change that
# matters (1 %).
SERIES_RTOL = 1e-4
# Below this share of a series' largest magnitude a value is rounding noise around zero.
SERIES_ATOL_SHARE = 1e-9

_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_INTEGER = re.compile(r"[-+]?\d+")
_PICTURES = ("image/png", "image/jpeg", "image/svg+xml")

Output = Mapping[str, object]


def differences(recorded: Iterable[Output], new: Iterable[Output]) -> list[str]:
    """Return what differs between two cells' outputs, one line each; an empty list means they agree."""
    old_parts, new_parts = _parts(recorded), _parts(new)
    if len(old_parts) != len(new_parts):
        old_kinds, new_kinds = [kind for kind, _ in old_parts], [kind for kind, _ in new_parts]
        return [f"recorded {len(old_parts)} outputs {old_kinds}, got {len(new_parts)} {new_kinds}"]
    found = []
    for number, ((old_kind, old), (new_kind, got)) in enumerate(zip(old_parts, new_parts, strict=True), 1):
        where = f"output {number} ({old_kind})"
        if old_kind != new_kind:
            found.append(f"{where}: got {new_kind}")
            continue
        if old.keys() != got.keys():
            found.append(f"{where}: recorded {sorted(old)}, got {sorted(got)}")
            continue
        for key in old:
            found += [f"{where}, {key}: {line}" for line in _compare(key, old[key], got[key])]
    return found


def mask_measured(text: str) -> str:
    """Replace each value that `d2lrnn.measured` marked, so that two runs can be compared without it."""
    return MEASURED.sub(r"<measured>\1", text)


def _parts(outputs: Iterable[Output]) -> list[tuple[str, dict[str, object]]]:
    """Reduce outputs to (kind, content), with adjacent pieces of one stream joined."""
    parts: list[tuple[str, dict[str, object]]] = []
    for output in outputs:
        kind = str(output["output_type"])
        if kind == "stream":
            kind, content = str(output["name"]), {"text": _text(output["text"])}
            if parts and parts[-1][0] == kind:
                parts[-1][1]["text"] += content["text"]  # type: ignore[operator]
                continue
        elif kind == "error":
            content = {"ename": output["ename"], "evalue": output["evalue"]}
        else:
            content = dict(output["data"])  # type: ignore[call-overload]
            if SERIES_MIME in content:  # the picture is drawn from the series, which is compared
                content = {key: value for key, value in content.items() if key in (SERIES_MIME, "text/plain")}
        parts.append((kind, content))
    return parts


def _text(value: object) -> str:
    return value if isinstance(value, str) else "".join(value)  # type: ignore[arg-type]


def _compare(key: str, old: object, new: object) -> list[str]:
    if key in _PICTURES:
        return ["a picture without its data cannot be compared: display it with d2lrnn.show"]
    if key == SERIES_MIME:
        return _compare_series(_json(old), _json(new))
    if isinstance(old, (Mapping, int, float)) or isinstance(new, (Mapping, int, float)):
        return [] if old == new else [f"recorded {old!r}, got {new!r}"]
    return _compare_text(_text(old), _text(new))


def _json(value: object) -> object:
    return json.loads(value) if isinstance(value, str) else value


def _compare_text(old: str, new: str) -> list[str]:
    old, new = mask_measured(old), mask_measured(new)
    if _NUMBER.sub("0", old) != _NUMBER.sub("0", new):
        return [f"recorded {_shorten(old)}, got {_shorten(new)}"]
    return [
        f"recorded {a}, got {b}"
        for a, b in zip(_NUMBER.findall(old), _NUMBER.findall(new), strict=True)
        if not _same_number(a, b)
    ]


def _same_number(old: str, new: str) -> bool:
    if _INTEGER.fullmatch(old) or _INTEGER.fullmatch(new):
        return old == new
    return math.isclose(float(old), float(new), rel_tol=FLOAT_RTOL)


def _compare_series(old: object, new: object) -> list[str]:
    """Compare two descriptions of a figure: text exactly, lists of numbers point by point."""
    if isinstance(old, dict) and isinstance(new, dict):
        if old.keys() != new.keys():
            return [f"recorded {sorted(old)}, got {sorted(new)}"]
        return [f"{key}: {line}" for key in old for line in _compare_series(old[key], new[key])]
    if isinstance(old, list) and isinstance(new, list) and old and all(map(_is_number, old + new)):
        if len(old) != len(new):
            return [f"recorded {len(old)} points, got {len(new)}"]
        scale = max((abs(value) for value in old if math.isfinite(value)), default=0.0)
        return [
            f"point {i}: recorded {a}, got {b}"
            for i, (a, b) in enumerate(zip(old, new, strict=True))
            if not _close(a, b, scale)
        ]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [
            f"{i}: {line}"
            for i, (a, b) in enumerate(zip(old, new, strict=True))
            for line in _compare_series(a, b)
        ]
    if _is_number(old) and _is_number(new):
        return [] if _close(old, new, abs(old)) else [f"recorded {old}, got {new}"]
    return [] if old == new else [f"recorded {old!r}, got {new!r}"]


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _close(old: float, new: float, scale: float) -> bool:
    if math.isnan(old) or math.isnan(new):
        return math.isnan(old) and math.isnan(new)
    return math.isclose(old, new, rel_tol=SERIES_RTOL, abs_tol=SERIES_ATOL_SHARE * scale)


def _shorten(text: str, limit: int = 400) -> str:
    return repr(text if len(text) <= limit else text[:limit] + "…")
