"""Shifted seeds: each is shifted once, wherever a generator takes it; asserts that fail are noted."""

import json
import os
import subprocess
import sys

import pytest

from book.recording.notebooks import ROOT

OF_AN_INT = {  # code, with a place for a seed
    "torch.Generator": "torch.rand(3, generator=torch.Generator().manual_seed({}))",
    "torch.Generator of a device": "torch.Generator('cpu').manual_seed({}).initial_seed()",
    "torch.Generator seeded again": "torch.Generator().manual_seed(1).manual_seed({}).initial_seed()",
    "torch.Generator copied": "copy.deepcopy(torch.Generator().manual_seed({})).initial_seed()",
    "torch.manual_seed": "torch.manual_seed({}) and torch.rand(3)",
    "torch.manual_seed by keyword": "torch.manual_seed(seed={}) and torch.rand(3)",
    "torch.random.manual_seed": "torch.random.manual_seed({}) and torch.rand(3)",
    "a layer": "torch.manual_seed({}) and torch.nn.Linear(2, 2).weight",
    "default_rng": "np.random.default_rng({}).random(3)",
    "default_rng by keyword": "np.random.default_rng(seed={}).random(3)",
    "default_rng of SeedSequence": "np.random.default_rng(np.random.SeedSequence({})).random(3)",
    "default_rng of PCG64": "np.random.default_rng(np.random.PCG64({})).random(3)",
    "default_rng of default_rng": "np.random.default_rng(np.random.default_rng({})).random(3)",
    "default_rng's children": "[rng.random() for rng in np.random.default_rng({}).spawn(3)]",
    "Generator of PCG64": "np.random.Generator(np.random.PCG64({})).random(3)",
    "PCG64 by keyword": "np.random.PCG64(seed={}).random_raw(3)",
    "PCG64 of SeedSequence": "np.random.PCG64(np.random.SeedSequence({})).random_raw(3)",
    "PCG64 that jumps": "np.random.PCG64({}).jumped().random_raw(3)",
    "PCG64DXSM": "np.random.PCG64DXSM({}).random_raw(3)",
    "Philox": "np.random.Philox({}).random_raw(3)",
    "SFC64": "np.random.SFC64({}).random_raw(3)",
    "MT19937": "np.random.MT19937({}).random_raw(3)",
    "SeedSequence": "np.random.SeedSequence({}).generate_state(3)",
    "SeedSequence by keyword": "np.random.SeedSequence(entropy={}).generate_state(3)",
    "SeedSequence with a key": "np.random.SeedSequence({}, spawn_key=(1,)).generate_state(3)",
    "SeedSequence's children": (
        "[np.random.default_rng(one).random() for one in np.random.SeedSequence({}).spawn(3)]"
    ),
    "RandomState": "np.random.RandomState({}).rand(3)",
    "RandomState by keyword": "np.random.RandomState(seed={}).rand(3)",
    "RandomState of MT19937": "np.random.RandomState(np.random.MT19937({})).rand(3)",
    "RandomState seeded again": "again(np.random.RandomState(1), {}).rand(3)",
    "np.random.seed": "np.random.seed({}) or np.random.rand(3)",
    "np.random.seed by keyword": "np.random.seed(seed={}) or np.random.rand(3)",
    "random.Random": "random.Random({}).random()",
    "random.Random seeded again": "again(random.Random(1), {}).random()",
    "random.seed": "random.seed({}) or random.random()",
    "the package's generator": "generator({}).initial_seed()",
    "the package's generator of another": "generator(torch.Generator().manual_seed({})).initial_seed()",
    "the package's generator of NumPy": "numpy_generator({}).random(3)",
    "the package's generator of NumPy of another": (
        "numpy_generator(torch.Generator().manual_seed({})).random(3)"
    ),
    "a model": "weights(RNNLMScratch(6, 5, seed={}))",
    "a model of a generator": "weights(RNNLMScratch(6, 5, seed=torch.Generator().manual_seed({})))",
    "a model of the global generator": "torch.manual_seed({}) and weights(RNNLM(6, 5, 'gru'))",
    "a model in NumPy": "VanillaRNN.init(6, 5, seed={}).U",
    "a series": "noisy_sine(5, seed={})",
    "batches": "[X.tolist() for X, _ in random_batches(range(99), 2, 5, seed={})]",
    "training": "trained(seed={})",
    "training by a generator": "trained(seed=torch.Generator().manual_seed({}))",
}
OTHERS = {  # code, what is written there, and what gives the same without a shift
    "0": ("torch.Generator().manual_seed({}).initial_seed()", "0", "1000"),
    "a NumPy int for torch": ("torch.Generator().manual_seed({}).initial_seed()", "np.int64(5)", "1005"),
    "a NumPy int": ("np.random.default_rng({}).random(3)", "np.uint32(5)", "1005"),
    "an array without axes": ("np.random.default_rng({}).random(3)", "np.array(5)", "1005"),
    "an array": ("np.random.default_rng({}).random(3)", "np.array([1, 2])", "[1, 2, 1000]"),
    "several words": ("np.random.SeedSequence({}).generate_state(3)", "[1, 2]", "[1, 2, 1000]"),
    "several words for RandomState": ("np.random.RandomState({}).rand(3)", "(1, 2)", "[1, 2, 1000]"),
    "text": ("random.Random({}).random()", "'tide'", "'tide1000'"),
    "text for random.seed": ("random.seed({}) or random.random()", "'tide'", "'tide1000'"),
    "bytes": ("random.Random({}).random()", "b'tide'", "b'tide1000'"),
    "a float": ("random.Random({}).random()", "0.5", "1000.5"),
    "the largest that is shifted": ("np.random.default_rng({}).random(3)", "2**32 - 1", "2**32 + 999"),
}
LEFT_ALONE = {
    "torch.Generator": "torch.Generator().manual_seed(2**32).initial_seed()",
    "torch.manual_seed": "torch.manual_seed(2**40) and torch.rand(3)",
    "default_rng": "np.random.default_rng(2**32).random(3)",
    "SeedSequence": "np.random.SeedSequence(2**99).generate_state(3)",
    "random.Random": "random.Random(2**32).random()",
    "a state": "torch.Generator().set_state(made_before.get_state()).initial_seed()",
}
FRESH = {
    "default_rng": "np.random.default_rng().random()",
    "default_rng of None": "np.random.default_rng(None).random()",
    "PCG64": "np.random.PCG64().random_raw()",
    "PCG64 of None": "np.random.PCG64(seed=None).random_raw()",
    "SeedSequence": "np.random.SeedSequence().entropy",
    "RandomState": "np.random.RandomState().rand()",
    "np.random.seed": "np.random.seed() or np.random.rand()",
    "random.Random": "random.Random().random()",
    "random.seed": "random.seed() or random.random()",
    "torch.seed": "torch.seed()",
    "the package's generator of NumPy": "numpy_generator(None).random()",
}
UNSEEDED = {"torch.initial_seed()": "first", "torch.Generator().initial_seed()": "made_before.initial_seed()"}
KINDS = {  # something that is of a kind, though not made by the name that stands for it now
    "torch.Generator": "torch.default_generator",
    "np.random.PCG64": "np.random.default_rng(5).bit_generator",
    "np.random.SeedSequence": "np.random.default_rng(5).bit_generator.seed_seq",
    "np.random.RandomState": "np.random.mtrand._rand",
    "random.Random": "random._inst",
}
CELLS = {
    "in a function": ("def f(x):\n    assert x > 1\n    return x\n\n\nafter = f(0) + 1", ["assert x > 1"], 1),
    "in a loop": ("for after in range(4):\n    assert after < 2", ["assert after < 2"] * 2, 3),
    "with a message": ("assert 1 > 2, 'as \"said\"'\nafter = 4", ["assert 1 > 2, 'as \"said\"'"], 4),
    "of a value that is no bool": ("assert []\nafter = 5", ["assert []"], 5),
    "that holds": ("assert 1 < 2\nafter = 6", [], 6),
    "of another cell's function": ("after = f(0)", ["assert x > 1"], 0),
    "before the last line": ("assert 1 > 2\nafter = 7\nafter", ["assert 1 > 2"], 7),
}

START = """\
import copy
import json
import random
import sys

import numpy as np
import torch
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
first, made_before = torch.initial_seed(), torch.Generator()
"""
BEGIN = "from book.proof.shifted import FAILED_MIME, begin\n\nbegin(1000)\n"
DEFINED = """\
from d2lrnn import RNNLM, RNNLMScratch, VanillaRNN, noisy_sine, random_batches, train
from d2lrnn.reproducible import generator, numpy_generator


def again(made, seed):
    made.seed(seed)
    return made


def weights(model):
    return torch.cat([p.flatten() for p in model.parameters()])


def trained(seed):
    model = RNNLM(6, 5, seed=torch.Generator().manual_seed(2**32))
    run = train(model, [0, 1, 2, 3, 4, 5] * 20, num_epochs=2, lr=0.01, batch_size=2, num_steps=5, seed=seed)
    return list(run.perplexity)


def value(code):
    try:
        found = eval(code)
    except Exception as error:
        return repr(error)
    return found.tolist() if hasattr(found, "tolist") else found


"""
EVALUATE = "print(json.dumps([value(code) for code in json.load(sys.stdin)]))"
RUN_CELLS = """\
found = []
for cell in json.load(sys.stdin):
    shell.display_pub = CapturingDisplayPublisher()
    done = shell.run_cell(cell)
    noted = [one["data"][FAILED_MIME] for one in shell.display_pub.outputs if FAILED_MIME in one["data"]]
    found.append([noted, shell.user_ns["after"], repr(done.error_in_exec)])
print(json.dumps(found))
"""


def run(code, given):
    """Run code in a process of its own, and return what it prints last."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(given),
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def shifted():
    """Return what each expression comes to with shifted seeds; nothing is seeded before the first."""
    expressions = [
        *UNSEEDED,
        *UNSEEDED.values(),
        *(code.format(5) for code in OF_AN_INT.values()),
        *(code.format(given) for code, given, _ in OTHERS.values()),
        *LEFT_ALONE.values(),
        *(f"{code} != {code}" for code in FRESH.values()),
        *(f"isinstance({made}, {kind})" for kind, made in KINDS.items()),
        *(f"isinstance({made}, {kind})" for made, kind in zip(KINDS.values(), [*KINDS][1:], strict=False)),
    ]
    return dict(zip(expressions, run(START + BEGIN + DEFINED + EVALUATE, expressions), strict=True))


@pytest.fixture(scope="module")
def as_written():
    """Return what each expression comes to with seeds as they are written."""
    expressions = [
        *(code.format(seed) for code in OF_AN_INT.values() for seed in (5, 1005)),
        *(code.format(same) for code, _, same in OTHERS.values()),
        *LEFT_ALONE.values(),
    ]
    values = run(START + DEFINED + EVALUATE, expressions)
    assert [value for value in values if isinstance(value, str)] == []  # an error
    return dict(zip(expressions, values, strict=True))


@pytest.mark.parametrize("name", OF_AN_INT)
def test_an_int_is_shifted_once_for(name, shifted, as_written):
    code = OF_AN_INT[name]
    assert shifted[code.format(5)] == as_written[code.format(1005)] != as_written[code.format(5)]


@pytest.mark.parametrize("name", OTHERS)
def test_a_seed_is_shifted_that_is(name, shifted, as_written):
    code, given, same = OTHERS[name]
    assert shifted[code.format(given)] == as_written[code.format(same)]


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_what_nobody_wrote_is_left_alone_by(name, shifted, as_written):
    assert shifted[LEFT_ALONE[name]] == as_written[LEFT_ALONE[name]]


@pytest.mark.parametrize("code", UNSEEDED)
def test_what_has_a_seed_of_its_own_is_shifted_too(code, shifted):
    assert shifted[code] == shifted[UNSEEDED[code]] + 1000


@pytest.mark.parametrize("name", FRESH)
def test_without_a_seed_numbers_stay_fresh_of(name, shifted):
    assert shifted[f"{FRESH[name]} != {FRESH[name]}"] is True


@pytest.mark.parametrize("kind", KINDS)
def test_it_still_is_a(kind, shifted):
    assert shifted[f"isinstance({KINDS[kind]}, {kind})"] is True


@pytest.mark.parametrize(("made", "kind"), list(zip(KINDS.values(), [*KINDS][1:], strict=False)))
def test_it_is_of_no_other_kind(made, kind, shifted):
    assert shifted[f"isinstance({made}, {kind})"] is False


@pytest.fixture(scope="module")
def noted():
    """Return for each cell the asserts that it noted, a name's value after it, and its error."""
    cells = [code for code, _, _ in CELLS.values()]
    cells.append("assert 1 / 0\nafter = 8")
    return dict(zip([*CELLS, "raises"], run(START + BEGIN + RUN_CELLS, cells), strict=True))


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_goes_on_after_an_assert(name, noted):
    _, failed, after = CELLS[name]
    assert noted[name] == [failed, after, "None"]


def test_an_assert_that_cannot_be_tried_raises_as_ever(noted):
    failed, after, error = noted["raises"]
    assert (failed, after) == ([], 7)
    assert error.startswith("ZeroDivisionError")
