"""Diagrams drawn by code: text that can be read out, in the page's colours, inside the picture."""

import re
from xml.etree import ElementTree

import pytest

from book.compare import differences
from d2lrnn import diagram, diagrams
from d2lrnn.diagrams import _DIAGRAMS

NAMES = sorted(_DIAGRAMS)
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def svg(name):
    return ElementTree.fromstring(diagram(name)._repr_html_())


def words(svg):
    return ["".join(text.itertext()).replace("\u200b", "") for text in svg.iter(f"{SVG}text")]


def test_there_are_the_diagrams_that_the_chapters_show():
    assert {"unrolled recurrence", "latent autoregressive model", "task shapes"} <= set(NAMES)


def test_title_comes_first_and_names_the_picture(svg, name):
    assert (svg[0].tag, svg[0].text) == (f"{SVG}title", diagram(name).title)


def test_description_is_in_the_picture(svg, name):
    assert svg.find(f"{SVG}desc").text == diagram(name).description


def test_picture_is_labelled_by_its_title_and_description(svg):
    ids = [svg.find(f"{SVG}{tag}").get("id") for tag in ("title", "desc")]
    assert (svg.get("role"), svg.get("aria-labelledby").split()) == ("img", ids)


def test_plain_form_is_title_and_description(name):
    assert repr(diagram(name)) == f"{diagram(name).title}. {diagram(name).description}"


def test_text_and_lines_take_the_page_s_colour(svg):
    assert svg.get("fill") == "currentColor"
    own = {element.get("fill") for element in svg.iter(f"{SVG}text")}
    assert own == {None}
    assert {e.get("stroke") for e in svg.iter(f"{SVG}path")} <= {None, "currentColor"}


def test_boxes_are_tinted_so_that_text_on_them_stays_legible(svg):
    assert {float(box.get("fill-opacity")) for box in svg.iter(f"{SVG}rect")} <= {0.22}


def test_boxes_lie_inside_the_picture(svg):
    _, _, width, height = map(float, svg.get("viewBox").split())
    for box in svg.iter(f"{SVG}rect"):
        x, y, w, h = (float(box.get(key)) for key in ("x", "y", "width", "height"))
        assert 0 <= x <= x + w <= width
        assert 0 <= y <= y + h <= height


def test_boxes_do_not_overlap(svg):
    boxes = [tuple(float(b.get(k)) for k in ("x", "y", "width", "height")) for b in svg.iter(f"{SVG}rect")]
    for i, (x, y, w, h) in enumerate(boxes):
        for x2, y2, w2, h2 in boxes[:i]:
            assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y


def test_text_is_at_least_twelve_pixels_on_a_phone(svg):
    """A phone's page is about 350 pixels wide; subscripts are smaller."""
    width = float(svg.get("viewBox").split()[2])
    sizes = [float(text.get("font-size")) for text in svg.iter(f"{SVG}text")]
    assert min(sizes) * 350 / width >= 11


def test_two_diagrams_share_no_id():
    ids = [set(re.findall(r' id="([^"]+)"', diagram(name)._repr_html_())) for name in NAMES]
    assert sum(map(len, ids)) == len(set.union(*ids))


def test_same_diagram_is_drawn_the_same_twice(name):
    assert diagram(name)._repr_html_() == diagram(name)._repr_html_()


def test_comparison_finds_a_changed_label(name):
    def output(html):
        return [{"output_type": "execute_result", "data": {"text/plain": "", "text/html": html}}]

    html = diagram(name)._repr_html_()
    assert differences(output(html), output(html)) == []
    assert differences(output(html), output(html.replace("</text>", "!</text>", 1)))


def test_unrolled_recurrence_has_three_steps_with_the_same_parameters():
    svg = ElementTree.fromstring(diagram("unrolled recurrence")._repr_html_())
    found = words(svg)
    assert [label for label in found if re.fullmatch(r"h\d", label)] == ["h1", "h2", "h3"]
    assert found.count("Wxh") == found.count("Whq") == 4  # three steps, and the one with the loop


def test_no_arrow_leads_from_an_observation_to_its_own_prediction():
    svg = ElementTree.fromstring(diagram("latent autoregressive model")._repr_html_())
    boxes = list(svg.iter(f"{SVG}rect"))
    columns = {float(box.get("x")) + float(box.get("width")) / 2 for box in boxes}
    starts = [
        tuple(map(float, path.get("d").split()[1:3]))
        for path in svg.iter(f"{SVG}path")
        if path.get("stroke") == "currentColor"
    ]
    bottom = max(float(box.get("y")) for box in boxes)
    assert not [start for start in starts if start[0] in columns and start[1] > bottom - 16]


@pytest.mark.parametrize(
    ("column", "row", "aligned"), [(0, 0, False), (1, 0, False), (0, 1, True), (1, 1, False)]
)
def test_only_the_aligned_task_has_one_output_above_each_input(column, row, aligned):
    svg = ElementTree.fromstring(diagram("task shapes")._repr_html_())
    places = {}
    for box in svg.iter(f"{SVG}rect"):
        x, y = float(box.get("x")), float(box.get("y"))
        if (x >= 190, y >= 192) == (column == 1, row == 1):
            places.setdefault(box.get("stroke"), []).append(x)
    assert (places[diagrams.INPUT] == places[diagrams.OUTPUT]) == aligned


def test_unaligned_task_has_other_numbers_of_inputs_and_outputs():
    svg = ElementTree.fromstring(diagram("task shapes")._repr_html_())
    last = [b for b in svg.iter(f"{SVG}rect") if float(b.get("x")) >= 190 and float(b.get("y")) >= 192]
    counts = [sum(b.get("stroke") == c for b in last) for c in (diagrams.INPUT, diagrams.OUTPUT)]
    assert counts == [4, 2]


def test_translation_is_said_to_be_unaligned():
    assert "Unaligned sequences, as in translation" in diagram("task shapes").description


def test_arrow_ends_where_it_should():
    assert "translate(10 20) rotate(90)" in diagrams._arrow(10, 0, 10, 20)


@pytest.mark.parametrize(("unknown", "error"), [("latent", ValueError), (3, TypeError)])
def test_unknown_diagram_is_named(unknown, error):
    with pytest.raises(error, match=f"name must be .*got {unknown!r}"):
        diagram(unknown)
