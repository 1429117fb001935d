"""What `VanillaRNN` claims of its speed, for 8,000 words and 100 hidden units, on one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, embedding

from benchmarks.claims import Claim, ratio
from d2lrnn.gradients.vanilla import VanillaRNN

VOCAB_SIZE, NUM_HIDDENS, NUM_STEPS = 8_000, 100, 500


def claims() -> Iterator[Claim]:
    """Compare one pass with the double loop and with autograd, and the time per word of longer texts."""
    model = VanillaRNN.init(VOCAB_SIZE, NUM_HIDDENS, seed=0)
    text = np.random.default_rng(0).integers(VOCAB_SIZE, size=10_001)
    T, x, y = NUM_STEPS, text[:NUM_STEPS], text[1 : NUM_STEPS + 1]
    what = f"gradients of {model.num_parameters:,} parameters over {T} words"

    def one_pass(length: int = T) -> Callable[[], object]:
        return lambda: model.gradients(text[:length], text[1 : length + 1])

    with one_thread():
        figure = ratio(lambda: model.gradients_double_loop(x, y, tau=T), one_pass(), repeats=3)
        yield Claim(f"{what}, times as fast as the double loop with tau = {T}", figure, at_least=12)
        for dtype in (torch.float64, torch.float32):
            autograd = Autograd(model, dtype)
            figure = 1 / ratio(partial(autograd.gradients, x, y), one_pass(), repeats=11)
            yield Claim(f"{what}, time relative to autograd's in {autograd.dtype}", figure, at_most=4)
        for length, shorter, repeats in ((1_000, 100, 11), (10_000, 1_000, 3)):
            figure = ratio(one_pass(length), one_pass(shorter), repeats) * shorter / length
            what = f"gradients over {length:,} words: time per word relative to that of {shorter:,}"
            yield Claim(what, figure, at_most=1.5)


class Autograd:
    """The same network and loss in PyTorch, with an embedding look-up for the one-hot product."""

    def __init__(self, model: VanillaRNN, dtype: torch.dtype) -> None:
        weights = (model.U.T, model.V, model.W)
        self.weights = [torch.tensor(w, dtype=dtype).requires_grad_() for w in weights]
        self.dtype = str(dtype).removeprefix("torch.")

    def gradients(self, x: np.ndarray, y: np.ndarray) -> tuple[Tensor, ...]:
        """Return the gradients of U^T, V and W."""
        E, V, W = self.weights
        s, states = E.new_zeros(len(W)), []
        for e in embedding(torch.from_numpy(x), E):  # (H,)
            s = torch.tanh(e + W @ s)
            states.append(s)
        loss = cross_entropy(torch.stack(states) @ V.T, torch.from_numpy(y), reduction="sum")
        return torch.autograd.grad(loss, self.weights)


@contextmanager
def one_thread() -> Iterator[None]:
    """Have PyTorch use one thread."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
