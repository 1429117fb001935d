"""The script that finds colours too close to what is behind them, on pages of a line or two."""

import pytest
from browsing import too_close

SVG = '<main><svg width="200" height="100">{}</svg></main>'
GREYS = "".join(
    f'<rect x="{9 * i}" width="8" height="8" fill="rgb({c}, {c}, {c})"/>'
    for i, c in enumerate(range(160, 250, 10))
)
CLOSE = {
    "pale text": '<text y="50" fill="#999">words</text>',
    "text of a palette's orange": '<text y="50" fill="#c85a00">words</text>',
    "a text's part": '<text y="50"><tspan>well</tspan><tspan fill="#aaa">hidden</tspan></text>',
    "text half through": '<g opacity="0.5"><text y="50">words</text></g>',
    "text on a box": '<rect width="200" height="100" fill="#333"/><text y="50">words</text>',
    "unpainted text": '<text y="50" fill="none">words</text>',
    "a pale line": '<path d="M0 50H200" stroke="#ccc"/>',
    "a pale marker": '<defs><path id="m" d="M0 0H9V9z"/></defs><use href="#m" x="9" y="9" fill="#ddd"/>',
    "a line through which the page shows": '<path d="M0 50H200" stroke="#000" stroke-opacity="0.3"/>',
    "a bar": '<rect width="20" height="90" fill="#66a7d6"/>',
    "a dot on a panel": '<rect width="99" height="99" fill="#777"/><circle cx="9" cy="9" r="5" fill="#888"/>',
}
CLEAR = {
    "black text": '<text y="50">words</text>',
    "large text in orange": '<text y="50" font-size="30" fill="#c85a00">words</text>',
    "a line in orange": '<path d="M0 50H200" stroke="#c85a00"/>',
    "a grid": '<path d="M0 50H200" stroke="#000" stroke-opacity="0.15"/>',
    "a band": '<rect width="200" height="50" fill="#2481c4" fill-opacity="0.25"/>',
    "a text's ground": '<rect width="200" height="100" fill="#ddd"/><text y="50">words</text>',
    "white on black": '<rect width="200" height="100"/><text y="50" fill="#fff">words</text>',
    "a scale of greys": GREYS,
    "overlapping dots": '<circle cx="9" cy="9" r="5" fill="#090"/><circle cx="9" cy="12" r="5" fill="#090"/>',
    "an outlined area": '<rect width="90" height="90" fill="#eee" stroke="#333"/>',
    "what is hidden": '<g visibility="hidden"><text y="50" fill="#eee">words</text></g>',
    "a clip path": '<clipPath id="c"><rect width="9" height="9" fill="#eee"/></clipPath>',
}


@pytest.fixture(scope="module")
def opened(browser):
    return browser.new_page()


@pytest.mark.parametrize("what", CLOSE)
def test_in_a_drawing_is_too_close(what, opened):
    opened.set_content(SVG.format(CLOSE[what]))
    assert len(too_close(opened)) == 1


@pytest.mark.parametrize("what", CLEAR)
def test_in_a_drawing_stands_out(what, opened):
    opened.set_content(SVG.format(CLEAR[what]))
    assert too_close(opened) == []


@pytest.mark.parametrize(
    ("style", "count"),
    [
        ("color: #777", 1),
        ("color: #757575", 0),
        ("color: #888; font-size: 24px", 0),
        ("color: #000; opacity: 0.4", 1),
        ("color: #fff", 1),
        ("color: #fff; background: #000", 0),
        ("color: #fff; display: none", 0),
    ],
)
def test_text_is_held_against_its_ground(style, count, opened):
    opened.set_content(f"<div style='background: #fff'><p style='{style}'>words</p></div>")
    assert len(too_close(opened)) == count


def test_two_colours_are_named_with_their_contrast(opened):
    opened.set_content(SVG.format('<text y="50" fill="#999">words</text>'))
    assert too_close(opened) == ["text #999999 on #ffffff: 2.85"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_that_the_system_forces_are_those_that_count(scheme, opened):
    opened.set_content("<p style='color: #eee; background: #fff'>words</p>")
    opened.emulate_media(color_scheme=scheme)
    assert len(too_close(opened)) == 1
    opened.emulate_media(color_scheme=scheme, forced_colors="active")
    assert too_close(opened) == []
    opened.emulate_media(forced_colors="none", color_scheme="light")
