"""What the recurrent language models claim of their speed, on one thread.

The baselines are the recipe that d2l publishes (tensors in a list, one-hot vectors, a loop of products and
autograd), written afresh; `nn.RNN`; and the matrix products alone, which no program can do without. Times are
the processor's, so that they mean the same on a machine that does other things, too.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, one_hot

from benchmarks.bptt import one_thread
from benchmarks.claims import Claim
from d2lrnn.models.concise import RNNLM
from d2lrnn.models.scratch import RNNLMScratch
from d2lrnn.text.batching import sequential_batches, split_corpus
from d2lrnn.text.corpora import load_corpus
from d2lrnn.text.ngrams import NGramModel
from d2lrnn.text.vocabulary import Vocab
from d2lrnn.training.evaluate import evaluate
from d2lrnn.training.history import History
from d2lrnn.training.train import clip_gradients, train
from d2lrnn.writing.generate import generate

BATCH_SIZE, NUM_STEPS = 32, 35
TEXTBOOK_EPOCHS = (
    460  # after which the recipe first has perplexity 1.25 on the story's first 10,000 characters
)
NUM_EPOCHS, LR = 100, 7e-3  # for the same with ours; Adam, linearly to 0
EPS = (1, 2, 4, 8, 16, 32)  # of the n-gram models
CELL, NUM_HIDDENS = "gru", 160  # of the model that is to beat them
GATED_STEPS, GATED_EPOCHS, GATED_LR = 50, 10, 1.6e-2


def claims() -> Iterator[Claim]:
    """Compare speeds, then the time to a perplexity."""
    corpus, vocab = load_corpus()
    with one_thread():
        for num_hiddens, least in ((256, 1.25), (512, 1.1)):
            yield from training_speed(len(vocab), num_hiddens, least)
        yield embedding_cost()
        yield generation_speed(vocab)
        yield evaluation_speed(corpus[:20_000], len(vocab))
        yield from time_to_quality(corpus[:10_000], vocab)
        yield from held_out(corpus, vocab)


class Textbook:
    """The recipe: parameters in a list, and functions."""

    def __init__(self, vocab_size: int, num_hiddens: int, dtype: torch.dtype = torch.float32) -> None:
        def normal(*shape: int) -> Tensor:
            return torch.randn(shape, generator=generator, dtype=dtype) * 0.01

        generator = torch.Generator().manual_seed(0)
        self.vocab_size, self.num_hiddens, self.dtype = vocab_size, num_hiddens, dtype
        W_xh, W_hh, b_h = (
            normal(vocab_size, num_hiddens),
            normal(num_hiddens, num_hiddens),
            normal(num_hiddens),
        )
        W_hq, b_q = normal(num_hiddens, vocab_size), torch.zeros(vocab_size, dtype=dtype)
        self.params = [W_xh, W_hh, b_h.zero_(), W_hq, b_q]
        for p in self.params:
            p.requires_grad_()

    def start(self, batch_size: int) -> Tensor:
        """Return the state before any text."""
        return torch.zeros((batch_size, self.num_hiddens), dtype=self.dtype)

    def __call__(self, X: Tensor, H: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits, (steps * batch, vocab), and state."""
        W_xh, W_hh, b_h, W_hq, b_q = self.params
        outputs = []
        for x in one_hot(X.T, self.vocab_size).type(self.dtype):
            H = torch.tanh(torch.mm(x, W_xh) + torch.mm(H, W_hh) + b_h)
            outputs.append(torch.mm(H, W_hq) + b_q)
        return torch.cat(outputs, dim=0), H

    def step(self, X: Tensor, Y: Tensor, H: Tensor, lr: float = 1.0) -> Tensor:
        """Take one step of gradient descent with clipping, and return the state."""
        logits, H = self(X, H.detach())
        cross_entropy(logits, Y.T.reshape(-1)).mean().backward()
        norm = torch.sqrt(sum(torch.sum(p.grad**2) for p in self.params))
        if norm > 1:
            for p in self.params:
                p.grad[:] *= 1 / norm
        with torch.no_grad():
            for p in self.params:
                p -= lr * p.grad
                p.grad.zero_()
        return H

    def generate(self, vocab: Vocab, prefix: str, num_preds: int) -> str:
        """Continue a text greedily."""
        H, outputs = self.start(1), [vocab[prefix[0]]]

        def last() -> Tensor:
            return torch.tensor([outputs[-1]]).reshape((1, 1))

        for c in prefix[1:]:
            _, H = self(last(), H)
            outputs.append(vocab[c])
        for _ in range(num_preds):
            logits, H = self(last(), H)
            outputs.append(int(logits.argmax(dim=1).reshape(1)))
        return "".join(vocab.to_tokens(outputs))


def stepper(model: nn.Module, X: Tensor, Y: Tensor) -> Callable[[], None]:
    """Return a function that takes one step with one of our models."""
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def step() -> None:
        logits, _ = model(X)
        optimizer.zero_grad()
        cross_entropy(logits.flatten(0, 1), Y.flatten()).backward()
        clip_gradients(model.parameters(), 1)
        optimizer.step()

    return step


def bare_products(vocab_size: int, num_hiddens: int) -> Callable[[], None]:
    """Return a function that does the matrix products of a step, and nothing else."""
    W_hh, W_hq = torch.rand(num_hiddens, num_hiddens), torch.rand(num_hiddens, vocab_size)
    H = torch.rand(NUM_STEPS, BATCH_SIZE, num_hiddens)
    states, logits = H.flatten(0, 1), torch.rand(NUM_STEPS * BATCH_SIZE, vocab_size)

    def products() -> None:
        with torch.no_grad():
            for H_t in H:
                torch.mm(H_t, W_hh)
            for H_t in H:
                torch.mm(H_t, W_hh.T)
            states.T @ states, states @ W_hq, logits @ W_hq.T, states.T @ logits

    return products


def training_speed(vocab_size: int, num_hiddens: int, least: float) -> Iterator[Claim]:
    """Compare training steps of equal size in float32."""
    generator = torch.Generator().manual_seed(0)
    X, Y = (torch.randint(vocab_size, (BATCH_SIZE, NUM_STEPS), generator=generator) for _ in range(2))
    ours = stepper(RNNLMScratch(vocab_size, num_hiddens, dtype=torch.float32, seed=0), X, Y)
    book = Textbook(vocab_size, num_hiddens)
    concise = stepper(RNNLM(vocab_size, num_hiddens, dtype=torch.float32, seed=0), X, Y)
    what = f"training RNNLMScratch, {num_hiddens} hidden units, float32: tokens per second relative to"
    state = book.start(BATCH_SIZE)
    figure = ratio(lambda: book.step(X, Y, state, lr=1e-3), ours, repeats=61)
    yield Claim(f"{what} d2l's recipe", figure, at_least=least)
    yield Claim(f"{what} nn.RNN", ratio(concise, ours, repeats=61), at_least=least)
    figure = ratio(bare_products(vocab_size, num_hiddens), ours, repeats=61)
    yield Claim(f"{what} the bare products (0.75 is the aim)", figure, at_least=0.5)


class Direct(nn.Module):
    """The layers of `RNNLM(vocab_size, num_hiddens, embedding_size=num_hiddens)`, called without more ado."""

    def __init__(self, vocab_size: int, num_hiddens: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.rnn = nn.RNN(num_hiddens, num_hiddens)
        self.linear = nn.Linear(num_hiddens, vocab_size)

    def forward(self, X: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits, (batch, steps, vocab), and state."""
        outputs, state = self.rnn(self.embedding(X.T))
        return self.linear(outputs).transpose(0, 1), state


def embedding_cost() -> Claim:
    """Compare a forward and a backward pass over a vocabulary of words in float32."""
    size, num_hiddens = 10_000, 256
    generator = torch.Generator().manual_seed(0)
    X, Y = (torch.randint(size, (BATCH_SIZE, NUM_STEPS), generator=generator) for _ in range(2))
    ours = RNNLM(size, num_hiddens, dtype=torch.float32, seed=0, embedding_size=num_hiddens)
    direct = Direct(size, num_hiddens)

    def learn(model: nn.Module) -> None:
        model.zero_grad()
        cross_entropy(model(X)[0].flatten(0, 1), Y.flatten()).backward()

    figure = ratio(lambda: learn(ours), lambda: learn(direct), repeats=21)
    return Claim(
        "RNNLM with an embedding, 10,000 tokens, 256 hidden units, float32: time of nn.Embedding, nn.RNN and "
        "nn.Linear",
        figure,
        at_most=1.1,
    )


def generation_speed(vocab: Vocab) -> Claim:
    """Compare 400 characters of greedy text in float32."""
    book = Textbook(len(vocab), 256)
    model = RNNLMScratch(len(vocab), 256, dtype=torch.float32, seed=0)
    figure = ratio(
        lambda: book.generate(vocab, "the tide", 400),
        lambda: generate(model, vocab, "the tide", 400),
        repeats=15,
    )
    return Claim(
        "generating, 256 hidden units: characters per second relative to d2l's recipe", figure, at_least=4
    )


def evaluation_speed(corpus: list[int], vocab_size: int) -> Claim:
    """Compare reading a text in one row, as the exact perplexity wants it, with reading it in 32."""
    model = RNNLMScratch(vocab_size, 256, dtype=torch.float32, seed=0)
    figure = ratio(
        lambda: evaluate(model, corpus),
        lambda: evaluate(model, corpus, batch_size=BATCH_SIZE),
        repeats=9,
    )
    what = f"evaluating {len(corpus):,} characters, 256 hidden units, float32"
    return Claim(f"{what}: times as fast in {BATCH_SIZE} rows as in one", figure, at_least=2)


def time_to_quality(corpus: list[int], vocab: Vocab) -> Iterator[Claim]:
    """Train in float64 on the grid, with an epoch of the recipe after every epoch of ours."""
    book = Textbook(len(vocab), 256)
    model = RNNLMScratch(len(vocab), 256, seed=0)
    theirs: list[float] = []
    to_target = math.inf

    def epoch() -> None:
        state = book.start(BATCH_SIZE)
        for X, Y in sequential_batches(corpus, BATCH_SIZE, NUM_STEPS):
            state = book.step(X, Y, state)

    def after_epoch(history: History) -> None:
        nonlocal to_target
        if history.perplexity[-1] <= 1.25 and to_target == math.inf:
            to_target = time.process_time() - start - sum(theirs)
        theirs.append(processor_seconds(epoch))

    start = time.process_time()
    history = train(model, corpus, num_epochs=NUM_EPOCHS, lr=LR, after_epoch=after_epoch, seed=0)
    own = time.process_time() - start - sum(theirs)
    recipe = statistics.median(theirs) * TEXTBOOK_EPOCHS
    what = "training on 10,000 characters, 256 hidden units, float64 on the grid"
    yield Claim(
        f"{what}: {to_target:.1f} s to perplexity 1.25 as a share of the {recipe:.0f} s of d2l's recipe",
        to_target / recipe,
        at_most=1 / 3,
    )
    yield Claim(f"{what}: processor seconds for {NUM_EPOCHS} epochs", own, at_most=20)
    yield Claim(f"{what}: perplexity after them", history.perplexity[-1], at_most=1.15)


def held_out(corpus: list[int], vocab: Vocab) -> Iterator[Claim]:
    """Compare the held-out perplexity with that of n-gram models."""
    kept, rest = split_corpus(corpus)
    eps: list[float] = []
    scores = []
    for order in range(1, 7):  # each order keeps the best weights of the lower ones
        tried = {w: NGramModel(order, [*eps, w]).fit(kept, len(vocab)).perplexity(rest) for w in EPS}
        eps.append(min(tried, key=tried.__getitem__))
        scores.append(min(tried.values()))
    model = RNNLM(len(vocab), NUM_HIDDENS, CELL, seed=0)
    spent = processor_seconds(
        lambda: train(model, kept, num_steps=GATED_STEPS, num_epochs=GATED_EPOCHS, lr=GATED_LR, seed=0)
    )
    what = f"{CELL.upper()} of {NUM_HIDDENS} units trained on the story but a tenth"
    yield Claim(f"{what}: processor seconds", spent, at_most=60)
    best = min(scores)
    figure = evaluate(model, rest) / best
    yield Claim(
        f"{what}: perplexity of the tenth relative to the best n-gram's {best:.3f}", figure, at_most=1
    )


def ratio(slow: Callable[[], object], fast: Callable[[], object], repeats: int) -> float:
    """Return how many times as long the first takes: the median over pairs of runs, in processor time."""
    slow()
    fast()
    return statistics.median(processor_seconds(slow) / processor_seconds(fast) for _ in range(repeats))


def processor_seconds(run: Callable[[], object]) -> float:
    """Return the time that the processor spends on one run."""
    start = time.process_time()
    run()
    return time.process_time() - start
