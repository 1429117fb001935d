"""Common wrong answers to the exercises on networks from scratch and from PyTorch's layers."""

import math

import torch
from torch import nn


def batch_first(X, num_classes):
    return nn.functional.one_hot(X, num_classes)


def reshaped_instead_of_transposed(X, num_classes):
    return nn.functional.one_hot(X, num_classes).reshape(X.shape[1], X.shape[0], num_classes)


def as_long_as_the_highest_index(X, num_classes):
    return nn.functional.one_hot(X.T)


def classes_in_the_middle(X, num_classes):
    return nn.functional.one_hot(X, num_classes).transpose(1, 2)


def truth_values(X, num_classes):
    return X.T[:, :, None] == torch.arange(num_classes)


def _norm(gradients):
    return math.sqrt(sum(float((g**2).sum()) for g in gradients if g is not None))


def each_by_its_own_norm(gradients, theta):
    return [None if g is None else g * min(1, theta / max(_norm([g]), 1e-12)) for g in gradients]


def each_number_cut_off(gradients, theta):
    return [None if g is None else g.clamp(-theta, theta) for g in gradients]


def always_to_theta(gradients, theta):
    norm = max(_norm(gradients), 1e-12)
    return [None if g is None else g * theta / norm for g in gradients]


def divides_by_a_norm_of_zero(gradients, theta):
    return [None if g is None else g * min(1, theta / _norm(gradients)) for g in gradients]


def drops_what_has_no_gradient(gradients, theta):
    norm = max(_norm(gradients), 1e-12)
    return [g * min(1, theta / norm) for g in gradients if g is not None]


def sum_of_norms(gradients, theta):
    norm = max(sum(_norm([g]) for g in gradients), 1e-12)
    return [None if g is None else g * min(1, theta / norm) for g in gradients]


def square_of_the_norm(gradients, theta):
    norm = max(_norm(gradients) ** 2, 1e-12)
    return [None if g is None else g * min(1, theta / norm) for g in gradients]


def clips_in_place(gradients, theta):
    norm = max(_norm(gradients), 1e-12)
    for g in gradients:
        if g is not None:
            g *= min(1, theta / norm)
    return gradients


def _windows(corpus, num_steps):
    for i in range(0, len(corpus) - 1, num_steps):
        labels = corpus[i + 1 : i + 1 + num_steps]
        yield corpus[i : i + len(labels)], labels


def _nll(logits, labels):
    return float(nn.functional.cross_entropy(logits[0].detach(), labels, reduction="sum"))


def state_forgotten_between_windows(model, corpus, num_steps):
    nll = 0.0
    for x, y in _windows(corpus, num_steps):
        logits, _ = model(x[None], None)
        nll += _nll(logits, y)
    return math.exp(nll / (len(corpus) - 1))


def remainder_left_out(model, corpus, num_steps):
    state, nll, count = None, 0.0, 0
    for x, y in _windows(corpus, num_steps):
        if len(x) == num_steps:
            logits, state = model(x[None], state)
            nll += _nll(logits, y)
            count += len(y)
    return math.exp(nll / count)


def mean_of_window_means(model, corpus, num_steps):
    state, means = None, []
    for x, y in _windows(corpus, num_steps):
        logits, state = model(x[None], state)
        means.append(_nll(logits, y) / len(y))
    return math.exp(sum(means) / len(means))


def label_is_the_input(model, corpus, num_steps):
    state, nll = None, 0.0
    for x, _ in _windows(corpus, num_steps):
        logits, state = model(x[None], state)
        nll += _nll(logits, x)
    return math.exp(nll / (len(corpus) - 1))


def loses_a_token_at_each_cut(model, corpus, num_steps):
    state, nll, count = None, 0.0, 0
    for i in range(0, len(corpus), num_steps):
        window = corpus[i : i + num_steps]
        if len(window) > 1:
            logits, state = model(window[None, :-1], state)
            nll += _nll(logits, window[1:])
            count += len(window) - 1
    return math.exp(nll / count)


def divides_by_all_tokens(model, corpus, num_steps):
    state, nll = None, 0.0
    for x, y in _windows(corpus, num_steps):
        logits, state = model(x[None], state)
        nll += _nll(logits, y)
    return math.exp(nll / len(corpus))


def _softmax(scores):
    shares = [math.exp(s - max(scores)) for s in scores]
    return [share / sum(shares) for share in shares]


def _place(probabilities, u):
    total = 0.0
    for i, p in enumerate(probabilities):
        total += p
        if u < total:
            return i
    return len(probabilities) - 1


def _best(logits):
    return max(range(len(logits)), key=logits.__getitem__)


def always_the_most_likely(logits, temperature, u):
    return _best(logits)


def forgets_the_temperature(logits, temperature, u):
    return _place(_softmax(logits), u) if temperature else _best(logits)


def multiplies_by_the_temperature(logits, temperature, u):
    return _place(_softmax([s * temperature for s in logits]), u) if temperature else _best(logits)


def divides_by_a_temperature_of_zero(logits, temperature, u):
    return _place(_softmax([s / temperature for s in logits]), u)


def divides_the_probabilities(logits, temperature, u):
    return _place([p / temperature for p in _softmax(logits)], u) if temperature else _best(logits)


def does_not_add_up(logits, temperature, u):
    if not temperature:
        return _best(logits)
    p = _softmax([s / temperature for s in logits])
    return next((i for i, share in enumerate(p) if u < share), len(p) - 1)


def one_too_far(logits, temperature, u):
    if not temperature:
        return _best(logits)
    return min(1 + _place(_softmax([s / temperature for s in logits]), u), len(logits) - 1)


def exponential_overflows(logits, temperature, u):
    if not temperature:
        return _best(logits)
    shares = [math.exp(s / temperature) for s in logits]
    return _place([share / sum(shares) for share in shares], u)


SETS = {"rnn": 1, "gru": 3, "lstm": 4}


def one_bias_only(cell, num_inputs, num_hiddens, num_layers):
    first = num_hiddens * (num_inputs + num_hiddens + 1)
    above = num_hiddens * (2 * num_hiddens + 1)
    return SETS[cell] * (first + (num_layers - 1) * above)


def every_layer_reads_the_inputs(cell, num_inputs, num_hiddens, num_layers):
    return SETS[cell] * num_layers * num_hiddens * (num_inputs + num_hiddens + 2)


def three_gates_and_no_candidate(cell, num_inputs, num_hiddens, num_layers):
    sets = {"rnn": 1, "gru": 2, "lstm": 3}[cell]
    first, above = num_inputs + num_hiddens + 2, 2 * num_hiddens + 2
    return sets * num_hiddens * (first + (num_layers - 1) * above)


def output_layer_counted(cell, num_inputs, num_hiddens, num_layers):
    first, above = num_inputs + num_hiddens + 2, 2 * num_hiddens + 2
    layers = SETS[cell] * num_hiddens * (first + (num_layers - 1) * above)
    return layers + num_hiddens * num_inputs + num_inputs


def outputs_batch_first(steps, batch, hiddens, layers, bidirectional):
    ways = 1 + bidirectional
    return (batch, steps, ways * hiddens), (ways * layers, batch, hiddens)


def state_without_layers(steps, batch, hiddens, layers, bidirectional):
    return (steps, batch, (1 + bidirectional) * hiddens), (batch, hiddens)


def outputs_of_one_direction(steps, batch, hiddens, layers, bidirectional):
    return (steps, batch, hiddens), ((1 + bidirectional) * layers, batch, hiddens)


def state_of_the_top_layer(steps, batch, hiddens, layers, bidirectional):
    ways = 1 + bidirectional
    return (steps, batch, ways * hiddens), (ways, batch, hiddens)


def state_with_directions_side_by_side(steps, batch, hiddens, layers, bidirectional):
    width = (1 + bidirectional) * hiddens
    return (steps, batch, width), (layers, batch, width)


def _shares(X, H, W_ih, W_hh, b_ih, b_hh):
    return (X @ W_ih.T + b_ih).chunk(3, dim=1), (H @ W_hh.T + b_hh).chunk(3, dim=1)


def gate_before_the_product(X, H, W_ih, W_hh, b_ih, b_hh):
    (x_r, x_z, x_c), (h_r, h_z, _) = _shares(X, H, W_ih, W_hh, b_ih, b_hh)
    R, Z = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
    C = torch.tanh(x_c + (R * H) @ W_hh.chunk(3)[2].T + b_hh.chunk(3)[2])
    return (1 - Z) * C + Z * H


def bias_outside_the_reset(X, H, W_ih, W_hh, b_ih, b_hh):
    (x_r, x_z, x_c), (h_r, h_z, _) = _shares(X, H, W_ih, W_hh, b_ih, b_hh)
    R, Z = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
    C = torch.tanh(x_c + R * (H @ W_hh.chunk(3)[2].T) + b_hh.chunk(3)[2])
    return (1 - Z) * C + Z * H


def update_gate_the_other_way(X, H, W_ih, W_hh, b_ih, b_hh):
    (x_r, x_z, x_c), (h_r, h_z, h_c) = _shares(X, H, W_ih, W_hh, b_ih, b_hh)
    R, Z = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
    return Z * torch.tanh(x_c + R * h_c) + (1 - Z) * H


def gates_in_the_wrong_order(X, H, W_ih, W_hh, b_ih, b_hh):
    (x_z, x_r, x_c), (h_z, h_r, h_c) = _shares(X, H, W_ih, W_hh, b_ih, b_hh)
    R, Z = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
    return (1 - Z) * torch.tanh(x_c + R * h_c) + Z * H


def tanh_for_the_gates(X, H, W_ih, W_hh, b_ih, b_hh):
    (x_r, x_z, x_c), (h_r, h_z, h_c) = _shares(X, H, W_ih, W_hh, b_ih, b_hh)
    R, Z = torch.tanh(x_r + h_r), torch.tanh(x_z + h_z)
    return (1 - Z) * torch.tanh(x_c + R * h_c) + Z * H


def one_bias_for_all(X, H, W_ih, W_hh, b_ih, b_hh):
    (x_r, x_z, x_c), (h_r, h_z, h_c) = _shares(X, H, W_ih, W_hh, b_ih, torch.zeros_like(b_hh))
    R, Z = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
    return (1 - Z) * torch.tanh(x_c + R * h_c) + Z * H


def gates_of_alternating_rows(X, H, W_ih, W_hh, b_ih, b_hh):
    x_r, x_z, x_c = (X @ W_ih.T + b_ih).reshape(len(X), -1, 3).unbind(2)
    h_r, h_z, h_c = (H @ W_hh.T + b_hh).reshape(len(X), -1, 3).unbind(2)
    R, Z = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
    return (1 - Z) * torch.tanh(x_c + R * h_c) + Z * H


WRONG = {
    "one_hots": [
        batch_first,
        reshaped_instead_of_transposed,
        as_long_as_the_highest_index,
        classes_in_the_middle,
        truth_values,
    ],
    "clip_all": [
        each_by_its_own_norm,
        each_number_cut_off,
        always_to_theta,
        divides_by_a_norm_of_zero,
        drops_what_has_no_gradient,
        sum_of_norms,
        square_of_the_norm,
        clips_in_place,
    ],
    "text_perplexity": [
        state_forgotten_between_windows,
        remainder_left_out,
        mean_of_window_means,
        label_is_the_input,
        loses_a_token_at_each_cut,
        divides_by_all_tokens,
    ],
    "draw_token": [
        always_the_most_likely,
        forgets_the_temperature,
        multiplies_by_the_temperature,
        divides_by_a_temperature_of_zero,
        divides_the_probabilities,
        does_not_add_up,
        one_too_far,
        exponential_overflows,
    ],
    "layer_parameters": [
        one_bias_only,
        every_layer_reads_the_inputs,
        three_gates_and_no_candidate,
        output_layer_counted,
    ],
    "rnn_shapes": [
        outputs_batch_first,
        state_without_layers,
        outputs_of_one_direction,
        state_of_the_top_layer,
        state_with_directions_side_by_side,
    ],
    "gru_step": [
        gate_before_the_product,
        bias_outside_the_reset,
        update_gate_the_other_way,
        gates_in_the_wrong_order,
        tanh_for_the_gates,
        one_bias_for_all,
        gates_of_alternating_rows,
    ],
}
