"""Diagrams drawn by code: text that can be read out, in the page's colours, inside the picture."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from book.recording.compare import differences
from d2lrnn import diagram
from d2lrnn.drawing import diagrams
from d2lrnn.drawing.diagrams import _DIAGRAMS

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
    shown = {"unrolled recurrence", "latent autoregressive model", "task shapes"}
    assert shown | {"computational graph", "truncation patterns"} <= set(NAMES)


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


def edges(svg):
    """Return (start, end, dashed) of each line of two points: the box, or else the point, at its ends."""
    labels = dict(zip(words_of_boxes(svg), svg.iter(f"{SVG}rect"), strict=True))

    def at(x, y):
        for label, box in labels.items():
            left, top, width, height = (float(box.get(key)) for key in ("x", "y", "width", "height"))
            if left - 3 <= x <= left + width + 3 and top - 3 <= y <= top + height + 3:
                return label
        return x, y

    found = set()
    for path in svg.iter(f"{SVG}path"):
        numbers = re.fullmatch(r"M (\S+) (\S+) L (\S+) (\S+)", path.get("d"))
        if numbers:
            x1, y1, x2, y2 = map(float, numbers.groups())
            found.add((at(x1, y1), at(x2, y2), path.get("stroke-dasharray") is not None))
    return found


def words_of_boxes(svg):
    """Return the labels of boxes: each stands right after its box."""
    elements = list(svg)
    return [
        "".join(after.itertext()).replace("\u200b", "")
        for box, after in pairwise(elements)
        if box.tag == f"{SVG}rect"
    ]


@pytest.fixture
def graph():
    return ElementTree.fromstring(diagram("computational graph")._repr_html_())


def test_computational_graph_has_inputs_states_outputs_parameters_and_loss(graph):
    steps = [f"{letter}{t}" for letter in "xho" for t in (1, 2, 3)]
    assert sorted(words_of_boxes(graph)) == sorted([*steps, "h0", "L", "Wqh", "Whh", "Whx"])


def test_computational_graph_leads_from_each_node_to_what_depends_on_it(graph):
    steps = (1, 2, 3)
    expected = {(f"x{t}", f"h{t}") for t in steps} | {(f"h{t - 1}", f"h{t}") for t in steps}
    expected |= {(f"h{t}", f"o{t}") for t in steps} | {(f"o{t}", "L") for t in steps}
    assert {(start, end) for start, end, dashed in edges(graph) if not dashed} == expected


@pytest.mark.parametrize(("parameter", "target"), [("Whx", "h"), ("Whh", "h"), ("Wqh", "o")])
def test_computational_graph_has_an_edge_from_each_parameter_to_each_step(graph, parameter, target):
    dashed = {(start, end) for start, end, is_dashed in edges(graph) if is_dashed}
    (line,) = [end for start, end in dashed if start == parameter]  # to the last branch
    branches = {end for start, end in dashed if start != parameter and start[1] == line[1]}
    assert branches == {f"{target}{t}" for t in (1, 2, 3)}


def rows_of_arrows(svg):
    """Return for each row of states where its arrows lead: from which step to which."""
    rows = {}
    for path in svg.iter(f"{SVG}path"):
        numbers = re.fullmatch(r"M (\S+) (\S+) L (\S+) (\S+)", path.get("d"))
        if numbers:
            x1, y, x2, _ = map(float, numbers.groups())
            steps = (round((x1 + 15 - 32) / 45) + 1, round((x2 - 15 - 32) / 45) + 1)
            rows.setdefault(y, []).append(steps)
    return [sorted(rows[y], reverse=True) for y in sorted(rows)]


def test_truncation_patterns_go_back_from_the_last_step_as_far_as_they_should():
    svg = ElementTree.fromstring(diagram("truncation patterns")._repr_html_())
    last = diagrams.NUM_STEPS
    reaches = [last - 1, diagrams.REGULAR, *diagrams.RANDOM]
    expected = [[(last - k, last - k - 1) for k in range(reach)] for reach in reaches]
    assert rows_of_arrows(svg) == expected


def test_truncation_patterns_have_a_cross_in_each_row_that_is_cut():
    svg = ElementTree.fromstring(diagram("truncation patterns")._repr_html_())
    assert words(svg).count("×") == 1 + len(diagrams.RANDOM)


def test_states_that_no_gradient_reaches_have_another_colour():
    svg = ElementTree.fromstring(diagram("truncation patterns")._repr_html_())
    last = diagrams.NUM_STEPS
    unreached = sum(last - 1 - back for back in (diagrams.REGULAR, *diagrams.RANDOM))
    colours = [box.get("stroke") for box in svg.iter(f"{SVG}rect")]
    assert colours.count(diagrams.UNUSED) == unreached
    assert colours.count(diagrams.STATE) == len(colours) - unreached


def test_description_says_how_far_the_random_draws_go_back():
    description = diagram("truncation patterns").description
    first, *others, last = map(str, diagrams.RANDOM)
    assert f"over {', '.join([first, *others])} and {last} steps" in description


def test_arrow_ends_where_it_should():
    assert "translate(10 20) rotate(90)" in diagrams.arrow(10, 0, 10, 20)


@pytest.mark.parametrize(("unknown", "error"), [("latent", ValueError), (3, TypeError)])
def test_unknown_diagram_is_named(unknown, error):
    with pytest.raises(error, match=f"name must be .*got {unknown!r}"):
        diagram(unknown)
