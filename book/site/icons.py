"""The theme's icons without the two thousand that no page shows: fonts and a style sheet of those in use."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from fontTools import subset

RULE = re.compile(r'((?:\.fa-[\w-]+:before,?)+)\{content:"\\([0-9a-f]+)"\}')
FACE = re.compile(r'src:url\([^)]*/(fa-[\w-]+)\.woff2\) format\("woff2"\),url\([^)]*\) format\("truetype"\)')
PRIVATE = re.compile("[\ue000-\uf8ff]")  # where the font has its icons; the theme's variables hold some


def reduced(css: str, pages: Iterable[str], fonts: Path, target: Path) -> str:
    """Return a style sheet with the icons that pages name, and write fonts of these beside it.

    Parameters
    ----------
    css : str
        The style sheet, which names Font Awesome's fonts and has a rule for each icon.
    pages : iterable of str
        All that may name an icon as `fa-...`: pages and scripts.
    fonts : Path
        The folder of Font Awesome's fonts, as TrueType.
    target : Path
        The folder that the fonts are written into, as WOFF.
    """
    used = {name for page in pages for name in re.findall(r"\bfa-[\w-]+", page)}
    codes = {ord(character) for character in PRIVATE.findall(css)}

    def keep(rule: re.Match[str]) -> str:
        if used.isdisjoint(re.findall(r"fa-[\w-]+", rule[1])):
            return ""
        codes.add(int(rule[2], 16))
        return rule[0]

    css = RULE.sub(keep, css)
    for name in set(re.findall(FACE, css)):
        options = subset.Options(flavor="woff", notdef_outline=True)
        font = subset.load_font(str(fonts / f"{name}.ttf"), options)
        part = subset.Subsetter(options)
        part.populate(unicodes=codes)
        part.subset(font)
        subset.save_font(font, str(target / f"{name}.woff"), options)
    return FACE.sub(r'src:url(\1.woff) format("woff")', css)
