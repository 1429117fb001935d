"""Text from a language model: warm up on a prefix, then feed back what it predicts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias, TypeGuard

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.modules import module

from d2lrnn import _support, recorded
from d2lrnn._support import numpy_silent, room_for
from d2lrnn.models.contract import Model, State, call, first_call, refuse_bidirectional, vocab_size
from d2lrnn.models.scratch import RNNLMScratch, RNNScratch
from d2lrnn.modules import mode
from d2lrnn.reproducible import Seed, generator, rand
from d2lrnn.text.bpe import BPETokenizer
from d2lrnn.text.vocabulary import Vocab
from d2lrnn.training.devices import where

Floats: TypeAlias = NDArray[np.floating]

AT_ONCE = 256  # tokens whose leads are looked at together: one by one they would take a tenth of the time
FAST = RNNLMScratch.forward, RNNLMScratch.output_layer  # what `RNNLMScratch.reader` computes


def generate(
    model: Model,
    vocab: Vocab | BPETokenizer,
    prefix: str,
    num_preds: int,
    *,
    temperature: float = 0.0,
    top_k: int | None = None,
    seed: Seed = None,
) -> str:
    """Continue a text.

    The model reads the prefix token by token, which warms up its state, and then each token that it has
    predicted itself. Reserved tokens, such as "<unk>", stand for no text and are never predicted.

    Parameters
    ----------
    model : nn.Module or function
        Called with token indices, (1, 1), and the state that it returned before, or None; it returns logits,
        (1, 1, vocab), and a state: a tensor, a tuple of tensors, or None. An nn.Module is set to evaluation
        and back, and reads on the device of its weights.
    vocab : Vocab or BPETokenizer
        What the model's token indices stand for.
    prefix : str
        The beginning of the text, at least one token. It may be empty if `vocab` has a reserved token
        "<bos>": the model then reads that one, which is not written.
    num_preds : int
        Tokens to add, at least 0.
    temperature : float
        0 takes the token with the highest logit. Above, tokens are drawn from softmax(logits / temperature):
        the higher, the more alike their chances.
    top_k : int, optional
        Draw only from so many tokens with the highest logits, at least 1. Reserved ones are none of them.
    seed : int, torch.Generator or None
        Draws the tokens: the same seed, the same tokens. None draws from PyTorch's global generator; an int
        or a generator leaves global random state alone. A temperature of 0 draws nothing.

    Returns
    -------
    str
        The prefix and `num_preds` tokens. Bytes of a `BPETokenizer` that are no whole character, as where the
        last token ends within one, show as U+FFFD.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described; if a token of the prefix is not in the vocabulary, or all tokens
        of the vocabulary are reserved; if the model is bidirectional, or its logits are not finite numbers,
        one for each token of `vocab`.

    Notes
    -----
    With one text and one token at a time it makes no difference whether a model has the texts or the steps
    first. `train` and `greedy_margin` tell one from the other.

    Each call puts back the mode, training or evaluation, that it finds. If several threads use one model,
    set it to evaluation before, or one may find, and put back, what another has set.
    """
    refuse_bidirectional(model)
    written = _encoded("prefix", prefix, model, vocab)
    if not written and vocab.bos is None:
        raise ValueError(f"prefix must hold at least one token, got {prefix!r}")
    start = [] if written or vocab.bos is None else [vocab.bos]
    tokens = start + written
    count = _support.integer("num_preds", num_preds, minimum=0)
    room_for("num_preds", count)
    heat = _support.real("temperature", temperature, minimum=0)
    most = len(vocab) if top_k is None else _support.integer("top_k", top_k, minimum=1)
    rng = generator(seed)
    chances = rand((count,), rng).tolist() if heat > 0 else []
    first, length = len(vocab.reserved), len(tokens) + count
    with mode(model, training=False), torch.no_grad(), numpy_silent():
        read = _reader(model, len(vocab), tokens[0])
        lead, greedy = math.inf, []  # of the tokens so far; logits not yet looked at
        closest = math.inf  # of the draws so far
        for i in range(length - 1):
            logits = read(tokens[i])
            if i + 1 == len(tokens):  # the prefix is read
                logits = logits[first:]
                if heat == 0:
                    tokens.append(first + _best(logits))
                    greedy.append(logits)
                else:
                    token, distance = _draw(logits, heat, most, chances[i - length + 1])
                    tokens.append(first + token)
                    closest = min(closest, distance)
            if len(greedy) == AT_ONCE:
                lead, greedy = min(lead, _lead(np.stack(greedy))), []
    if count > 0 and heat == 0:
        recorded.note_text(min(lead, _lead(np.stack(greedy))) if greedy else lead)
    elif count > 0:
        recorded.note_draws(closest)
    return vocab.decode(tokens[len(start) :])


def greedy_margin(model: Model, vocab: Vocab | BPETokenizer, text: str, num_preds: int) -> float:
    """Return how clearly a model prefers the last tokens of a text, as the smallest lead of one of them.

    The lead of a token is its logit minus the highest other logit, reserved tokens aside. If machines differ
    by less than the smallest lead, they generate the same text at temperature 0. It is negative if another
    token would have been chosen somewhere; so it is for a `BPETokenizer` that cuts the text into other tokens
    than those predicted.

    Parameters
    ----------
    model : nn.Module or function
        As for `generate`, called once with all tokens but the last, (1, steps).
    vocab : Vocab or BPETokenizer
        As for `generate`.
    text : str
        What `generate` returned.
    num_preds : int
        How many of its tokens were predicted, at least 1. All of them may be if `vocab` has a token "<bos>".

    Returns
    -------
    float
        The smallest lead, in logits; infinity if there is but one token to choose.

    Raises
    ------
    TypeError, ValueError
        As `generate`, and if `text` has no token before the predicted ones.
    """
    refuse_bidirectional(model)
    tokens = _encoded("text", text, model, vocab)
    count = _support.integer("num_preds", num_preds, minimum=1)
    if count == len(tokens) and vocab.bos is not None:
        tokens = [vocab.bos, *tokens]
    if count >= len(tokens):
        raise ValueError(f"num_preds must be less than the {len(tokens)} tokens of text, got {count}")
    X = torch.tensor([tokens[:-1]], device=where(model) or "cpu")
    with mode(model, training=False), torch.no_grad():
        logits, _ = first_call(model, X, None, len(vocab))
    kind = torch.promote_types(logits.dtype, torch.float32)  # narrower ones lose the difference
    scores = logits[0, -count:].to("cpu", kind, copy=True)  # (num_preds, vocab)
    chosen = torch.tensor(tokens[-count:], device="cpu")[:, None]
    taken = scores.gather(1, chosen)
    scores.scatter_(1, chosen, -torch.inf)
    return float((taken - scores[:, len(vocab.reserved) :].amax(1, keepdim=True)).min())


def _encoded(name: str, text: str, model: Model, vocab: Vocab | BPETokenizer) -> list[int]:
    """Return the indices of a text's tokens, or raise unless model, vocabulary and text fit together."""
    if not isinstance(vocab, (Vocab, BPETokenizer)):
        raise TypeError(f"vocab must be a Vocab or a BPETokenizer, got {vocab!r} ({type(vocab).__name__})")
    size = vocab_size(model)
    if size not in (None, len(vocab)):
        raise ValueError(f"model predicts {size} tokens, but vocab holds {len(vocab)}")
    if len(vocab.reserved) == len(vocab):
        raise ValueError(f"vocab must hold a token that is not reserved, got {vocab!r}")
    try:
        return vocab.encode(_support.string(name, text))
    except ValueError as error:
        raise ValueError(f"{name} must be a text that vocab encodes: {error}") from None


def _reader(model: Model, size: int, token: int) -> Callable[[int], Floats]:
    """Return a function that reads a text, of which `token` is the first, and returns logits, (size,).

    It takes one token after the other, and its logits are those of the next.
    """
    device = where(model) or torch.device("cpu")
    if _unwatched(model):
        first_call(model, torch.tensor([[token]], device=device), None, size)
        return model.reader()
    state: State | None = None
    ask: Callable[[Model, Tensor, State | None, int], tuple[Tensor, State | None]] = first_call

    def read(token: int) -> Floats:
        nonlocal ask, state
        logits, state = ask(model, torch.tensor([[token]], device=device), state, size)
        ask = call
        return logits[0, 0].to("cpu", torch.float64).numpy(force=True)

    return read


def _unwatched(model: Model) -> TypeGuard[RNNLMScratch]:
    """Tell whether a model is an `RNNLMScratch` of which no subclass, hook or replaced part sees a call."""
    if type(model) is not RNNLMScratch or type(model.rnn) is not RNNScratch:
        return False
    own = tuple(getattr(method, "__func__", None) for method in (model.forward, model.output_layer))
    hooks = (
        model._forward_hooks,
        model._forward_pre_hooks,
        module._global_forward_hooks,
        module._global_forward_pre_hooks,
    )
    return own == FAST and not any(hooks)


def _lead(logits: Floats) -> float:
    """Return the least by which the highest logit of a row, of (n, tokens), leads the next."""
    if logits.shape[1] < 2:
        return math.inf
    top = np.partition(logits, -2, axis=1)[:, -2:]
    return float((top[:, 1] - top[:, 0]).min())


def _best(logits: Floats) -> int:
    """Return the place of the highest logit."""
    best = int(logits.argmax())
    if not np.isfinite(logits[best]):  # nan and infinity come first
        raise ValueError(f"model's logits must be finite, got {logits[best]}")
    return best


def _draw(logits: Floats, temperature: float, top_k: int, chance: float) -> tuple[int, float]:
    """Return the place of the logit whose share of the distribution holds `chance`, a number in [0, 1).

    And by how much `chance` would have to move for another one.
    """
    kept = np.argsort(-logits, kind="stable")[:top_k]
    leads = logits[kept].astype(np.float64) - logits[kept[0]]
    cumulative = np.exp(leads / temperature).cumsum()
    if np.isnan(cumulative[-1]):
        raise ValueError("model's logits hold nan or infinity")
    place = chance * cumulative[-1]
    distance = float(np.abs(cumulative[:-1] - place).min(initial=math.inf) / cumulative[-1])
    return int(kept[np.searchsorted(cumulative, place, side="right")]), distance
