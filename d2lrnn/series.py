"""Sequences of numbers: a noisy sine, windows of lagged values, and forecasts several steps ahead."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from d2lrnn import _support
from d2lrnn._support import numpy_silent, own, room_for, small_enough
from d2lrnn.modules import mode
from d2lrnn.reproducible import Seed, numpy_generator


@numpy_silent()
def noisy_sine(num_steps: int = 1000, noise: float = 0.2, seed: Seed = None) -> Tensor:
    """Return a slow sine with Gaussian noise: x_t = sin(0.01 t) + noise * N(0, 1) for t = 1..num_steps.

    Parameters
    ----------
    num_steps : int
        Number of steps, at least 1. One period is 200 pi, about 628 steps.
    noise : float
        Standard deviation of the noise, at least 0.
    seed : int, torch.Generator or None
        The same int gives the same noise, by NumPy's generator. From a generator one number is drawn. None
        draws from fresh entropy. Global random state is left alone.

    Returns
    -------
    Tensor of shape (num_steps,)
        float64. Index 0 holds t = 1. A longer series with the same seed begins with the shorter one.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, memory has no room for so many steps, or noise makes a value too
        large for a float.

    Notes
    -----
    The series of *Dive into Deep Learning*, section "Sequence Models".
    """
    num_steps = _support.integer("num_steps", num_steps, minimum=1)
    noise = _support.real("noise", noise, minimum=0)
    generator = numpy_generator(seed)
    room_for("num_steps", num_steps)
    t = np.arange(1, num_steps + 1)
    x = np.sin(0.01 * t) + noise * generator.normal(size=num_steps)
    small_enough("noise", x=x)
    with torch.inference_mode(mode=False):  # training can use it, wherever it is made
        return torch.from_numpy(x)


def lagged(x: Tensor, tau: int) -> tuple[Tensor, Tensor]:
    """Cut a series into pairs for one-step prediction: `tau` values, and the value that follows them.

    Row i is for t = tau + i: its features are x[t - tau], ..., x[t - 1], oldest first, its label is x[t].

    Parameters
    ----------
    x : Tensor of shape (T,)
        A series of finite floats, longer than `tau`.
    tau : int
        Number of lags, at least 1.

    Returns
    -------
    features : Tensor of shape (T - tau, tau)
    labels : Tensor of shape (T - tau, 1)
        Both are copies: what you do to them leaves `x` alone. Gradients flow back to it.

    Raises
    ------
    TypeError
        If `x` is not a dense tensor of floats, or `tau` is not an integer.
    ValueError
        If `x` does not have one axis, is not longer than `tau` or holds a value that is not finite, or if
        `tau` is below 1.
    """
    tau = _support.integer("tau", tau, minimum=1)
    x = _series(x, tau + 1)
    return own(x[:-1].unfold(0, tau, 1)), own(x[tau:].unsqueeze(1))


def forecast(model: Callable[[Tensor], Tensor], x: Tensor, tau: int, k: int) -> Tensor:
    """Predict a series `k` steps ahead from every place where what came can be compared.

    For each t = tau..T-k, x[t + k - 1] is predicted from x[t - tau : t] alone: the model predicts x[t], its
    prediction is put at the end of the window, whose oldest value goes, and so on until `k` predictions are
    made. Nothing from t on is read.

    Parameters
    ----------
    model : callable
        Maps windows of shape (n, tau), oldest value first, to predictions of shape (n, 1), finite floats. It
        runs without gradients, on windows of its own to write to; a torch Module runs in evaluation mode, and
        each of its parts gets its mode back.
    x : Tensor of shape (T,)
        A series of finite floats, with T of at least tau + k.
    tau : int
        Number of lags that the model reads, at least 1.
    k : int
        How many steps ahead, at least 1; with k = 1 nothing is fed back.

    Returns
    -------
    Tensor of shape (T - tau - k + 1,)
        Of the model's dtype. Item i is for t = tau + i: it predicts x[tau + i + k - 1]. So the forecasts
        stand beside ``x[tau + k - 1 :]``, item by item.

    Raises
    ------
    TypeError
        If `model` cannot be called or does not return a tensor of floats, if `x` is not a dense tensor of
        floats, or if `tau` or `k` is not an integer.
    ValueError
        If `x` does not have one axis, is too short or holds a value that is not finite, if `tau` or `k` is
        below 1, or if the model's predictions are not of shape (n, 1), or not finite: from infinity or nan
        fed back, nothing can be predicted.

    Notes
    -----
    The iterated, or recursive, forecast: S. Ben Taieb, G. Bontempi, A. F. Atiya and A. Sorjamaa (2012), "A
    review and comparison of strategies for multi-step ahead time series forecasting".
    """
    if not callable(model):
        raise TypeError(f"model must be callable, got {_support.shown(model)}")
    tau = _support.integer("tau", tau, minimum=1)
    k = _support.integer("k", k, minimum=1)
    x = _series(x, tau + k)
    windows = x[: len(x) - k].unfold(0, tau, 1)  # (n, tau), one window for each t
    with mode(model, training=False), torch.no_grad():
        for step in range(1, k + 1):
            predictions = _predictions(model, windows, step)  # (n, 1)
            windows = torch.cat([windows[:, 1:], predictions], 1)
    return own(predictions.squeeze(1))  # the model's own tensor stays with the model


def _predictions(model: Callable[[Tensor], Tensor], windows: Tensor, step: int) -> Tensor:
    """Return what a model predicts, or raise unless it is one finite float for each window."""
    predictions = model(windows.clone())
    if not isinstance(predictions, Tensor) or not predictions.is_floating_point():
        kind = predictions.dtype if isinstance(predictions, Tensor) else type(predictions).__name__
        raise TypeError(f"model must return a tensor of floats, got {kind}")
    if predictions.shape != (len(windows), 1):
        raise ValueError(
            f"model must map windows of shape {tuple(windows.shape)} to predictions of shape "
            f"{(len(windows), 1)}, got {tuple(predictions.shape)}"
        )
    finite = torch.isfinite(predictions)
    if not finite.all():
        wrong = predictions[~finite][0].item()
        raise ValueError(f"model must make finite predictions, got {wrong} {step} step(s) ahead")
    return predictions


def _series(x: Tensor, minimum: int) -> Tensor:
    """Return `x`, or raise unless it is a 1-D tensor of at least `minimum` finite floats."""
    if not isinstance(x, Tensor):
        raise TypeError(f"x must be a tensor, got {type(x).__name__}")
    if not x.is_floating_point():
        raise TypeError(f"x must hold floats, got a tensor of {x.dtype}")
    _support.dense("x", x)
    if x.ndim != 1:
        raise ValueError(f"x must have one axis, got shape {tuple(x.shape)}")
    if len(x) < minimum:
        raise ValueError(f"x must hold at least {_support.short(minimum)} values here, got {len(x)}")
    finite = torch.isfinite(x)
    if not finite.all():
        first = int((~finite).nonzero()[0])
        raise ValueError(f"x must be finite, got {x[first].item()} at index {first}")
    return x
