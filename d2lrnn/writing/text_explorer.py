"""A trained character model that runs in the page: type how a text begins, and see how the model goes on.

The page holds the weights and a script that computes with them, so it needs no kernel and loads nothing.
What it shows is what `generate` returns here, at every temperature and seed. Without scripts the first state
stays.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from d2lrnn import _support, files
from d2lrnn.drawing import _series, figures
from d2lrnn.models.scratch import PlainRNNLM, RNNLMScratch
from d2lrnn.modules import mode
from d2lrnn.reproducible import Seed, generator, randint
from d2lrnn.text.vocabulary import Vocab
from d2lrnn.training.devices import where
from d2lrnn.writing.generate import generate

# What the page is made of: its look, and the script that runs the model in a browser, for every text explorer
# that no script has taken care of yet. It follows `RNNLMScratch.reader`, `generate` and `torch.rand`
# operation by operation, in float64.
STYLE, SCRIPT = files.of_package("writing/text_explorer.css"), files.of_package("writing/text_explorer.js")
DECIMALS = 5  # of the grid that `train` keeps weights on
LARGEST = (2**23 - 1) / 10**DECIMALS  # weight that three bytes hold
MAX_WEIGHTS = 300_000  # more would make the page heavy: four characters each
MAX_SEED = 2**32  # of the Mersenne Twister, as the page has it
FIRST = 8  # characters whose chances stand on the page before it is asked for all


@dataclass(frozen=True)
class TextExplorer:
    """A character model with a field to type in, as `explore_text` returns it; Jupyter displays it."""

    tokens: tuple[str, ...]  # "<unk>" and the characters of the text; the page knows no reserved token
    num_hiddens: int
    weights: (
        str  # of those tokens: W_xh, W_hh, b_h, W_hq, b_q as whole grid steps, three bytes each, in base64
    )
    prefix: str
    num_preds: int
    temperature: float
    seed: int
    chances: tuple[tuple[str, float], ...]  # of each next character, the likeliest first
    greedy: str
    drawn: str

    def __repr__(self) -> str:
        likely = ", ".join(f"{_name(token)} {chance:.3f}" for token, chance in self.chances[:FIRST])
        return (
            f"Text explorer of a model with {self.num_hiddens} hidden units. After {self.prefix!r}, at "
            f"temperature {self.temperature:g}, the likeliest characters are {likely}. "
            f"The likeliest text: {self.greedy!r}. Drawn with seed {self.seed}: {self.drawn!r}."
        )

    def _repr_mimebundle_(self, **_kinds: object) -> figures.Bundle:
        return {
            "text/plain": repr(self),
            "text/html": self.html(),
            figures.SERIES_MIME: {
                "weights": hashlib.sha256(self.weights.encode()).hexdigest(),
                "chances": {token: figures.rounded(chance) for token, chance in self.chances},
                "greedy": self.greedy,
                "drawn": self.drawn,
            },
        }

    def html(self) -> str:
        """Return the page: controls, the first state, the weights and the script."""
        data = {
            "tokens": self.tokens,
            "hiddens": self.num_hiddens,
            "scale": 10**DECIMALS,
            "weights": self.weights,
            "count": self.num_preds,
            "seed": self.seed,
            "first": FIRST,
        }
        packed = json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("</", "<\\/")
        prefix, heat = html.escape(self.prefix), f"{self.temperature:.1f}"
        quiet = 'data-lm-suppress-shortcuts="true"'  # keeps JupyterLab from taking the keys for its own
        rows = [_row(token, chance) for token, chance in self.chances]
        first, rest = "\n".join(rows[:FIRST]), "\n".join(rows[FIRST:])
        status = "d" + hashlib.sha256((self.weights + self.prefix).encode()).hexdigest()[:8]
        return f"""\
<div class="d2lrnn-text" role="group" aria-label="Explorer: the model continues a text">
<style>
{STYLE}</style>
<div data-role="controls" hidden>
<label>The text begins <input type="text" data-role="prefix" value="{prefix}" maxlength="200" \
autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="{status}" {quiet}></label>
<label>Temperature <input type="range" data-role="temperature" min="0" max="2" step="0.1" value="{heat}" \
{quiet}> <output>{heat}</output></label>
<button type="button" data-role="again">Draw another text</button>
</div>
<div role="status" data-role="status" id="{status}"></div>
<div data-role="results">
<dl aria-live="polite">
<dt>The likeliest character each time</dt>
<dd data-role="greedy">{html.escape(self.greedy)}</dd>
<dt>Drawn at this temperature, seed <span data-role="seed">{self.seed}</span></dt>
<dd data-role="drawn">{html.escape(self.drawn)}</dd>
</dl>
<table>
<caption>The next character after “<span data-role="after">{prefix}</span>”, at this temperature</caption>
<thead><tr><th scope="col">character</th><th scope="col">probability</th><td></td></tr></thead>
<tbody data-role="first">
{first}
</tbody>
</table>
<details><summary>The other {len(rows[FIRST:])} characters</summary>
<table>
<thead><tr><th scope="col">character</th><th scope="col">probability</th><td></td></tr></thead>
<tbody data-role="rest">
{rest}
</tbody>
</table>
</details>
</div>
<script type="application/json">{packed}</script>
<script>
{SCRIPT}</script>
</div>"""


def explore_text(
    model: PlainRNNLM,
    vocab: Vocab,
    prefix: str = "the tide",
    num_preds: int = 100,
    *,
    temperature: float = 1.0,
    seed: Seed = None,
) -> TextExplorer:
    """Return a page on which the model itself runs: a field for a prefix, a slider for the temperature.

    Parameters
    ----------
    model : RNNLMScratch or PlainRNNLM
        Trained with ``grid=5``, as `train` does by default: its weights are multiples of 0.00001, so that
        whole numbers carry them without loss. They are of float64, in which the page computes.
    vocab : Vocab
        Of characters. Reserved tokens are no text: the page neither takes nor writes them.
    prefix : str
        The first beginning, at least one character. The reader types others.
    num_preds : int
        Characters that the page adds, at least 1.
    temperature : float
        The first temperature: 0, 0.1, ..., 2. At 0 the likeliest character is taken.
    seed : int, torch.Generator or None
        An int, below 2**32, is the seed of the first text drawn; each further one has the next seed. None
        draws that int from PyTorch's global generator, a generator from itself; then, as with an int, global
        random state is left alone.

    Returns
    -------
    TextExplorer
        Displayed when it ends a cell.

    Raises
    ------
    TypeError
        If `model` is another kind of model, or an argument is of the wrong kind.
    ValueError
        If a weight is not of float64, not on the grid or beyond 83.88607 in magnitude, if there are more than
        300,000 weights, if `model` computes something else than its weights say, if `vocab` is of words, if
        `prefix` has a reserved token or is empty, or as `generate` does.
    """
    if not isinstance(model, PlainRNNLM):
        raise TypeError(f"model must be an RNNLMScratch or a PlainRNNLM, got {type(model).__name__}")
    if not isinstance(vocab, Vocab):
        raise TypeError(f"vocab must be a Vocab, got {_support.shown(vocab)}")
    if vocab.unit != "char":
        raise ValueError(f"vocab must be of characters, got {vocab!r}")
    if not _support.string("prefix", prefix) or any(vocab[c] in vocab.reserved[1:] for c in prefix):
        raise ValueError(f"prefix must hold at least one token, and no reserved one, got {prefix!r}")
    count = _support.integer("num_preds", num_preds, minimum=1)
    heat = _support.real("temperature", temperature, minimum=0)
    if heat > 2 or heat != round(heat, 1):
        raise ValueError(f"temperature must be one of 0, 0.1, ..., 2, got {_support.short(temperature)}")
    first = _first_seed(seed)
    kept = [vocab.unk, *range(len(vocab.reserved), len(vocab))]
    greedy = generate(model, vocab, prefix, count)
    return TextExplorer(
        tokens=tuple(_series.written("a token of vocab", vocab.to_tokens(i)) for i in kept),
        num_hiddens=model.rnn.num_hiddens,
        weights=_packed(model, kept),
        prefix=prefix,
        num_preds=count,
        temperature=heat,
        seed=first,
        chances=_chances(model, vocab, prefix, heat),
        greedy=greedy,
        drawn=generate(model, vocab, prefix, count, temperature=heat, seed=first),
    )


def _first_seed(seed: Seed) -> int:
    """Return a seed that the page's random numbers can have too."""
    if seed is None or isinstance(seed, torch.Generator):
        return int(randint(MAX_SEED, 1, generator(seed)))
    number = _support.integer("seed", seed, minimum=0)
    if number >= MAX_SEED:
        raise ValueError(f"seed must be below 2**32, got {_support.short(number)}")
    return number


def _packed(model: PlainRNNLM, kept: list[int]) -> str:
    """Return the weights in grid steps: the low bytes of all, the middle ones, the high ones, in base64.

    Of those that belong to a token, the ones of the tokens `kept`.
    """
    rnn = model.rnn
    parameters = {"W_xh": rnn.W_xh, "W_hh": rnn.W_hh, "b_h": rnn.b_h, "W_hq": model.W_hq, "b_q": model.b_q}
    total = sum(p.numel() for p in parameters.values())
    if total > MAX_WEIGHTS:
        raise ValueError(f"model must have at most {MAX_WEIGHTS:,} weights, got {total:,}")
    for name, p in parameters.items():
        if p.dtype != torch.float64:
            raise ValueError(f"model's {name} must be of float64, in which the page computes, got {p.dtype}")
    arrays = {name: p.numpy(force=True) for name, p in parameters.items()}
    arrays |= {"W_xh": arrays["W_xh"][kept], "W_hq": arrays["W_hq"][:, kept], "b_q": arrays["b_q"][kept]}
    steps = np.concatenate([_steps(name, weights) for name, weights in arrays.items()])
    return base64.b64encode(steps.astype("<i4").view(np.uint8).reshape(-1, 4)[:, :3].T.tobytes()).decode()


def _steps(name: str, weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return weights as whole numbers of grid steps, which dividing turns back into the same bits."""
    values = weights.ravel()
    if not (np.abs(values) <= LARGEST).all():
        raise ValueError(
            f"model's {name} must be within ±{LARGEST}, got {values[~(np.abs(values) <= LARGEST)][0]}"
        )
    steps = np.rint(values * 10.0**DECIMALS)
    if (off := steps / 10.0**DECIMALS != values).any():
        raise ValueError(
            f"model's {name} must be rounded to {DECIMALS} decimals, as by round_to_grid(model.parameters(), "
            f"{DECIMALS}); got {values[off][0]}"
        )
    return steps.astype(np.int64)


def _chances(
    model: PlainRNNLM, vocab: Vocab, prefix: str, temperature: float
) -> tuple[tuple[str, float], ...]:
    """Return each character's chance to follow `prefix`, the likeliest first; reserved tokens have none."""
    ids, device = vocab.encode(prefix), where(model) or "cpu"
    with mode(model, training=False), torch.no_grad():
        every = model(torch.tensor([ids], device=device), None)[0][0, -1].numpy(force=True)
    read = RNNLMScratch.reader(model)  # type: ignore[arg-type]  # it asks for the weights alone
    if not np.allclose([read(token) for token in ids][-1], every, rtol=0, atol=1e-6):
        raise ValueError(
            "model must predict what its weights say, as the page does: has it a hook, or a part of its own?"
        )
    logits = every[len(vocab.reserved) :]
    order = np.argsort(-logits, kind="stable")
    if temperature == 0:
        shares = (order == order[0]).astype(np.float64)
    else:
        shares = np.exp((logits[order] - logits[order[0]]) / temperature)
    tokens = vocab.to_tokens((order + len(vocab.reserved)).tolist())
    return tuple(zip(tokens, (shares / shares.sum()).tolist(), strict=True))


def _name(token: str) -> str:
    return "space" if token == " " else token


def _row(token: str, chance: float) -> str:
    bar = f'<rect width="{100 * chance:.4g}" height="10" fill="{figures.PALETTE[0]}"/>'
    return (
        f'<tr><th scope="row">{html.escape(_name(token))}</th>'
        f'<td><data value="{figures.rounded(chance)}">{100 * chance:.1f} %</data></td>'
        f'<td><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">{bar}</svg></td></tr>'
    )
