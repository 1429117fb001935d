"""Checks for the chapter on reading long sequences."""

from __future__ import annotations

from collections.abc import Callable

from d2lrnn.check._run import Case, own_settings, run


@own_settings()
def num_batches(function: Callable[..., object]) -> None:
    """Check ``num_batches(num_tokens, offset, batch_size, num_steps)``: whole batches in a pass, an int."""
    hints = {
        (35, 0, 2, 5): "34 tokens have a successor, which makes 6 windows of 5 and 3 batches of 2.",
        (31, 0, 2, 5): "The last token can be a label only: 30 inputs fill 3 batches exactly.",
        (30, 0, 2, 5): "29 tokens have a successor, one too few for a third batch.",
        (34, 4, 2, 5): "The offset is dropped first, which leaves 29 inputs.",
        (100, 2, 4, 6): "A batch takes batch_size * num_steps inputs.",
        (10, 3, 4, 2): "Too few inputs for one batch make none.",
    }
    cases = [Case(sizes, (sizes[0] - 1 - sizes[1]) // (sizes[2] * sizes[3]), hints[sizes]) for sizes in hints]
    run("num_batches", function, cases)


@own_settings()
def padding_share(function: Callable[..., object]) -> None:
    """Check ``padding_share(lengths, batch_size)``: the share of padding among all places of all batches.

    Sentences of these lengths are put into batches in the order given, and each batch is filled up to its
    own longest sentence. The last batch may have fewer sentences.
    """
    cases = [
        Case(([4, 4], 2), 0.0, "Equal lengths need no padding."),
        Case(([4, 2], 2), 0.25, "Two of the eight places are padding."),
        Case(([9, 9, 1, 1], 2), 0.0, "Each batch is filled up to its own longest sentence."),
        Case(([5, 1, 3], 2), 4 / 13, "The last batch may have fewer sentences, and counts."),
        Case(([1, 3, 2, 6], 2), 6 / 18, "All places count the same: do not average over batches."),
        Case(([7], 3), 0.0, "A sentence alone needs no padding."),
    ]
    run("padding_share", function, cases)
