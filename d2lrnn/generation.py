"""Text from a language model: warm up on a prefix, then feed back what it predicts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from d2lrnn import _checks, margins
from d2lrnn._random import generator
from d2lrnn.devices import where
from d2lrnn.models import Model, State, mode, refuse_bidirectional
from d2lrnn.scratch import RNNLMScratch
from d2lrnn.text import Vocab

Floats: TypeAlias = NDArray[np.floating]


AT_ONCE = 256  # tokens whose leads are looked at together: one by one they would take a tenth of the time


def generate(
    model: Model,
    vocab: Vocab,
    prefix: str,
    num_preds: int,
    *,
    temperature: float = 0.0,
    top_k: int | None = None,
    seed: int | None = None,
) -> str:
    """Continue a text.

    The model reads the prefix token by token, which warms up its state, and then each token that it has
    predicted itself. "<unk>" stands for no token of the text and is never predicted.

    Parameters
    ----------
    model : nn.Module or function
        Called with token indices, (1, 1), and the state that it returned before, or None; it returns logits,
        (1, 1, vocab), and a state. An nn.Module is set to evaluation and back, and reads on the device of its
        weights.
    vocab : Vocab
        Of characters, or of words if it has a token of more than one character.
    prefix : str
        The beginning of the text, at least one token: a character, or a word between spaces.
    num_preds : int
        Tokens to add, at least 0.
    temperature : float
        0 takes the token with the highest logit. Above, tokens are drawn from softmax(logits / temperature):
        the higher, the more alike their chances.
    top_k : int, optional
        Draw only from so many tokens with the highest logits, at least 1.
    seed : int, optional
        The same seed draws the same tokens. None draws from fresh entropy. Global random state is neither
        read nor written.

    Returns
    -------
    str
        The prefix and `num_preds` tokens.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, if a token of the prefix is not in the vocabulary, if the model's
        logits are not one for each token of `vocab`, or if the model is bidirectional.
    """
    refuse_bidirectional(model)
    separator, tokens = _encoded("prefix", prefix, model, vocab)
    length = len(tokens) + _checks.integer("num_preds", num_preds, minimum=0)
    heat = _checks.real("temperature", temperature, minimum=0)
    most = len(vocab) if top_k is None else _checks.integer("top_k", top_k, minimum=1)
    chances = torch.rand(num_preds, dtype=torch.float64, generator=generator(seed)).tolist()
    with mode(model, training=False), torch.no_grad():
        read = _reader(model, len(vocab))
        lead, greedy = math.inf, []  # of the tokens so far; logits not yet looked at
        closest = math.inf  # of the draws so far
        for i in range(length - 1):
            logits = read(tokens[i])
            if i + 1 == len(tokens):  # the prefix is read
                if heat == 0:
                    tokens.append(_best(logits))
                    greedy.append(logits)
                else:
                    token, distance = _draw(logits, heat, most, chances[i - length + 1])
                    tokens.append(token)
                    closest = min(closest, distance)
            if len(greedy) == AT_ONCE:
                lead, greedy = min(lead, _lead(np.stack(greedy))), []
    if num_preds > 0 and heat == 0:
        margins.note_text(min(lead, _lead(np.stack(greedy))) if greedy else lead)
    elif num_preds > 0:
        margins.note_draws(closest)
    return separator.join(vocab.to_tokens(tokens))


def greedy_margin(model: Model, vocab: Vocab, text: str, num_preds: int) -> float:
    """Return how clearly a model prefers the last tokens of a text, as the smallest lead of one of them.

    The lead of a token is its logit minus the highest other logit. If machines differ by less than the
    smallest lead, they generate the same text at temperature 0. It is negative if another token would have
    been chosen somewhere.

    Parameters
    ----------
    model, vocab
        As for `generate`.
    text : str
        What `generate` returned.
    num_preds : int
        How many of its tokens were predicted, at least 1.

    Raises
    ------
    TypeError, ValueError
        As `generate`, and if `text` has no token before the predicted ones.
    """
    refuse_bidirectional(model)
    _, tokens = _encoded("text", text, model, vocab)
    count = _checks.integer("num_preds", num_preds, minimum=1)
    if count >= len(tokens):
        raise ValueError(f"num_preds must be less than the {len(tokens)} tokens of text, got {num_preds}")
    with mode(model, training=False), torch.no_grad():
        logits, _ = model(torch.tensor([tokens[:-1]], device=where(model)), None)
    scores = logits[0, -count:].cpu().clone()  # (num_preds, vocab)
    chosen = torch.tensor(tokens[-count:])[:, None]
    taken = scores.gather(1, chosen)
    scores.scatter_(1, chosen, -torch.inf)
    return float((taken - scores[:, vocab.unk + 1 :].amax(1, keepdim=True)).min())


def _encoded(name: str, text: str, model: Model, vocab: Vocab) -> tuple[str, list[int]]:
    """Return what stands between the tokens of a text, and their indices."""
    size = getattr(model, "vocab_size", len(vocab))
    if size != len(vocab):
        raise ValueError(f"model predicts {size} tokens, but vocab holds {len(vocab)}")
    _checks.string(name, text)
    words = any(len(token) > 1 for token, _ in vocab.token_freqs)
    tokens = text.split() if words else list(text)
    if not tokens:
        raise ValueError(f"{name} must hold at least one token, got {text!r}")
    unknown = [token for token in dict.fromkeys(tokens) if token not in vocab]
    if unknown:
        listed = ", ".join(map(repr, unknown))
        raise ValueError(f"{name} must be of tokens in the vocabulary, which has no {listed}; got {text!r}")
    return " " if words else "", vocab[tokens]


def _reader(model: Model, size: int) -> Callable[[int], Floats]:
    """Return a function that reads a text token by token and returns the logits, (size,), of the next."""
    # A subclass, a hook or a replaced forward is there to see or change what is read.
    if type(model) is RNNLMScratch and not (
        model._forward_hooks or model._forward_pre_hooks or "forward" in vars(model)
    ):
        return model.reader()
    state: State | None = None
    device = where(model)

    def read(token: int) -> Floats:
        nonlocal state
        logits, state = model(torch.tensor([[token]], device=device), state)
        if logits.shape != (1, 1, size):
            raise ValueError(f"model must return logits of shape {(1, 1, size)}, got {tuple(logits.shape)}")
        return logits[0, 0].to("cpu", torch.float64).numpy(force=True)

    return read


def _lead(logits: Floats) -> float:
    """Return the least by which the highest logit of a row, of (n, vocab), leads the next, "<unk>" aside."""
    if logits.shape[1] < 3:
        return math.inf
    top = np.partition(logits[:, 1:], -2, axis=1)[:, -2:]
    return float((top[:, 1] - top[:, 0]).min())


def _best(logits: Floats) -> int:
    """Return the token with the highest logit."""
    scores = logits[1:]  # without "<unk>", which is token 0
    best = int(scores.argmax())
    if np.isnan(scores[best]):  # which comes first
        raise ValueError("model's logits hold nan")
    return 1 + best


def _draw(logits: Floats, temperature: float, top_k: int, chance: float) -> tuple[int, float]:
    """Return the token whose share of the distribution holds `chance`, a number in [0, 1).

    And by how much `chance` would have to move for another token.
    """
    scores = logits[1:]
    kept = np.argsort(-scores, kind="stable")[:top_k]
    with np.errstate(over="ignore", invalid="ignore"):
        leads = scores[kept].astype(np.float64) - scores[kept[0]]
        cumulative = np.exp(leads / temperature).cumsum()
    if np.isnan(cumulative[-1]):
        raise ValueError("model's logits hold nan or infinity")
    place = chance * cumulative[-1]
    distance = float(np.abs(cumulative[:-1] - place).min(initial=math.inf) / cumulative[-1])
    return 1 + int(kept[np.searchsorted(cumulative, place, side="right")]), distance
