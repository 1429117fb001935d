"""Batch iterators as textbooks write them, for comparison: from a list, by slices that become tensors."""

from __future__ import annotations

import random
from collections.abc import Iterator

import torch
from torch import Tensor


def random_batches(corpus: list[int], batch_size: int, num_steps: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield batches of windows that are cut from the list one by one."""
    corpus = corpus[random.randint(0, num_steps - 1) :]
    num_windows = (len(corpus) - 1) // num_steps
    starts = list(range(0, num_windows * num_steps, num_steps))
    random.shuffle(starts)
    for i in range(0, num_windows // batch_size * batch_size, batch_size):
        batch = starts[i : i + batch_size]
        X = [corpus[j : j + num_steps] for j in batch]
        Y = [corpus[j + 1 : j + 1 + num_steps] for j in batch]
        yield torch.tensor(X), torch.tensor(Y)


def sequential_batches(corpus: list[int], batch_size: int, num_steps: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield slices of two tensors of rows, which every pass makes from the list."""
    offset = random.randint(0, num_steps - 1)
    num_tokens = (len(corpus) - offset - 1) // batch_size * batch_size
    Xs = torch.tensor(corpus[offset : offset + num_tokens]).reshape(batch_size, -1)
    Ys = torch.tensor(corpus[offset + 1 : offset + 1 + num_tokens]).reshape(batch_size, -1)
    for i in range(0, Xs.shape[1] // num_steps * num_steps, num_steps):
        yield Xs[:, i : i + num_steps], Ys[:, i : i + num_steps]
