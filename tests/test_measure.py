import pytest

from d2lrnn import measured


def test_measured_value_has_three_digits_and_is_marked():
    assert measured(1.23456, "s") == "1.23 s (measured)"


def test_large_measured_values_are_written_out():
    assert measured(113_800, "tokens/s") == "114,000 tokens/s (measured)"


@pytest.mark.parametrize(
    ("value", "unit", "message"),
    [
        (float("nan"), "s", "value must be finite, got nan"),
        (1.0, "", "unit must be one word, got ''"),
        (1.0, "tokens a second", "unit must be one word"),
    ],
)
def test_bad_measurements_are_named(value, unit, message):
    with pytest.raises(ValueError, match=message):
        measured(value, unit)


@pytest.mark.parametrize(("value", "unit"), [("1", "s"), (True, "s"), (1.0, None)])
def test_measurements_of_the_wrong_type_are_refused(value, unit):
    with pytest.raises(TypeError, match="must be a"):
        measured(value, unit)
