"""The noisy sine, windows of lagged values, and forecasts several steps ahead."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.tsa.ar_model import AutoReg

from d2lrnn import forecast, lagged, noisy_sine

NAN, INF = float("nan"), float("inf")


def ramp(length):
    return torch.arange(length, dtype=torch.float64)


def newest(windows):
    """Predict that the newest value comes again."""
    return windows[:, -1:]


def uneven(windows):
    """Return a prediction to which every lag contributes, each in its own way."""
    weights = torch.linspace(0.3, 0.7, windows.shape[1], dtype=windows.dtype)
    return torch.tanh(windows @ weights[:, None]) + 0.1


sizes = st.tuples(st.integers(1, 6), st.integers(1, 8), st.integers(0, 12))  # tau, k, steps to spare

# noisy_sine


def test_sine_without_noise_is_the_sine():
    expected = torch.tensor([math.sin(0.01 * t) for t in range(1, 701)], dtype=torch.float64)
    torch.testing.assert_close(noisy_sine(700, noise=0), expected, rtol=0, atol=1e-15)


def test_first_value_is_that_of_step_one():
    assert noisy_sine(1, noise=0).tolist() == [math.sin(0.01)]


def test_defaults_are_a_thousand_steps_with_noise_of_a_fifth():
    noise = noisy_sine() - noisy_sine(noise=0)
    assert (len(noise), round(noise.std().item(), 1)) == (1000, 0.2)


def test_noise_is_numpy_s_normal_scaled():
    noise = noisy_sine(50, noise=0.5, seed=3) - noisy_sine(50, noise=0)
    expected = 0.5 * torch.from_numpy(np.random.default_rng(3).normal(size=50))
    torch.testing.assert_close(noise, expected, rtol=0, atol=1e-12)


def test_sine_is_float64():
    assert noisy_sine(3).dtype == torch.float64


def test_same_seed_gives_the_same_series():
    assert torch.equal(noisy_sine(seed=5), noisy_sine(seed=5))


def test_another_seed_gives_another_series():
    assert not torch.equal(noisy_sine(seed=5), noisy_sine(seed=6))


def test_longer_series_begins_with_the_shorter_one():
    assert torch.equal(noisy_sine(100)[:40], noisy_sine(40))


def test_sine_leaves_global_random_state_alone():
    np.random.seed(0)  # noqa: NPY002  # the global state is what this is about
    torch.manual_seed(0)
    before = np.random.get_state()[1].copy(), torch.get_rng_state()  # noqa: NPY002
    noisy_sine()
    after = np.random.get_state()[1], torch.get_rng_state()  # noqa: NPY002
    assert np.array_equal(before[0], after[0])
    assert torch.equal(before[1], after[1])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"num_steps": 0}, ValueError, "num_steps must be at least 1, got 0"),
        ({"num_steps": 2.0}, TypeError, "num_steps must be an integer, got 2.0"),
        ({"num_steps": True}, TypeError, "num_steps must be an integer, got True"),
        ({"noise": -0.1}, ValueError, "noise must be at least 0, got -0.1"),
        ({"noise": NAN}, ValueError, "noise must be finite, got nan"),
        ({"noise": "0.2"}, TypeError, "noise must be a number, got '0.2'"),
        ({"seed": -1}, ValueError, "seed must be at least 0, got -1"),
        ({"seed": None}, TypeError, "seed must be an integer, got None"),
    ],
)
def test_bad_argument_of_the_sine_is_named(arguments, error, message):
    with pytest.raises(error, match=message):
        noisy_sine(**arguments)


# lagged


def test_features_are_oldest_first_and_the_label_follows_them():
    features, labels = lagged(ramp(5), 2)
    assert features.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert labels.tolist() == [[2], [3], [4]]


@given(st.integers(1, 6), st.integers(1, 20))
def test_there_is_one_pair_for_each_step_after_the_first_tau(tau, more):
    features, labels = lagged(ramp(tau + more), tau)
    assert (features.shape, labels.shape) == ((more, tau), (more, 1))


@given(st.integers(1, 6), st.integers(1, 20))
def test_row_i_is_for_step_tau_plus_i(tau, more):
    features, labels = lagged(ramp(tau + more), tau)
    for i in range(more):
        assert features[i].tolist() == list(range(i, i + tau))
        assert labels[i].item() == tau + i


def test_pairs_keep_the_dtype():
    features, labels = lagged(torch.arange(4.0), 2)
    assert (features.dtype, labels.dtype) == (torch.float32, torch.float32)


@pytest.mark.parametrize("p", [1, 2, 5])
def test_least_squares_on_pairs_gives_statsmodels_coefficients(p):
    x = noisy_sine(400, seed=1)
    features, labels = lagged(x, p)
    A = torch.cat([torch.ones(len(features), 1, dtype=x.dtype), features.flip(1)], 1)
    ours = torch.linalg.lstsq(A, labels, driver="gelsd").solution[:, 0]
    theirs = torch.from_numpy(AutoReg(x.numpy(), p).fit().params)
    torch.testing.assert_close(ours, theirs, rtol=1e-8, atol=1e-8)


# forecast


def test_one_step_ahead_is_the_model_on_each_window():
    x = noisy_sine(50)
    features, _ = lagged(x, 3)
    assert torch.equal(forecast(uneven, x, 3, 1), uneven(features).squeeze(1))


def test_repeating_the_newest_value_forecasts_the_value_k_steps_before():
    assert forecast(newest, ramp(10), 3, 4).tolist() == [2, 3, 4, 5]


def test_rule_that_holds_is_forecast_exactly_at_any_horizon():
    x = ramp(30)
    step_on = lambda windows: 2 * windows[:, -1:] - windows[:, -2:-1]  # noqa: E731
    for k in (1, 2, 7, 16):
        assert torch.equal(forecast(step_on, x, 2, k), x[2 + k - 1 :])


@given(sizes)
def test_forecasts_stand_beside_the_values_from_tau_plus_k_minus_1_on(size):
    tau, k, more = size
    x = ramp(tau + k + more)
    assert forecast(newest, x, tau, k).shape == x[tau + k - 1 :].shape


@given(sizes)
def test_forecast_is_the_loop_written_out_window_by_window(size):
    tau, k, more = size
    x = noisy_sine(tau + k + more)
    expected = []
    for t in range(tau, len(x) - k + 1):
        window = x[t - tau : t].tolist()
        for _ in range(k):
            prediction = uneven(torch.tensor([window], dtype=x.dtype)).item()
            window = [*window[1:], prediction]
        expected.append(prediction)
    torch.testing.assert_close(forecast(uneven, x, tau, k), torch.tensor(expected, dtype=x.dtype))


@given(sizes, st.data())
def test_forecast_from_t_does_not_change_with_anything_from_t_on(size, data):
    tau, k, more = size
    x = noisy_sine(tau + k + more)
    t = data.draw(st.integers(tau, len(x) - k))
    changed = x.clone()
    changed[t:] = 1e6
    assert forecast(uneven, changed, tau, k)[t - tau] == forecast(uneven, x, tau, k)[t - tau]


@given(sizes, st.data())
def test_forecast_from_t_uses_each_of_the_tau_values_before_t_at_one_step(size, data):
    tau, _, more = size
    x = noisy_sine(tau + 1 + more)
    t = data.draw(st.integers(tau, len(x) - 1))
    changed = x.clone()
    changed[data.draw(st.integers(t - tau, t - 1))] += 1
    assert forecast(uneven, changed, tau, 1)[t - tau] != forecast(uneven, x, tau, 1)[t - tau]


@given(sizes, st.data())
def test_forecast_from_t_does_not_use_what_is_older_than_tau_steps(size, data):
    tau, k, more = size
    x = noisy_sine(tau + k + more)
    t = data.draw(st.integers(tau, len(x) - k))
    changed = x.clone()
    changed[: t - tau] = 1e6
    assert forecast(uneven, changed, tau, k)[t - tau] == forecast(uneven, x, tau, k)[t - tau]


def test_forecast_does_not_change_the_series():
    x = noisy_sine(20)
    forecast(uneven, x, 2, 5)
    assert torch.equal(x, noisy_sine(20))


def test_forecast_carries_no_gradient():
    layer = torch.nn.Linear(2, 1, dtype=torch.float64)
    assert not forecast(layer, noisy_sine(20), 2, 3).requires_grad


@pytest.mark.parametrize("training", [True, False])
def test_module_gets_its_mode_back(training):
    model = torch.nn.Linear(2, 1, dtype=torch.float64).train(training)
    forecast(model, noisy_sine(20), 2, 3)
    assert model.training == training


def test_module_runs_in_evaluation_mode():
    linear = torch.nn.Linear(2, 1, dtype=torch.float64)
    model = torch.nn.Sequential(linear, torch.nn.Dropout(0.5))
    expected = forecast(lambda windows: linear(windows), noisy_sine(20), 2, 3)
    assert torch.equal(forecast(model, noisy_sine(20), 2, 3), expected)


def test_module_gets_its_mode_back_after_an_error():
    model = torch.nn.Linear(3, 1, dtype=torch.float64)  # for three lags, and two are given
    with pytest.raises(RuntimeError):
        forecast(model, noisy_sine(20), 2, 3)
    assert model.training


@pytest.mark.parametrize("result", [lambda w: w[:, 0], lambda w: w, lambda w: w[1:, :1]])
def test_predictions_of_another_shape_are_refused(result):
    message = r"model must map windows of shape \(18, 2\) to predictions of shape \(18, 1\)"
    with pytest.raises(ValueError, match=message):
        forecast(result, noisy_sine(20), 2, 1)


def with_value(value):
    x = ramp(10)
    x[4] = value
    return x


BAD_SERIES = [
    ([0.0] * 10, TypeError, "x must be a tensor, got list"),
    (torch.arange(10), TypeError, "x must hold floats, got a tensor of torch.int64"),
    (torch.zeros(10, 1), ValueError, r"x must have one axis, got shape \(10, 1\)"),
    (ramp(2), ValueError, r"x must hold at least 3 values here, got 2"),
    (with_value(NAN), ValueError, "x must be finite, got nan at index 4"),
    (with_value(-INF), ValueError, "x must be finite, got -inf at index 4"),
]


@pytest.mark.parametrize(("x", "error", "message"), BAD_SERIES)
def test_bad_series_is_named_by_lagged(x, error, message):
    with pytest.raises(error, match=message):
        lagged(x, 2)


@pytest.mark.parametrize(("x", "error", "message"), BAD_SERIES)
def test_bad_series_is_named_by_forecast(x, error, message):
    with pytest.raises(error, match=message):
        forecast(newest, x, 2, 1)


@pytest.mark.parametrize("name", ["tau", "k"])
@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (0, ValueError, "at least 1, got 0"),
        (-2, ValueError, "got -2"),
        (1.0, TypeError, "an integer, got 1.0"),
    ],
)
def test_bad_lag_or_horizon_is_named(name, value, error, message):
    arguments = {"tau": 2, "k": 2, name: value}
    with pytest.raises(error, match=f"{name} must be .*{message}"):
        forecast(newest, ramp(10), **arguments)


@pytest.mark.parametrize("tau", [0, 1.0])
def test_lagged_needs_a_positive_whole_number_of_lags(tau):
    with pytest.raises((TypeError, ValueError), match="tau must be"):
        lagged(ramp(10), tau)


def test_forecast_needs_as_many_values_as_lags_and_horizon():
    assert len(forecast(newest, ramp(7), 3, 4)) == 1
    with pytest.raises(ValueError, match="x must hold at least 7 values here, got 6"):
        forecast(newest, ramp(6), 3, 4)


def test_model_that_cannot_be_called_is_named():
    with pytest.raises(TypeError, match=r"model must be callable, got 0\.5 \(float\)"):
        forecast(0.5, ramp(10), 2, 1)
