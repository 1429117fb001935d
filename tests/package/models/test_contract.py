"""A model of one's own: what `train`, `evaluate`, `generate` and `greedy_margin` say of its mistakes."""

import random
from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch import nn

from d2lrnn import Vocab, evaluate, generate, greedy_margin, train
from d2lrnn.models.contract import call, first_call

TEXT = [0, 1, 2, 3, 4, 5] * 40
VOCAB = Vocab(list("abcde"))  # and "<unk>"
SHAPES = pytest.mark.parametrize(
    ("batch_size", "num_steps"), [(8, 20), (20, 8), (12, 12), (2, 2), (1, 35), (2, 20), (2, 1), (3, 2)]
)


class Steps(nn.Module):
    """A GRU of PyTorch's default layout: steps first."""

    def __init__(self, *, before=True, after=True):
        super().__init__()
        self.rnn, self.linear = nn.GRU(6, 8), nn.Linear(8, 6)
        self.before, self.after = before, after

    def forward(self, X, state=None):
        inputs = nn.functional.one_hot(X.T if self.before else X, 6).float()
        outputs, state = self.rnn(inputs, state)
        logits = self.linear(outputs)
        return logits.transpose(0, 1) if self.after else logits, state


class Answering(nn.Module):
    """Return what a function makes of the right logits and state."""

    def __init__(self, change):
        super().__init__()
        self.model, self.change = Steps(), change

    def forward(self, X, _state=None):
        return self.change(*self.model(X))


def trained(model, batch_size=3, num_steps=5, **options):
    given = {"num_epochs": 1, "lr": 0.01, "grid": None, "seed": 0, **options}
    return train(model, TEXT, batch_size=batch_size, num_steps=num_steps, **given)


USES = {
    "train": trained,
    "evaluate": lambda model: evaluate(model, TEXT),
    "evaluate, many rows": lambda model: evaluate(model, TEXT, batch_size=4),
    "evaluate a function": lambda model: evaluate(lambda X, state: model(X, state), TEXT),
    "generate": lambda model: generate(model, VOCAB, "abc", 5),
    "generate, drawn": lambda model: generate(model, VOCAB, "abc", 5, temperature=1.0, seed=0),
    "greedy_margin": lambda model: greedy_margin(model, VOCAB, "abcde", 2),
}
uses = pytest.mark.parametrize("use", USES.values(), ids=USES)


@uses
def test_the_right_layout_is_taken(use):
    use(Steps())


@SHAPES
def test_a_model_that_forgot_the_last_transpose_does_not_train(batch_size, num_steps):
    with pytest.raises(ValueError, match="steps come first"):
        trained(Steps(after=False), batch_size, num_steps)


@SHAPES
def test_a_model_that_forgot_both_transposes_does_not_train(batch_size, num_steps):
    with pytest.raises(ValueError, match=r"model's state must have an axis of the batch's \d+ rows"):
        trained(Steps(before=False, after=False), batch_size, num_steps)


@SHAPES
def test_a_model_that_forgot_the_first_transpose_does_not_train(batch_size, num_steps):
    with pytest.raises(ValueError, match=r"model must return logits of shape|model's state must have"):
        trained(Steps(before=False), batch_size, num_steps)


class AcrossRows(nn.Module):
    """Run a network of PyTorch's default layout over the rows: no transpose at all."""

    def __init__(self, cell=nn.GRU, layers=1, *, states=True):
        super().__init__()
        self.rnn, self.linear, self.states = cell(6, 24, layers), nn.Linear(24, 6), states

    def forward(self, X, state=None):
        outputs, state = self.rnn(nn.functional.one_hot(X, 6).float(), state)
        return self.linear(outputs), state if self.states else None


@SHAPES
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("cell", [nn.GRU, nn.LSTM])
def test_a_network_across_rows_does_not_train(cell, layers, batch_size, num_steps):
    with pytest.raises(ValueError, match="steps come first"):
        trained(AcrossRows(cell, layers), batch_size, num_steps)


class Reshaping(Steps):
    """Reshapes where it has to transpose."""

    def __init__(self, *, before, after):
        super().__init__()
        self.before, self.after = before, after

    def forward(self, X, state=None):
        inputs = X.reshape(X.shape[::-1]) if self.before else X.T
        outputs, state = self.rnn(nn.functional.one_hot(inputs, 6).float(), state)
        logits = self.linear(outputs)
        return logits.reshape(*X.shape, 6) if self.after else logits.transpose(0, 1), state


@pytest.mark.parametrize(("batch_size", "num_steps"), [(8, 20), (12, 12), (2, 20), (5, 2)])
@pytest.mark.parametrize(("before", "after"), [(True, False), (False, True), (True, True)])
def test_a_model_that_reshapes_instead_of_transposing_does_not_train(before, after, batch_size, num_steps):
    with pytest.raises(ValueError, match="model's rows must not depend on one another"):
        trained(Reshaping(before=before, after=after), batch_size, num_steps)


def test_a_model_that_reshapes_is_not_evaluated_in_rows():
    with pytest.raises(ValueError, match="model's rows must not depend on one another"):
        evaluate(Reshaping(before=False, after=True), TEXT, batch_size=4)


class Uncopied(Steps):
    """Cannot be copied."""

    def __deepcopy__(self, memo):
        raise RuntimeError("one of a kind")


def test_a_model_that_cannot_be_copied_is_taken():
    trained(Uncopied(), 4, 5)


class OfOneSize(Steps):
    """Begins with a state for four rows, whatever the batch."""

    def forward(self, X, state=None):
        return super().forward(X, torch.zeros(1, 4, 8) if state is None else state)


def test_a_model_of_one_batch_size_is_taken():
    trained(OfOneSize(), 4, 5)


def test_what_a_model_counts_is_its_own_calls():
    model, calls = Dropped(), []
    model.register_forward_hook(lambda *_: calls.append(1))
    trained(model, 3, 5)
    assert len(model.calls) == len(calls) == (len(TEXT) - 1) // 15


@pytest.mark.parametrize(("batch_size", "num_steps"), [(8, 20), (12, 12), (2, 2), (2, 20)])
def test_a_network_across_rows_that_returns_no_state_does_not_train(batch_size, num_steps):
    with pytest.raises(ValueError, match="model's rows must not depend on one another"):
        trained(AcrossRows(states=False), batch_size, num_steps)


@pytest.mark.parametrize(
    "options", [{}, {"num_steps": 7}, {"batch_size": 2}, {"batch_size": 5, "num_steps": 5}]
)
def test_a_network_across_rows_is_not_evaluated(options):
    with pytest.raises(ValueError, match="steps come first"):
        evaluate(AcrossRows(), TEXT, **options)


def test_a_network_across_rows_has_no_margin():
    with pytest.raises(ValueError, match="steps come first"):
        greedy_margin(AcrossRows(), VOCAB, "abcde", 2)


class Keeping(Steps):
    """A right model with a state of another shape than those of PyTorch's cells."""

    def __init__(self, shape):
        super().__init__()
        self.shape = shape

    def forward(self, X, _state=None):
        logits, _ = super().forward(X)
        return logits, torch.zeros(self.shape(*X.shape))


ODD = {
    "two heads for each row, and the steps": lambda rows, steps: (2 * rows, steps, 3),
    "rows and steps": lambda rows, steps: (rows, steps, 3),
    "layers and rows in one": lambda rows, _: (2 * rows, 3),
    "a memory of 20 places": lambda *_: (20, 3),
    "a number": lambda *_: (),
    "one for each step so far": lambda _, steps: (steps,),
}


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize(("batch_size", "num_steps"), [(2, 20), (12, 12), (10, 20), (1, 20), (20, 2)])
def test_a_state_of_another_kind_is_taken(kind, batch_size, num_steps):
    trained(Keeping(ODD[kind]), batch_size, num_steps, sampling="random")


class Noisy(Steps):
    """Returns no state, and draws its dropout in evaluation, too."""

    def forward(self, X, _state=None):
        logits, _ = super().forward(X)
        return nn.functional.dropout(logits, 0.5), None


def test_a_model_that_always_draws_is_taken():
    trained(Noisy(), 4, 5)


class State(NamedTuple):
    h: torch.Tensor


def test_a_named_tuple_is_no_state_since_its_names_would_be_lost():
    with pytest.raises(TypeError, match="a plain tuple of them or None, got a State of 1: Tensor"):
        trained(Answering(lambda logits, state: (logits, State(state))))


def test_another_number_of_tokens_is_no_matter_of_steps():
    with pytest.raises(ValueError, match=r"got \(1, 1, 2\)$"):
        generate(lambda X, _: (torch.zeros(*X.shape, 2), None), VOCAB, "ab", 1)


def test_random_state_is_put_back_even_where_the_second_look_finds_a_fault():
    model, X = Drawing(after=False), torch.zeros(4, 4, dtype=torch.int64)
    torch.manual_seed(0), random.seed(0), np.random.seed(0)  # noqa: NPY002
    with pytest.raises(ValueError, match="steps come first"):
        first_call(model, X, None, 6)
    after = torch.rand(1).item(), random.random(), np.random.random()  # noqa: NPY002
    torch.manual_seed(0), random.seed(0), np.random.seed(0)  # noqa: NPY002
    model(X)
    assert after == (torch.rand(1).item(), random.random(), np.random.random())  # noqa: NPY002


def test_no_step_is_taken_with_a_wrong_layout():
    model = Steps(after=False)
    before = [p.clone() for p in model.parameters()]
    with pytest.raises(
        ValueError, match=r"model must return logits of shape \(8, 20, vocab\), .* got \(20, 8, 6\)"
    ):
        trained(model, 8, 20)
    assert all(map(torch.equal, before, model.parameters()))


@pytest.mark.parametrize("num_steps", [7, 100])
def test_a_wrong_layout_is_not_evaluated(num_steps):
    with pytest.raises(ValueError, match="steps come first"):
        evaluate(Steps(after=False), TEXT, num_steps)


def test_a_wrong_layout_is_not_evaluated_with_as_many_rows_as_steps():
    with pytest.raises(ValueError, match="steps come first"):
        evaluate(Steps(after=False), TEXT, num_steps=6, batch_size=6)


def test_a_wrong_layout_has_no_margin():
    with pytest.raises(ValueError, match="steps come first"):
        greedy_margin(Steps(after=False), VOCAB, "abcde", 2)


WRONG = {
    "no state": (
        lambda logits, _: logits,
        TypeError,
        "model must return logits and a state, got a tensor",
    ),
    "three": (lambda logits, state: (logits, state, 1), TypeError, "got a tuple of 3"),
    "nothing": (lambda *_: None, TypeError, r"got None \(NoneType\)"),
    "swapped": (lambda logits, state: (state, logits), ValueError, "model must return logits of shape"),
    "array": (
        lambda logits, state: (logits.detach().numpy(), state),
        TypeError,
        "as a dense tensor of floats",
    ),
    "sparse": (lambda logits, state: (logits.to_sparse(), state), TypeError, "as a dense tensor of floats"),
    "whole numbers": (lambda logits, state: (logits.long(), state), TypeError, "got a tensor of torch.int64"),
    "complex": (lambda logits, state: (logits + 0j, state), TypeError, "got a tensor of torch.complex64"),
    "two axes": (lambda logits, state: (logits.flatten(0, 1), state), ValueError, "of shape"),
    "one token more": (lambda logits, state: (logits.repeat(1, 1, 2)[..., :5], state), ValueError, "logit"),
    "last step": (
        lambda logits, state: (logits[:, -1], state),
        ValueError,
        "model must return logits of shape",
    ),
    "nan": (lambda logits, state: (logits * torch.nan, state), ValueError, "finite logits, got nan"),
    "infinity": (lambda logits, state: (logits + torch.inf, state), ValueError, "finite logits, got inf"),
    "state in a list": (
        lambda logits, state: (logits, [state]),
        TypeError,
        "state .* got a list of 1: Tensor",
    ),
    "state of a number": (lambda logits, _: (logits, 3), TypeError, r"state .* got 3 \(int\)"),
    "nested state": (
        lambda logits, state: (logits, ((state,),)),
        TypeError,
        "state .* got a tuple of 1: tuple",
    ),
}


@uses
@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_answer_is_named(kind, use):
    change, error, message = WRONG[kind]
    with pytest.raises(error, match=message):
        use(Answering(change))


RIGHT = {
    "no memory": lambda logits, _: (logits, None),
    "a tuple": lambda logits, state: (logits, (state, state)),
    "a list of both": lambda logits, state: [logits, state],
    "bfloat16": lambda logits, state: (logits.bfloat16(), state),
    "float64": lambda logits, state: (logits.double(), state),
}


@uses
@pytest.mark.parametrize("kind", RIGHT)
def test_other_right_answers_are_taken(kind, use):
    use(Answering(RIGHT[kind]))


def test_too_few_logits_are_told_before_the_text_needs_them():
    def few(X, state):
        return torch.zeros(*X.shape, 3), None

    with pytest.raises(ValueError, match="a logit for each token, of which 5 is the highest, got 3 logits"):
        evaluate(few, [0, 1] * 50 + [5])


class Dropped(Steps):
    """Draws random numbers, and notes in what mode and with what gradients it is called."""

    def __init__(self):
        super().__init__()
        self.dropout, self.calls = nn.Dropout(0.5), []

    def forward(self, X, state=None):
        self.calls.append((tuple(X.shape), self.training, torch.is_grad_enabled()))
        logits, state = super().forward(X, state)
        return self.dropout(logits), state


def test_the_second_look_is_in_evaluation_without_gradients():
    model = Dropped()
    trained(model, 4, 4)
    assert model.calls[:3] == [((4, 4), True, True), ((3, 4), False, False), ((4, 4), True, True)]
    assert [call for call in model.calls if call[0] != (4, 4)] == [((3, 4), False, False)]


def test_there_is_no_second_look_where_the_shape_tells():
    model = Dropped()
    trained(model, 3, 5)
    assert {shape for shape, *_ in model.calls} == {(3, 5)}


class Drawing(Steps):
    """Draws from everybody's generators."""

    def forward(self, X, state=None):
        torch.rand(3), random.random(), np.random.random()  # noqa: NPY002
        return super().forward(X, state)


@pytest.mark.parametrize("draw", [lambda: torch.rand(1).item(), random.random, np.random.random])
def test_the_second_look_leaves_random_state_as_it_was(draw):
    X = torch.zeros(4, 4, dtype=torch.int64)

    def draw_after(look):
        torch.manual_seed(0), random.seed(0), np.random.seed(0)  # noqa: NPY002
        look(Drawing(), X, None, 6)
        return draw()

    assert draw_after(first_call) == draw_after(call)


def test_modes_of_parts_are_put_back_after_the_second_look():
    model = Dropped()
    model.dropout.eval()
    trained(model, 4, 4)
    assert [part.training for part in model.modules()] == [True, True, True, False]
