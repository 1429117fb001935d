"""Common wrong answers to the exercises on reading long sequences."""

import math


def forgets_the_label(num_tokens, offset, batch_size, num_steps):
    return (num_tokens - offset) // (batch_size * num_steps)


def forgets_the_offset(num_tokens, offset, batch_size, num_steps):
    return (num_tokens - 1) // (batch_size * num_steps)


def counts_a_broken_batch(num_tokens, offset, batch_size, num_steps):
    return math.ceil((num_tokens - 1 - offset) / (batch_size * num_steps))


def counts_windows(num_tokens, offset, batch_size, num_steps):
    return (num_tokens - 1 - offset) // num_steps


def pads_all_to_one_length(lengths, batch_size):
    return 1 - sum(lengths) / (len(lengths) * max(lengths))


def drops_the_last_batch(lengths, batch_size):
    batches = [lengths[i : i + batch_size] for i in range(0, len(lengths) - batch_size + 1, batch_size)]
    places = sum(max(batch) * len(batch) for batch in batches)
    return 1 - sum(map(sum, batches)) / max(places, 1)


def mean_over_batches(lengths, batch_size):
    batches = [lengths[i : i + batch_size] for i in range(0, len(lengths), batch_size)]
    return sum(1 - sum(batch) / (max(batch) * len(batch)) for batch in batches) / len(batches)


def share_of_the_real_tokens(lengths, batch_size):
    batches = [lengths[i : i + batch_size] for i in range(0, len(lengths), batch_size)]
    return sum(max(batch) * len(batch) - sum(batch) for batch in batches) / sum(lengths)


def fills_the_last_batch_with_empty_rows(lengths, batch_size):
    batches = [lengths[i : i + batch_size] for i in range(0, len(lengths), batch_size)]
    return 1 - sum(lengths) / sum(max(batch) * batch_size for batch in batches)


WRONG = {
    "num_batches": [forgets_the_label, forgets_the_offset, counts_a_broken_batch, counts_windows],
    "padding_share": [
        pads_all_to_one_length,
        drops_the_last_batch,
        mean_over_batches,
        share_of_the_real_tokens,
        fills_the_last_batch_with_empty_rows,
    ],
}
