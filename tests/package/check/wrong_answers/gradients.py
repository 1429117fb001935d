"""Common wrong answers to the exercises on gradients through time."""

import numpy as np
import torch


def one_step_short(b, c, tau):
    total, factor = 0.0, 1.0
    for i in range(len(b) - 1, max(len(b) - 1 - tau, 0) - 1 + bool(tau), -1):
        total += factor * b[i]
        factor *= c[i]
    return total


def one_factor_too_many(b, c, tau):
    first = max(len(b) - 1 - tau, 0)
    return b[-1] + sum(b[i] * float(np.prod(c[i:])) for i in range(first, len(b) - 1))


def forgets_the_last_term(b, c, tau):
    first = max(len(b) - 1 - tau, 0)
    return float(sum(b[i] * np.prod(c[i + 1 :]) for i in range(first, len(b) - 1)))


def counts_from_the_first_step(b, c, tau):
    a = 0.0
    for b_t, c_t in zip(b[: tau + 1], c, strict=False):
        a = b_t + c_t * a
    return a


def negative_index_before_the_first_step(b, c, tau):
    total, factor = 0.0, 1.0
    for back in range(tau + 1):
        total += factor * b[-1 - back]
        factor *= c[-1 - back]
    return total


def deltas(G, H, W_hh, *, by=np.transpose, slope=None, within=True):
    slope = 1 - H**2 if slope is None else slope
    delta = np.zeros_like(G)
    after = np.zeros_like(G[0])
    for t in range(len(G) - 1, -1, -1):
        arriving = after @ by(W_hh)
        delta[t] = (G[t] + arriving) * slope[t] if within else G[t] * slope[t] + arriving
        after = delta[t]
    return delta


def weights_not_transposed(G, H, W_hh):
    return deltas(G, H, W_hh, by=np.asarray)


def forgets_the_slope(G, H, W_hh):
    return deltas(G, H, W_hh, slope=np.ones_like(H))


def slope_of_the_step_before(G, H, W_hh):
    return deltas(G, H, W_hh, slope=np.concatenate([np.ones_like(H[:1]), 1 - H[:-1] ** 2]))


def slope_for_the_own_error_only(G, H, W_hh):
    return deltas(G, H, W_hh, within=False)


def own_step_alone(G, H, W_hh):
    return G * (1 - H**2)


def from_the_first_step_on(G, H, W_hh):
    return deltas(G[::-1], H[::-1], W_hh)[::-1]


def counts_the_step_itself(num_steps, window):
    return [t % window + 1 for t in range(num_steps)]


def slides_the_window(num_steps, window):
    return [min(t, window - 1) for t in range(num_steps)]


def as_if_never_detached(num_steps, window):
    return list(range(num_steps))


def all_of_a_window_alike(num_steps, window):
    return [window - 1] * num_steps


def softmax(logits):
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def y_minus_yhat(logits, y):
    return np.eye(logits.shape[1])[y] - softmax(logits)


def forgets_softmax(logits, y):
    return logits - np.eye(logits.shape[1])[y]


def mean_over_steps(logits, y):
    return (softmax(logits) - np.eye(logits.shape[1])[y]) / len(y)


def softmax_over_steps(logits, y):
    return softmax(logits.T).T - np.eye(logits.shape[1])[y]


def column_of_every_target(logits, y):
    p = softmax(logits)
    p[:, y] -= 1
    return p


def overflows(logits, y):
    with np.errstate(all="ignore"):
        p = np.exp(logits)
        return p / p.sum(axis=1, keepdims=True) - np.eye(logits.shape[1])[y]


def last_delta_of_a_word(delta, x, num_words):
    U_grad = np.zeros((delta.shape[1], num_words))
    U_grad[:, x] += delta.T
    return U_grad


def words_in_rows(delta, x, num_words):
    return np.eye(num_words)[x].T @ delta


def mean_of_a_word_s_deltas(delta, x, num_words):
    return delta.T @ np.eye(num_words)[x] / np.maximum(np.bincount(x, minlength=num_words), 1)


def no_column_for_unread_words(delta, x, num_words):
    return delta.T @ np.eye(max(x) + 1)[x]


def sums(logits, temperature):
    p = np.exp((logits - logits.max()) / temperature)
    return (p / p.sum()).cumsum()


def likeliest(logits, temperature, u):
    return int(np.argmax(logits))


def forgets_the_temperature(logits, temperature, u):
    return int(np.searchsorted(sums(logits, 1), u, "right"))


def multiplies_by_the_temperature(logits, temperature, u):
    return int(np.searchsorted(sums(logits, 1 / temperature), u, "right"))


def reaches_instead_of_exceeds(logits, temperature, u):
    return int(np.searchsorted(sums(logits, temperature), u))


def likeliest_first(logits, temperature, u):
    order = np.argsort(-logits, kind="stable")
    return int(order[np.searchsorted(sums(logits[order], temperature), u, "right")])


def first_word_that_is_likelier_than_u(logits, temperature, u):
    likelier = np.diff(sums(logits, temperature), prepend=0) > u
    return int(np.argmax(likelier))


def forgets_the_weight(w, h, num_steps):
    slope = 1.0
    for _ in range(num_steps):
        h = np.tanh(w * h)
        slope *= 1 - h**2
    return slope


def slope_at_the_state_before(w, h, num_steps):
    slope = 1.0
    for _ in range(num_steps):
        slope *= w * (1 - h**2)
        h = np.tanh(w * h)
    return slope


def tanh_of_the_state_again(w, h, num_steps):
    slope = 1.0
    for _ in range(num_steps):
        h = np.tanh(w * h)
        slope *= w * (1 - np.tanh(h) ** 2)
    return slope


def power_of_the_first_factor(w, h, num_steps):
    return (w * (1 - np.tanh(w * h) ** 2)) ** num_steps


def adds_the_factors(w, h, num_steps):
    slope = 0.0
    for _ in range(num_steps):
        h = np.tanh(w * h)
        slope += w * (1 - h**2)
    return slope


def latest_on_the_right(W, states):
    product = torch.eye(len(W), dtype=W.dtype)
    for h in states:
        product = product @ torch.diag(1 - h**2) @ W
    return product


def scales_columns(W, states):
    product = torch.eye(len(W), dtype=W.dtype)
    for h in states:
        product = W @ torch.diag(1 - h**2) @ product
    return product


def transposed(W, states):
    product = torch.eye(len(W), dtype=W.dtype)
    for h in states:
        product = product @ W.T @ torch.diag(1 - h**2)
    return product


def element_by_element(W, states):
    product = torch.ones_like(W)
    for h in states:
        product = product * (torch.diag(1 - h**2) @ W)
    return product


def power_of_the_weights(W, states):
    return torch.linalg.matrix_power(W, len(states))


def leaves_the_last_step_out(W, states):
    product = torch.eye(len(W), dtype=W.dtype)
    for h in states[:-1]:
        product = torch.diag(1 - h**2) @ W @ product
    return product


def each_by_its_own_norm(gradients, theta):
    return [g * min(1, theta / max(np.linalg.norm(g), 1e-300)) for g in gradients]


def each_number(gradients, theta):
    return [np.clip(g, -theta, theta) for g in gradients]


def always_scales(gradients, theta):
    norm = np.sqrt(sum((g**2).sum() for g in gradients))
    return [g * theta / max(norm, 1e-300) for g in gradients]


def sum_of_norms(gradients, theta):
    norm = sum(np.linalg.norm(g) for g in gradients)
    return [g * min(1, theta / max(norm, 1e-300)) for g in gradients]


def divides_by_zero(gradients, theta):
    norm = np.sqrt(sum((g**2).sum() for g in gradients))
    with np.errstate(all="ignore"):
        return [g / norm * min(norm, theta) for g in gradients]


WRONG = {
    "truncated_sum": [
        one_step_short,
        one_factor_too_many,
        forgets_the_last_term,
        counts_from_the_first_step,
        negative_index_before_the_first_step,
    ],
    "tanh_deltas": [
        weights_not_transposed,
        forgets_the_slope,
        slope_of_the_step_before,
        slope_for_the_own_error_only,
        own_step_alone,
        from_the_first_step_on,
    ],
    "steps_back": [
        counts_the_step_itself,
        slides_the_window,
        as_if_never_detached,
        all_of_a_window_alike,
    ],
    "logit_gradients": [
        y_minus_yhat,
        forgets_softmax,
        mean_over_steps,
        softmax_over_steps,
        column_of_every_target,
        overflows,
    ],
    "word_gradient": [
        last_delta_of_a_word,
        words_in_rows,
        mean_of_a_word_s_deltas,
        no_column_for_unread_words,
    ],
    "draw_word": [
        likeliest,
        forgets_the_temperature,
        multiplies_by_the_temperature,
        reaches_instead_of_exceeds,
        likeliest_first,
        first_word_that_is_likelier_than_u,
    ],
    "chain_slope": [
        forgets_the_weight,
        slope_at_the_state_before,
        tanh_of_the_state_again,
        power_of_the_first_factor,
        adds_the_factors,
    ],
    "jacobian_product": [
        latest_on_the_right,
        scales_columns,
        transposed,
        element_by_element,
        power_of_the_weights,
        leaves_the_last_step_out,
    ],
    "clip_together": [
        each_by_its_own_norm,
        each_number,
        always_scales,
        sum_of_norms,
        divides_by_zero,
    ],
}
