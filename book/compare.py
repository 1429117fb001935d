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
# A figure's description repeats some points of the series with four significant digits, so that a point
# within its tolerance may be written with another last digit.
DESCRIPTION_RTOL = 1e-3
# Below this share of a figure's largest number of one kind a value is rounding noise around zero.
SERIES_ATOL_SHARE = 1e-9

# Digits that touch a letter, as in a hash or a name, are part of a word.
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:[eE][-+]\d+)?(?!\w)")
_INTEGER = re.compile(r"[-+]?\d+")

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
        elif old.keys() != got.keys():
            found.append(f"{where}: recorded {sorted(old)}, got {sorted(got)}")
        else:
            in_figure = SERIES_MIME in old
            for key in old:
                found += [f"{where}, {key}: {line}" for line in _compare(key, old[key], got[key], in_figure)]
    return found


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


def _compare(key: str, old: object, new: object, in_figure: bool) -> list[str]:
    if key == SERIES_MIME:
        return _compare_series(_json(old), _json(new), 0.0)
    if in_figure and (
        key == "text/html" or key.startswith("image/")
    ):  # drawn from the series, which is compared
        return [] if bool(_text(old)) == bool(_text(new)) else ["one of the pictures is empty"]
    if key in ("text", "ename", "evalue") or key.startswith("text/"):
        return _compare_text(_text(old), _text(new), in_figure)
    if key.startswith("image/"):
        return ["a picture without its data cannot be compared: display it with d2lrnn.show"]
    return [] if _json(old) == _json(new) else [f"recorded {_shorten(old)}, got {_shorten(new)}"]


def _json(value: object) -> object:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except json.JSONDecodeError:
        return value


def _compare_text(old: str, new: str, in_figure: bool) -> list[str]:
    old, new = mask_measured(old), mask_measured(new)
    if _NUMBER.sub("0", old) != _NUMBER.sub("0", new):
        return [f"recorded {_shorten(old)}, got {_shorten(new)}"]
    return [
        f"recorded {a}, got {b}"
        for a, b in zip(_NUMBER.findall(old), _NUMBER.findall(new), strict=True)
        if not _same_number(a, b, in_figure)
    ]


def _same_number(old: str, new: str, in_figure: bool) -> bool:
    if in_figure:  # its description may write a float without a point
        return math.isclose(float(old), float(new), rel_tol=DESCRIPTION_RTOL)
    if _INTEGER.fullmatch(old) or _INTEGER.fullmatch(new):
        return old == new
    return math.isclose(float(old), float(new), rel_tol=FLOAT_RTOL)


def _compare_series(old: object, new: object, scale: float) -> list[str]:
    """Compare two descriptions of a figure: words and integers exactly, floats with tolerance.

    `scale` is the largest magnitude among the numbers that stand together with `old`.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        if old.keys() != new.keys():
            return [f"recorded {sorted(old)}, got {sorted(new)}"]
        return [f"{key}: {line}" for key in old for line in _compare_series(old[key], new[key], scale)]
    if isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            return [f"recorded {len(old)} points, got {len(new)}"]
        scale = max(scale, _largest(old))
        pairs = enumerate(zip(old, new, strict=True))
        return [f"point {i}: {line}" for i, (a, b) in pairs for line in _compare_series(a, b, scale)]
    if isinstance(old, float) and isinstance(new, (int, float)) and not isinstance(new, bool):
        atol = SERIES_ATOL_SHARE * max(scale, abs(old))
        same = math.isclose(old, new, rel_tol=SERIES_RTOL, abs_tol=atol)
        return [] if same else [f"recorded {old}, got {new}"]
    same = old == new and isinstance(old, bool) == isinstance(new, bool)
    return [] if same else [f"recorded {old!r}, got {new!r}"]


def _largest(values: list[object]) -> float:
    """Return the largest magnitude among the numbers of a list, however deep."""
    sizes = [
        _largest(v) if isinstance(v, list) else abs(v) for v in values if isinstance(v, (list, int, float))
    ]
    return float(max(sizes, default=0.0))


def _shorten(value: object, limit: int = 400) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[:limit] + "…"
