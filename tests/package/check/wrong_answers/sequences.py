"""Common wrong answers to the exercises on sequences and on autoregressive models."""

import torch
from torch.nn.utils.rnn import pad_sequence


def one_too_few(num_steps, width, stride):
    return max(0, (num_steps - width) // stride)


def forgets_the_stride(num_steps, width, stride):
    return max(0, num_steps - width + 1)


def counts_a_window_beyond_the_end(num_steps, width, stride):
    return max(0, -(-(num_steps - width) // stride) + 1)


def divides_first(num_steps, width, stride):
    return num_steps // stride - width // stride + 1


def fewer_than_none(num_steps, width, stride):
    return (num_steps - width) // stride + 1


def rounds_toward_zero(num_steps, width, stride):
    return max(0, int((num_steps - width) / stride) + 1)


def plain_mean(batch, lengths):
    return batch.mean(1)


def takes_zeros_for_filling(batch, lengths):
    return batch.sum(1) / (batch != 0).sum(1)


def trusts_the_filling_to_be_zero(batch, lengths):
    return batch.sum(1) / lengths


def one_mean_for_all(batch, lengths):
    mask = torch.arange(batch.shape[1]) < lengths[:, None]
    return (batch * mask).sum() / lengths.sum()


def divides_whole_numbers(batch, lengths):
    return [float(sum(row[:n]) // n) for row, n in zip(batch, lengths, strict=True)]


def pads_on_the_right(sequences):
    return pad_sequence([torch.tensor(s) for s in sequences], batch_first=True)


def turns_rows_around(sequences):
    return pad_sequence([torch.tensor(s) for s in sequences], batch_first=True).flip(1)


def steps_first(sequences):
    return pad_sequence([torch.tensor(s[::-1]) for s in sequences]).flip(0)


def cuts_to_the_first_length(sequences):
    width = len(sequences[0])
    return [([0] * width + s)[-width:] for s in sequences]


def cuts_to_whole_numbers(sequences):
    width = max(map(len, sequences))
    return [[0] * (width - len(s)) + [int(v) for v in s] for s in sequences]


def newest_first(x, tau):
    return [(x[i : i + tau][::-1], x[i + tau]) for i in range(len(x) - tau)]


def forgets_the_last_label(x, tau):
    return [(x[i : i + tau], x[i + tau]) for i in range(len(x) - tau - 1)]


def label_in_the_window(x, tau):
    return [(x[i : i + tau], x[i + tau - 1]) for i in range(len(x) - tau)]


def side_by_side(x, tau):
    return [(x[i : i + tau], x[i + tau]) for i in range(0, len(x) - tau, tau)]


def does_not_feed_back(model, window, k):
    return model(window)


def one_step_too_many(model, window, k):
    for _ in range(k + 1):
        window = [*window[1:], model(window)]
    return window[-1]


def keeps_the_oldest(model, window, k):
    window = list(window)
    for _ in range(k):
        window.append(model(window))
    return window[-1]


def puts_the_prediction_first(model, window, k):
    for _ in range(k):
        window = [model(window), *window[:-1]]
    return window[0]


WRONG = {
    "count_windows": [
        one_too_few,
        forgets_the_stride,
        counts_a_window_beyond_the_end,
        divides_first,
        fewer_than_none,
        rounds_toward_zero,
    ],
    "masked_mean": [
        plain_mean,
        takes_zeros_for_filling,
        trusts_the_filling_to_be_zero,
        one_mean_for_all,
        divides_whole_numbers,
    ],
    "pad_left": [
        pads_on_the_right,
        turns_rows_around,
        steps_first,
        cuts_to_the_first_length,
        cuts_to_whole_numbers,
    ],
    "lag_pairs": [newest_first, forgets_the_last_label, label_in_the_window, side_by_side],
    "feed_back": [does_not_feed_back, one_step_too_many, keeps_the_oldest, puts_the_prediction_first],
}
