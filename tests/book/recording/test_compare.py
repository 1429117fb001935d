import copy

import pytest

from book.recording.compare import TOLERANCES, deviations, differences, mask_measured
from d2lrnn.drawing.figures import SERIES_MIME
from d2lrnn.recorded import measured


def stream(text, name="stdout"):
    return {"output_type": "stream", "name": name, "text": text}


def result(text, **more):
    return {"output_type": "execute_result", "data": {"text/plain": text, **more}}


def data(value):
    return {"output_type": "display_data", "data": {"application/json": value}}


def figure(y, alt="a curve", label="loss", picture="<svg/>", png="iVBO"):
    series = {"xlabel": "step", "ylabel": label, "series": {"run": {"x": [1, 2, 3], "y": y}}}
    bundle = {"text/plain": alt, "text/html": picture, "image/png": png, SERIES_MIME: series}
    return {"output_type": "display_data", "data": bundle}


def error(ename="ValueError", evalue="bad"):
    return {"output_type": "error", "ename": ename, "evalue": evalue, "traceback": ["at /some/place"]}


SAME = [
    pytest.param([stream("a 1\n")], [stream("a 1\n")], id="equal text"),
    pytest.param([stream("a 1\nb 2\n")], [stream("a 1\n"), stream("b 2\n")], id="stream in two pieces"),
    pytest.param([stream("0.6000000000000001")], [stream("0.6000000000000002")], id="last digit of all"),
    pytest.param([result("-0.0")], [result("0.0")], id="zero of either sign"),
    pytest.param([figure([3.0, 2.0, 1.0])], [figure([3.0, 2.0, 1.000009])], id="curve within tolerance"),
    pytest.param([figure([1.0])], [figure([1.0], png="iVBP")], id="another PNG of the same numbers"),
    pytest.param([figure(["nan", 1.0])], [figure(["nan", 1.0])], id="points without a number"),
    pytest.param([error()], [{**error(), "traceback": []}], id="another traceback"),
    pytest.param([stream(measured(1.5, "s"))], [stream(measured(2.5, "s"))], id="measured value"),
    pytest.param(
        [stream(f"a{measured(1.24, 's'):>20}|")],
        [stream(f"a{measured(12.2, 's'):>20}|")],
        id="measured values in a column",
    ),
    pytest.param([data([1, {"a": 2}])], [data([1, {"a": 2}])], id="equal JSON"),
    pytest.param([data(None)], [data(None)], id="JSON null"),
]

DIFFERENT = [
    pytest.param([stream("12 words")], [stream("13 words")], id="integer"),
    pytest.param([stream("1")], [stream("1.0")], id="integer against float"),
    pytest.param([stream("0.90")], [stream("0.9")], id="one digit less"),
    pytest.param([stream("+1.0")], [stream("1.0")], id="no plus"),
    pytest.param([stream("loss 1.23456789012")], [stream("loss 1.23456789013")], id="float beyond tolerance"),
    pytest.param([stream("the tide clock")], [stream("the time clock")], id="generated text"),
    pytest.param([stream("a\n")], [stream("a \n")], id="one space"),
    pytest.param([stream("x 1")], [stream("x -1")], id="sign"),
    pytest.param([result("nan")], [result("1.0")], id="not a number"),
    pytest.param([figure([3.0, 2.0, 1.0])], [figure([3.0, 2.02, 1.0])], id="one point moved by 1 %"),
    pytest.param([figure([3.0, 2.0, 0.01])], [figure([3.0, 2.0, 0.0101])], id="a small point moved by 1 %"),
    pytest.param([figure([3.0, 1.0])], [figure([3.0, 1.00002])], id="two units in the sixth digit"),
    pytest.param([figure([3.0, 1e-25])], [figure([3.0, 2e-25])], id="a point on a logarithmic axis"),
    pytest.param(
        [figure([[1, 60], [1.0, 1e-12]])], [figure([[1, 60], [1.0, 1e-9]])], id="in a row of its own"
    ),
    pytest.param([figure([3.0, 0.0])], [figure([3.0, 1e-17])], id="zero against nearly zero"),
    pytest.param([figure([3.0, 2.0])], [figure([3.0, 2.0, 1.0])], id="one point more"),
    pytest.param([figure([3.0])], [figure([3.0], label="accuracy")], id="axis label"),
    pytest.param([figure([3.0], alt="up")], [figure([3.0], alt="down")], id="description"),
    pytest.param([stream("a")], [], id="missing output"),
    pytest.param([], [stream("a")], id="new output"),
    pytest.param([stream("a")], [stream("a", name="stderr")], id="another stream"),
    pytest.param([stream("a"), result("1")], [result("1"), stream("a")], id="another order"),
    pytest.param([result("1")], [result("1", **{"text/html": "<b>1</b>"})], id="one more representation"),
    pytest.param(
        [result("1", **{"text/html": "<b>1</b>"})], [result("1", **{"text/html": "<i>1</i>"})], id="html"
    ),
    pytest.param([error()], [error(ename="TypeError")], id="error type"),
    pytest.param([error()], [error(evalue="worse")], id="error message"),
    pytest.param([error()], [], id="no error"),
    pytest.param([stream("sha 12345678e2ab")], [stream("sha 12345679e2ab")], id="hash"),
    pytest.param([stream("layer2 1e5b")], [stream("layer3 1e5b")], id="number in a name"),
    pytest.param([data(["a", "bc"])], [data(["ab", "c"])], id="JSON list"),
    pytest.param([figure([20000])], [figure([20001])], id="integer in a series"),
    pytest.param([figure([1.0])], [figure([True])], id="truth value in a series"),
    pytest.param(
        [figure([1.0], alt="up to 0.1234")], [figure([1.0], alt="up to 0.1235")], id="number in description"
    ),
    pytest.param([figure([1.0])], [figure([1.0], picture="")], id="empty picture"),
    pytest.param([figure([1.0])], [figure([1.0], png="")], id="empty PNG"),
    pytest.param(
        [stream(f"n=12,{measured(1.5, 's')}")],
        [stream(f"n=13,{measured(1.5, 's')}")],
        id="integer glued to a measured value",
    ),
    pytest.param(
        [stream("took " + measured(1, "s"))],
        [stream("tock " + measured(1, "s"))],
        id="words by a measured value",
    ),
    pytest.param([stream(measured(1, "s"))], [stream(measured(1, "ms"))], id="unit of a measured value"),
    pytest.param(
        [stream("2 in " + measured(1, "s"))],
        [stream("3 in " + measured(1, "s"))],
        id="integer by a measured value",
    ),
]


@pytest.mark.parametrize(("recorded", "new"), SAME)
def test_comparison_accepts(recorded, new):
    assert differences(recorded, new) == []


@pytest.mark.parametrize(("recorded", "new"), DIFFERENT)
def test_comparison_rejects(recorded, new):
    assert differences(recorded, new)


def test_a_picture_without_data_is_rejected():
    picture = {"output_type": "display_data", "data": {"image/png": "abcd", "text/plain": "<Figure>"}}
    assert "d2lrnn.show" in differences([picture], [copy.deepcopy(picture)])[0]


def test_difference_names_the_point_that_moved():
    assert "point 1: recorded 2.0, got 2.02" in differences([figure([3.0, 2.0])], [figure([3.0, 2.02])])[0]


@pytest.mark.parametrize("value", [0.00012345, 1.5, 123456.0, 2.5e7, -3.0])
def test_measured_values_of_any_size_are_masked(value):
    assert mask_measured(f"took {measured(value, 'tokens/s')}.") == "took <measured> tokens/s (measured) ."


def test_equal_outputs_deviate_nowhere():
    assert deviations([figure([3.0, 2.0])], [figure([3.0, 2.0])]) == []


@pytest.mark.parametrize(
    ("recorded", "new", "kind", "size"),
    [
        (stream("0.5 1.0"), stream("0.5 1.000000000000001"), "printed", 1.11e-15),
        (figure([4.0]), figure([4.000004]), "series", 1e-6),
        (figure([1.0], alt="up to 0.5"), figure([1.0], alt="up to 0.500000000000001"), "printed", 2e-15),
    ],
)
def test_a_number_within_tolerance_deviates_by_its_relative_size(recorded, new, kind, size):
    (found,) = deviations([recorded], [new])
    assert found.kind == kind
    assert found.size == pytest.approx(size, rel=1e-3)
    assert found.allowed == TOLERANCES[kind] > found.size


def test_a_printed_float_is_told_as_it_was_printed():
    assert differences([stream("loss 0.91")], [stream("loss 0.90")])[0].endswith("recorded 0.91, got 0.90")


def test_words_deviate_without_bound():
    (found,) = deviations([stream("tide")], [stream("time")])
    assert found.size == float("inf")
    assert found.kind == ""
