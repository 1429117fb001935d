"""Evaluation: which tokens are predicted, from what, and how much each counts."""

from __future__ import annotations

import inspect
import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_models import CYCLE, MODELS, Spy, Successor, a_user_s_settings, every_model, text
from torch import nn

from d2lrnn import RNNLM, RNNLMScratch, evaluate
from d2lrnn.training.evaluate import IGNORED

law = settings(deadline=None, max_examples=30)  # a busy machine is not a fault


def token_by_token(model, corpus):
    """Return the perplexity by a loop that predicts one token at a time."""
    state, total = None, 0.0
    for token, label in pairwise(corpus.tolist()):
        logits, state = model(torch.tensor([[token]]), state)
        total -= float(logits[0, 0].detach().double().log_softmax(0)[label])
    return math.exp(total / (len(corpus) - 1))


@every_model
@pytest.mark.parametrize("num_steps", [1, 3, 7, 8, 9, 35])
def test_evaluation_equals_a_loop_over_single_tokens(kind, num_steps):
    model, corpus = MODELS[kind](), text(29)
    assert evaluate(model, corpus, num_steps) == pytest.approx(token_by_token(model, corpus), rel=1e-12)


def test_evaluation_of_a_float32_model_equals_a_loop_over_single_tokens():
    model, corpus = RNNLMScratch(6, 5, sigma=0.5, dtype=torch.float32, seed=0), text(301)
    assert evaluate(model, corpus, 35) == pytest.approx(token_by_token(model, corpus), rel=1e-6)


@law
@given(st.integers(2, 60), st.integers(1, 70))
def test_every_token_but_the_first_is_predicted_once(length, num_steps):
    model = Spy(Successor())
    corpus = text(length)
    evaluate(model, corpus, num_steps)
    assert torch.cat(model.inputs, 1).tolist() == [corpus[:-1].tolist()]


@law
@given(st.integers(2, 60), st.integers(1, 70))
def test_every_label_counts_once(length, num_steps):
    corpus = text(length)
    p = torch.tensor([0.05, 0.1, 0.15, 0.2, 0.25, 0.25], dtype=torch.float64)
    expected = float(p[corpus[1:]].log().mean().neg().exp())
    assert evaluate(lambda X, _: (p.log().expand(*X.shape, 6), None), corpus, num_steps) == pytest.approx(
        expected
    )


@every_model
def test_evaluation_carries_the_state(kind):
    model = Spy(MODELS[kind]())
    evaluate(model, text(20), 6)
    assert model.states[0] is None
    assert all(a is b for a, b in zip(model.states[1:], model.returned[:-1], strict=True))


def test_a_label_is_the_next_token():
    assert evaluate(Successor(), CYCLE) == 1.0


def test_a_uniform_model_has_the_size_of_the_vocabulary():
    assert evaluate(lambda X, _: (torch.zeros(*X.shape, 6), None), text(40)) == pytest.approx(6, rel=1e-12)


@pytest.mark.parametrize("training_before", [True, False])
def test_evaluation_restores_the_mode(training_before):
    model = Spy(RNNLMScratch(6, 5, seed=0)).train(training_before)
    evaluate(model, text(20))
    assert (set(model.modes), model.training, model.model.training) == (
        {False},
        training_before,
        training_before,
    )


def test_evaluation_leaves_no_gradients():
    model = RNNLMScratch(6, 5, seed=0)
    evaluate(model, text(20))
    assert all(p.grad is None for p in model.parameters())


@pytest.mark.parametrize("corpus", [text(20), text(20).tolist(), text(20).numpy(), text(20).to(torch.int32)])
def test_every_kind_of_corpus_has_the_same_perplexity(corpus):
    model = RNNLMScratch(6, 5, sigma=0.5, seed=0)
    assert evaluate(model, corpus) == evaluate(model, text(20))


@pytest.mark.parametrize(
    ("model", "arguments", "error", "message"),
    [
        (RNNLM(6, 5, bidirectional=True, seed=0), (CYCLE,), ValueError, "bidirectional"),
        (RNNLM(6, 5, seed=0), ([1],), ValueError, r"corpus must hold at least 2 token\(s\), got 1"),
        (
            RNNLM(6, 5, seed=0),
            ([1, 6],),
            ValueError,
            "corpus must hold token indices below vocab_size=6, got 6",
        ),
        (RNNLM(6, 5, seed=0), ("abc",), TypeError, "corpus must be a sequence of integers"),
        (RNNLM(6, 5, seed=0), (CYCLE, 0), ValueError, "num_steps must be at least 1, got 0"),
        ("rnn", (CYCLE,), TypeError, "model must be"),
    ],
)
def test_what_cannot_be_evaluated_is_an_error(model, arguments, error, message):
    with pytest.raises(error, match=message):
        evaluate(model, *arguments)


def by_stretches(model, corpus, rows):
    """Return the perplexity of stretches that are read one after the other, each from no state."""
    ends = [(row + 1) * len(corpus) // rows for row in range(rows)]
    total = 0.0
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        total += (end - start - 1) * math.log(evaluate(model, corpus[start:end]))
    return math.exp(total / (len(corpus) - rows))


@pytest.mark.parametrize("kind", MODELS)
@law
@given(st.integers(2, 60), st.integers(1, 9), st.integers(1, 9))
def test_rows_are_stretches_of_the_text(kind, length, rows, num_steps):
    model, corpus = MODELS[kind](), text(max(length, 2 * rows))
    found = evaluate(model, corpus, num_steps, batch_size=rows)
    assert found == pytest.approx(by_stretches(model, corpus, rows), rel=1e-12)


@law
@given(st.integers(2, 60), st.integers(1, 9), st.integers(1, 20))
def test_every_token_but_the_first_of_each_row_is_predicted_once(length, rows, num_steps):
    corpus = torch.arange(max(length, 2 * rows))
    seen = []

    def model(X, _state):
        seen.append(X)
        logits = torch.zeros(*X.shape, len(corpus), dtype=torch.float64)
        return logits.scatter_(2, (X[..., None] + 1) % len(corpus), 1e4), None

    assert evaluate(model, corpus, num_steps, batch_size=rows) == 1.0
    ends = {(row + 1) * len(corpus) // rows - 1 for row in range(rows)}
    read = torch.cat([X.flatten() for X in seen if len(X) == rows]).tolist()
    assert set(read) >= set(corpus.tolist()) - ends


@pytest.mark.parametrize(
    ("rows", "error"), [(0, ValueError), (11, ValueError), (2.0, TypeError), (None, TypeError)]
)
def test_rows_that_a_text_does_not_fill_are_an_error(rows, error):
    with pytest.raises(error, match="batch_size must"):
        evaluate(RNNLM(6, 5, seed=0), text(20), batch_size=rows)


def test_numbers_of_numpy_are_taken():
    model = MODELS["gru"]()
    assert evaluate(model, text(40), np.int64(7), batch_size=np.int32(3)) == evaluate(
        model, text(40), 7, batch_size=3
    )


def test_logits_that_become_nan_are_an_error():
    def model(X, state):
        count = 0 if state is None else int(state) + 1
        return torch.full((*X.shape, 6), math.nan if count == 2 else 0.0), torch.tensor(count)

    with pytest.raises(ValueError, match="model must return finite logits, got nan"):
        evaluate(model, text(20), 5)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_models_of_every_dtype_are_evaluated(dtype):
    exact, model = MODELS["gru"](), RNNLM(6, 5, "gru", dtype=dtype, seed=0)
    model.load_state_dict(exact.state_dict())
    assert evaluate(model, text(60)) == pytest.approx(evaluate(exact, text(60)), rel=0.05)


def test_a_model_with_nan_in_its_weights_has_no_perplexity():
    model = MODELS["gru"]()
    nn.init.constant_(model.linear.bias, math.nan)
    with pytest.raises(ValueError, match="model must return finite logits, got nan"):
        evaluate(model, text(20))


@pytest.mark.parametrize("name", a_user_s_settings())
def test_a_user_s_settings_change_nothing(name):
    model = MODELS["lstm"]()
    expected = evaluate(model, text(40), batch_size=3)
    corpus = text(40)
    with a_user_s_settings()[name]:
        assert evaluate(model, corpus, batch_size=3) == expected


def test_the_label_that_is_left_out_is_the_one_that_pytorch_leaves_out():
    default = inspect.signature(nn.functional.cross_entropy).parameters["ignore_index"].default
    assert default == IGNORED
