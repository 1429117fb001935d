"""The line of a finding on a page: its count, a link to all counts, and a dot for each number."""

import html
import math
import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import nbformat
import pytest

from book.proof import rows
from book.recording import findings, provenance
from book.recording.findings import SHIFTS, Count
from book.recording.notebooks import CHAPTERS, code_cells
from book.site.extension import state, with_counts
from book.site.findings import WIDTH, anchor, dots, line, spread, tally
from d2lrnn.recorded import FINDING_MIME, in_words

SHOWN = {
    "name": "gru-wins",
    "words": "the GRU's perplexity is below the 5-gram's",
    "left": 3.41459,
    "relation": "<",
    "right": 3.97,
    "holds": True,
    "strength": "is",
}


def count(*runs):
    return Count(tuple(runs))


def of_left(*values):
    """Return a count whose numbers on the left are these; the control's are 1."""
    return count(*((value, 1, True) for value in values))


NINE = count(*((3 + i / 100, 4, True) for i in range(9)), (4.5, 4, False))
ALIKE = count(*[(1, 2, True)] * 10)


def drawn(counted):
    """Return the title of the dots, and where those of the left and those of the right stand."""
    picture = ET.fromstring(dots(counted))
    circles = picture.findall("circle")
    heights = sorted({float(circle.get("cy")) for circle in circles})
    places = [[float(one.get("cx")) for one in circles if float(one.get("cy")) == y] for y in heights]
    assert all(0 <= x <= WIDTH for side in places for x in side)
    return picture.findtext("title"), places


def steps(places):
    return [b - a for a, b in pairwise(places)]


def test_line_has_words_numbers_and_count():
    text = html.unescape(re.sub("<title>.*</title>|<[^>]+>", "", line(SHOWN, "rnn", NINE))).strip()
    assert text == "holds here, in 9 of 10 runs: the GRU's perplexity is below the 5-gram's (3.415 < 3.97)"


def test_count_is_a_link_to_the_finding_on_the_page_of_all():
    assert re.findall('<a href="(.*?)">(.*?)</a>', line(SHOWN, "rnn", NINE)) == [
        ("../appendix/findings.html#finding-rnn-gru-wins", "in 9 of 10 runs")
    ]
    assert anchor("rnn", "gru-wins") == "finding-rnn-gru-wins"


def test_a_finding_that_does_not_hold_says_so():
    found = {**SHOWN, "left": 4.5, "holds": False}
    assert line(found, "rnn", NINE).startswith('<p class="d2lrnn-finding">does not hold here, <a ')
    assert "(4.5 not &lt; 3.97)" in line(found, "rnn", NINE)


def test_a_line_is_one_whole_element():
    found = ET.fromstring(line({**SHOWN, "words": "<b> & \"a\" < 'b' &lt; </p>"}, "rnn", NINE))
    assert "".join(found.itertext()).startswith(
        "holds here, in 9 of 10 runs: <b> & \"a\" < 'b' &lt; </p> (3.415 < 3.97)"
    )
    assert [part.tag for part in found] == ["a", "span", "svg"]


def test_there_are_as_many_dots_as_numbers():
    assert line(SHOWN, "rnn", NINE).count("<circle") == 20
    assert [len(side) for side in drawn(NINE)[1]] == [10, 10]


def test_a_run_that_did_not_reach_the_finding_has_no_dots():
    assert dots(count(None, *NINE.runs[1:])).count("<circle") == 18
    assert tally(count(None, *NINE.runs[1:])) == "in 8 of 10 runs"


def test_a_finding_that_no_run_reached_has_no_dots():
    title, places = drawn(count(*[None] * 10))
    assert (title, places) == ("left never reached, control never reached", [])


def test_a_finding_without_a_seed_has_no_dots():
    text = line(SHOWN, "rnn", ALIKE)
    assert ">computed on this text</a>" in text
    assert "<svg" not in text


def test_a_finding_without_runs_has_no_dots():
    text = line(SHOWN, "rnn", None)
    assert ">not counted yet</a>" in text
    assert "<svg" not in text


def test_title_says_in_words_between_which_numbers_the_dots_lie():
    assert drawn(NINE)[0] == "left 3 to 4.5, control 4"


def test_whole_numbers_are_in_full():
    found = count(*((14_000 + i, 77_600, True) for i in range(10)))
    assert drawn(found)[0] == "left 14,000 to 14,009, control 77,600"


def test_numbers_of_one_size_stand_evenly():
    places = drawn(of_left(1, 2, 3))[1]
    assert steps(places[0]) == pytest.approx([steps(places[0])[0]] * 2, abs=0.2)
    assert places[1] == [places[0][0]] * 3


@pytest.mark.parametrize("largest", [30, 31])
def test_beyond_thirty_times_numbers_stand_by_their_logarithms(largest):
    (left, _) = drawn(of_left(1, largest**0.5, largest))[1]
    assert (steps(left)[0] == pytest.approx(steps(left)[1], abs=0.2)) is (largest > 30)


@pytest.mark.parametrize("lowest", [0, -1])
def test_what_has_no_logarithm_stands_as_it_is(lowest):
    (left, _) = drawn(of_left(lowest, 500 + lowest / 2, 1000))[1]
    assert steps(left)[0] == pytest.approx(steps(left)[1], abs=0.2)


def test_equal_numbers_stand_in_one_place():
    (left, right) = drawn(count((1, 1, False), None, *[(1, 1, False)] * 8))[1]
    assert set(left) == set(right)
    assert len(set(left)) == 1


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
@pytest.mark.parametrize("others", [(1, 2), (1, 1000)])
def test_what_is_not_finite_stands_at_the_right_end(value, others):
    (left, _) = drawn(of_left(*others, value))[1]
    assert left[-1] == max(left)
    assert left[-1] > left[-2] + 5


def test_numbers_none_of_which_is_finite_have_dots():
    (left, right) = drawn(count(("nan", "inf", False), None, *[("nan", "inf", False)] * 8))[1]
    assert (len(left), len(right)) == (9, 9)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([], "never reached"),
        ([2.0, 1.5], "1.5 to 2"),
        ([1.0, math.inf], "1 to inf"),
        ([1.0, math.nan], "not always a number"),
        ([3.14159, 3.14161], "3.142"),
    ],
)
def test_spread_in_words(values, said):
    assert spread(values) == said


# Where the lines come from


@pytest.fixture
def recording(monkeypatch, tmp_path):
    """Return the recording of a chapter `rnn` with a finding, to which there are ten rows and no others."""
    data = {FINDING_MIME: SHOWN, "text/plain": in_words(SHOWN)}
    outputs = [nbformat.v4.new_output("stream", text="one"), nbformat.v4.new_output("display_data", data)]
    noted = {"code": "c", "files": {}, "outputs": "o", "versions": {}, "python": "3", "margins": {}}
    cell = nbformat.v4.new_code_cell("", outputs=outputs)
    found = nbformat.v4.new_notebook(cells=[cell], metadata={provenance.KEY: noted})
    monkeypatch.setattr(findings, "TABLE", tmp_path / "findings.json")
    rows.write(
        findings.TABLE,
        [
            {
                "chapter": "rnn",
                "shift": shift,
                "key": provenance.key(found),
                "findings": {"gru-wins": [3 + shift, 4, shift < 3000]},
            }
            for shift in SHIFTS
        ],
    )
    return found


def outputs_of(recording, chapter="rnn"):
    (cell,) = code_cells(with_counts(nbformat.from_dict(recording), chapter, recording))
    return cell.outputs


def test_a_finding_has_html_beside_what_was_recorded(recording):
    first, second = outputs_of(recording)
    assert first == recording.cells[0].outputs[0]
    assert second.data["text/plain"] == in_words(SHOWN)
    assert ">in 2 of 10 runs</a>" in second.data["text/html"]


def test_rows_of_another_key_or_chapter_do_not_count(recording):
    assert ">not counted yet</a>" in outputs_of(recording, "bptt")[1].data["text/html"]
    recording.metadata[provenance.KEY]["outputs"] = "p"
    assert ">not counted yet</a>" in outputs_of(recording)[1].data["text/html"]


def test_a_recording_is_not_changed_by_its_counts(recording):
    outputs_of(recording)
    assert "text/html" not in recording.cells[0].outputs[1].data


def test_a_count_that_moves_has_its_page_built_again(recording):
    page, other = CHAPTERS / "rnn.md", CHAPTERS / "bptt.md"
    before = state(page), state(other)
    table = findings.rows()
    table[0]["findings"]["gru-wins"][2] = False
    rows.write(findings.TABLE, table)
    assert state(page) != before[0]
    assert state(other) == before[1]
