"""Common wrong answers to the exercises on the recurrent idea."""

import torch


def forgets_the_biases(vocab_size, num_hiddens):
    return 2 * vocab_size * num_hiddens + num_hiddens**2


def forgets_the_state(vocab_size, num_hiddens):
    return 2 * vocab_size * num_hiddens + num_hiddens + vocab_size


def forgets_the_output_layer(vocab_size, num_hiddens):
    return vocab_size * num_hiddens + num_hiddens**2 + num_hiddens


def two_biases_as_in_pytorch(vocab_size, num_hiddens):
    return 2 * vocab_size * num_hiddens + num_hiddens**2 + 2 * num_hiddens + vocab_size


def keeps_only_the_last_state(X, H, W_xh, W_hh, b_h):
    for X_t in X:
        H = torch.tanh(X_t @ W_xh + H @ W_hh + b_h)
    return H


def does_not_carry_the_state(X, H, W_xh, W_hh, b_h):
    return torch.stack([torch.tanh(X_t @ W_xh + H @ W_hh + b_h) for X_t in X])


def starts_from_zero(X, H, W_xh, W_hh, b_h):
    H, states = torch.zeros_like(H), []
    for X_t in X:
        H = torch.tanh(X_t @ W_xh + H @ W_hh + b_h)
        states.append(H)
    return torch.stack(states)


def forgets_tanh(X, H, W_xh, W_hh, b_h):
    states = []
    for X_t in X:
        H = X_t @ W_xh + H @ W_hh + b_h
        states.append(H)
    return torch.stack(states)


def transposes_the_state_weights(X, H, W_xh, W_hh, b_h):
    states = []
    for X_t in X:
        H = torch.tanh(X_t @ W_xh + H @ W_hh.T + b_h)
        states.append(H)
    return torch.stack(states)


def batch_first(X, H, W_xh, W_hh, b_h):
    states = []
    for X_t in X:
        H = torch.tanh(X_t @ W_xh + H @ W_hh + b_h)
        states.append(H)
    return torch.stack(states, dim=1)


WRONG = {
    "num_parameters": [
        forgets_the_biases,
        forgets_the_state,
        forgets_the_output_layer,
        two_biases_as_in_pytorch,
    ],
    "rnn_states": [
        keeps_only_the_last_state,
        does_not_carry_the_state,
        starts_from_zero,
        forgets_tanh,
        transposes_the_state_weights,
        batch_first,
    ],
}
