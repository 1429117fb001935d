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
    torch.testing.assert_close(noisy_sine(700, noise=0, seed=0), expected, rtol=0, atol=1e-15)


def test_first_value_is_that_of_step_one():
    assert noisy_sine(1, noise=0, seed=0).tolist() == [math.sin(0.01)]


def test_defaults_are_a_thousand_steps_with_noise_of_a_fifth():
    noise = noisy_sine(seed=0) - noisy_sine(noise=0, seed=0)
    assert (len(noise), round(noise.std().item(), 1)) == (1000, 0.2)


def test_noise_is_numpy_s_normal_scaled():
    noise = noisy_sine(50, noise=0.5, seed=3) - noisy_sine(50, noise=0, seed=0)
    expected = 0.5 * torch.from_numpy(np.random.default_rng(3).normal(size=50))
    torch.testing.assert_close(noise, expected, rtol=0, atol=1e-12)


def test_sine_is_float64():
    assert noisy_sine(3, seed=0).dtype == torch.float64


def test_same_seed_gives_the_same_series():
    assert torch.equal(noisy_sine(seed=5), noisy_sine(seed=5))


def test_another_seed_gives_another_series():
    assert not torch.equal(noisy_sine(seed=5), noisy_sine(seed=6))


def test_longer_series_begins_with_the_shorter_one():
    assert torch.equal(noisy_sine(100, seed=0)[:40], noisy_sine(40, seed=0))


def test_sine_leaves_global_random_state_alone():
    np.random.seed(0)  # noqa: NPY002  # the global state is what this is about
    torch.manual_seed(0)
    before = np.random.get_state()[1].copy(), torch.get_rng_state()  # noqa: NPY002
    noisy_sine(seed=0)
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
        ({"seed": 1.5}, TypeError, "seed must be an integer, got 1.5"),
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
    x = noisy_sine(50, seed=0)
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
    x = noisy_sine(tau + k + more, seed=0)
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
    x = noisy_sine(tau + k + more, seed=0)
    t = data.draw(st.integers(tau, len(x) - k))
    changed = x.clone()
    changed[t:] = 1e6
    assert forecast(uneven, changed, tau, k)[t - tau] == forecast(uneven, x, tau, k)[t - tau]


@given(sizes, st.data())
def test_forecast_from_t_uses_each_of_the_tau_values_before_t_at_one_step(size, data):
    tau, _, more = size
    x = noisy_sine(tau + 1 + more, seed=0)
    t = data.draw(st.integers(tau, len(x) - 1))
    changed = x.clone()
    changed[data.draw(st.integers(t - tau, t - 1))] += 1
    assert forecast(uneven, changed, tau, 1)[t - tau] != forecast(uneven, x, tau, 1)[t - tau]


@given(sizes, st.data())
def test_forecast_from_t_does_not_use_what_is_older_than_tau_steps(size, data):
    tau, k, more = size
    x = noisy_sine(tau + k + more, seed=0)
    t = data.draw(st.integers(tau, len(x) - k))
    changed = x.clone()
    changed[: t - tau] = 1e6
    assert forecast(uneven, changed, tau, k)[t - tau] == forecast(uneven, x, tau, k)[t - tau]


def test_forecast_does_not_change_the_series():
    x = noisy_sine(20, seed=0)
    forecast(uneven, x, 2, 5)
    assert torch.equal(x, noisy_sine(20, seed=0))


def test_forecast_carries_no_gradient():
    layer = torch.nn.Linear(2, 1, dtype=torch.float64)
    assert not forecast(layer, noisy_sine(20, seed=0), 2, 3).requires_grad


def test_pairs_can_be_written_to_without_a_change_to_the_series():
    x = noisy_sine(20, seed=0)
    for tau in (1, 3):
        features, labels = lagged(x, tau)
        expected = labels.clone()
        features.zero_()
        assert torch.equal(labels, expected)
        labels.zero_()
    assert torch.equal(x, noisy_sine(20, seed=0))


def test_gradients_flow_through_pairs_to_the_series():
    x = noisy_sine(20, seed=0).requires_grad_()
    features, labels = lagged(x, 3)
    (features.sum() + labels.sum()).backward()
    assert x.grad[5].item() == 4  # 3 times a feature, and once a label


@pytest.mark.parametrize("tau", [1, 2])
def test_a_model_that_writes_to_its_windows_changes_neither_the_series_nor_the_next_windows(tau):
    x = noisy_sine(20, seed=0)
    found = forecast(lambda windows: windows.mul_(2)[:, -1:], x, tau, 3)
    assert torch.equal(found, 8 * x[tau - 1 : -3])
    assert torch.equal(x, noisy_sine(20, seed=0))


def test_a_forecast_is_not_the_model_s_own_tensor():
    own = torch.zeros(18, 1, dtype=torch.float64)
    forecast(lambda _: own, noisy_sine(20, seed=0), 2, 1).add_(1)
    assert not own.any()


def test_each_part_of_a_module_gets_its_own_mode_back():
    model = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Dropout(0.5)).double()
    model[1].eval()
    forecast(model, noisy_sine(30, seed=0), 2, 3)
    assert [part.training for part in model.modules()] == [True, True, False]


@pytest.mark.parametrize("wrong", [NAN, math.inf, -math.inf])
def test_predictions_that_are_not_finite_are_an_error_that_names_the_step(wrong):
    calls = []

    def diverging(windows):
        calls.append(1)
        return windows[:, -1:] * (wrong if len(calls) == 3 else 1)

    with pytest.raises(ValueError, match=r"finite predictions, got -?(nan|inf) 3 step\(s\) ahead"):
        forecast(diverging, noisy_sine(30, seed=0), 2, 5)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [(None, "NoneType"), (np.zeros((18, 1)), "ndarray"), (torch.zeros(18, 1).int(), r"torch\.int32")],
)
def test_predictions_that_are_no_floats_are_refused(answer, kind):
    with pytest.raises(TypeError, match=f"model must return a tensor of floats, got {kind}"):
        forecast(lambda _: answer, noisy_sine(20, seed=0), 2, 1)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_a_series_of_any_floats_is_forecast_in_them(dtype):
    model = torch.nn.Linear(2, 1).to(dtype)
    assert forecast(model, noisy_sine(20, seed=0).to(dtype), 2, 3).dtype == dtype


def test_settings_of_torch_s_change_no_forecast():
    def compute():
        x = noisy_sine(30, seed=1)
        return forecast(lambda windows: windows.mean(1, keepdim=True), x, 3, 4), *lagged(x, 3)

    expected, default = compute(), torch.get_default_dtype()
    torch.set_default_dtype(torch.float16)
    try:
        with torch.device("meta"), torch.inference_mode():
            found = compute()
    finally:
        torch.set_default_dtype(default)
    assert all(map(torch.equal, found, expected))


def test_a_sine_made_in_inference_mode_can_be_trained_on():
    with torch.inference_mode():
        x = noisy_sine(10, seed=0)
    layer = torch.nn.Linear(10, 1, dtype=torch.float64)
    layer(x).sum().backward()
    assert layer.weight.grad is not None


def test_a_generator_is_a_seed_of_the_sine():
    one, other = (noisy_sine(9, seed=torch.Generator().manual_seed(3)) for _ in range(2))
    assert torch.equal(one, other)


def test_no_seed_gives_another_sine_each_time():
    assert not torch.equal(noisy_sine(9), noisy_sine(9))


@pytest.mark.parametrize("call", [lambda x: lagged(x, 1), lambda x: forecast(uneven, x, 1, 1)])
@pytest.mark.parametrize(
    ("x", "kind"), [(torch.zeros(9, device="meta"), "meta"), (torch.ones(9).to_sparse(), "sparse")]
)
def test_a_series_without_values_is_an_error(call, x, kind):
    with pytest.raises(TypeError, match=f"x must be a dense tensor that holds its values, got a {kind} one"):
        call(x)


@pytest.mark.parametrize("training", [True, False])
def test_module_gets_its_mode_back(training):
    model = torch.nn.Linear(2, 1, dtype=torch.float64).train(training)
    forecast(model, noisy_sine(20, seed=0), 2, 3)
    assert model.training == training


def test_module_runs_in_evaluation_mode():
    linear = torch.nn.Linear(2, 1, dtype=torch.float64)
    model = torch.nn.Sequential(linear, torch.nn.Dropout(0.5))
    expected = forecast(lambda windows: linear(windows), noisy_sine(20, seed=0), 2, 3)
    assert torch.equal(forecast(model, noisy_sine(20, seed=0), 2, 3), expected)


def test_module_gets_its_mode_back_after_an_error():
    model = torch.nn.Linear(3, 1, dtype=torch.float64)  # for three lags, and two are given
    with pytest.raises(RuntimeError):
        forecast(model, noisy_sine(20, seed=0), 2, 3)
    assert model.training


@pytest.mark.parametrize("result", [lambda w: w[:, 0], lambda w: w, lambda w: w[1:, :1]])
def test_predictions_of_another_shape_are_refused(result):
    message = r"model must map windows of shape \(18, 2\) to predictions of shape \(18, 1\)"
    with pytest.raises(ValueError, match=message):
        forecast(result, noisy_sine(20, seed=0), 2, 1)


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


def test_pairs_made_in_inference_mode_can_be_trained_on():
    with torch.inference_mode():
        features, labels = lagged(ramp(6), 2)
    weights = torch.ones(2, 1, dtype=torch.float64, requires_grad=True)
    ((features @ weights - labels) ** 2).sum().backward()
    assert weights.grad is not None


def test_forecasts_made_in_inference_mode_can_be_trained_on():
    with torch.inference_mode():
        made = forecast(newest, ramp(6), 2, 1)
    assert not made.is_inference()


def test_pairs_made_in_inference_mode_have_no_gradient():
    with torch.inference_mode():
        features, _ = lagged(ramp(6).requires_grad_(), 2)
    assert not features.requires_grad


@pytest.mark.parametrize("num_steps", [10**13, 10**30, 10**5000], ids=["1e13", "1e30", "1e5000"])
def test_too_many_steps_for_memory_are_refused(num_steps):
    with pytest.raises(ValueError, match="num_steps must be so few that they fit in memory"):
        noisy_sine(num_steps)


def test_noise_too_large_for_a_float_is_refused():
    with np.errstate(all="raise"), pytest.raises(ValueError, match="noise must be small enough"):
        noisy_sine(200, 1.7e308, 0)


def test_a_huge_tau_is_refused_by_name():
    with pytest.raises(ValueError, match="x must hold at least"):
        lagged(ramp(6), 10**5000)
