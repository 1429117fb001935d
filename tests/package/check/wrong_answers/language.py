"""Common wrong answers to the exercises on language models."""

import math


def _places(corpus, history):
    n = len(history)
    return [i for i in range(len(corpus) - n + 1) if corpus[i : i + n] == history]


def counts_the_last_token_as_a_history(corpus, history, token):
    places, n = _places(corpus, history), len(history)
    return sum(corpus[i + n : i + n + 1] == [token] for i in places) / max(len(places), 1)


def fails_where_nothing_follows(corpus, history, token):
    places = _places(corpus, history)
    if not places:
        return 0.0
    n = len(history)
    return sum(corpus[i + n : i + n + 1] == [token] for i in places) / sum(
        i + n < len(corpus) for i in places
    )


def forgets_the_order(corpus, history, token):
    n, wanted = len(history), sorted(history)
    followed = [corpus[i + n] for i in range(len(corpus) - n) if sorted(corpus[i : i + n]) == wanted]
    return followed.count(token) / len(followed) if followed else 0.0


def joint_instead_of_conditional(corpus, history, token):
    return len(_places(corpus, [*history, token])) / (len(corpus) - len(history))


def only_the_last_token_of_the_history(corpus, history, token):
    return _right_frequency(corpus, history[-1:], token)


def fails_on_what_never_comes(corpus, history, token):
    places = [i for i in _places(corpus, history) if i + len(history) < len(corpus)]
    return sum(corpus[i + len(history)] == token for i in places) / len(places)


def _right_frequency(corpus, history, token):
    if not history:
        return corpus.count(token) / len(corpus)
    places = [i for i in _places(corpus, history) if i + len(history) < len(corpus)]
    return sum(corpus[i + len(history)] == token for i in places) / max(len(places), 1)


def inverse_arithmetic_mean(probabilities):
    return len(probabilities) / sum(probabilities)


def inverse_harmonic_mean(probabilities):
    return sum(1 / p if p else math.inf for p in probabilities) / len(probabilities)


def sum_instead_of_mean(probabilities):
    return math.exp(sum(-math.log(p) if p else math.inf for p in probabilities))


def geometric_mean_not_inverted(probabilities):
    return math.prod(probabilities) ** (1 / len(probabilities))


def product_underflows(probabilities):
    product = math.prod(probabilities)
    return product ** (-1 / len(probabilities)) if product else math.inf


def exp_of_bits(probabilities):
    return math.exp(sum(-math.log2(p) if p else math.inf for p in probabilities) / len(probabilities))


def mean_of_perplexities(perplexities, sizes):
    return sum(perplexities) / len(perplexities)


def weighted_mean_of_perplexities(perplexities, sizes):
    return sum(n * p for n, p in zip(sizes, perplexities, strict=True)) / sum(sizes)


def mean_of_batch_means(perplexities, sizes):
    return math.exp(sum(map(math.log, perplexities)) / len(perplexities))


def weights_the_wrong_way(perplexities, sizes):
    logs = sum(math.log(p) / n for n, p in zip(sizes, perplexities, strict=True))
    return math.exp(logs / sum(1 / n for n in sizes))


def powers_overflow(perplexities, sizes):
    return math.prod(p**n for p, n in zip(perplexities, sizes, strict=True)) ** (1 / sum(sizes))


WRONG = {
    "relative_frequency": [
        counts_the_last_token_as_a_history,
        joint_instead_of_conditional,
        only_the_last_token_of_the_history,
        fails_on_what_never_comes,
        fails_where_nothing_follows,
        forgets_the_order,
    ],
    "perplexity_of": [
        inverse_arithmetic_mean,
        inverse_harmonic_mean,
        sum_instead_of_mean,
        geometric_mean_not_inverted,
        product_underflows,
        exp_of_bits,
    ],
    "pooled_perplexity": [
        mean_of_perplexities,
        weighted_mean_of_perplexities,
        mean_of_batch_means,
        weights_the_wrong_way,
        powers_overflow,
    ],
}
