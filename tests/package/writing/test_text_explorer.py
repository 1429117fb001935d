"""The text explorer: what it hands to Jupyter, and that the page computes what Python computes."""

import base64
import json
import re

import numpy as np
import pytest
import torch
from browsing import chromium, violations

from book.recording.compare import differences
from d2lrnn import (
    RNNLM,
    BPETokenizer,
    PlainRNNLM,
    RNNLMScratch,
    Vocab,
    explore_text,
    generate,
    load_corpus,
    round_to_grid,
    train,
)

PREFIXES = ["the tide", "t", "francois", "q", "she ", "  ", "water", "a clock", "zzz", "the " * 20]
COUNT = 60


@pytest.fixture(scope="module")
def trained():
    corpus, vocab = load_corpus(max_tokens=10_000)
    model = RNNLMScratch(len(vocab), 48, seed=3)
    train(model, corpus, num_epochs=12, lr=1e-2, seed=0)
    return model, vocab


@pytest.fixture(scope="module")
def explorer(trained):
    return explore_text(*trained, num_preds=COUNT, seed=0)


@pytest.fixture(scope="module")
def page(explorer, tmp_path_factory):
    """Open two explorers on one page, which must not disturb each other."""
    file = tmp_path_factory.mktemp("page") / "text.html"
    file.write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Text</title>{explorer.html()}'
        f"{explorer.html().replace('the tide', 'the other')}",
        encoding="utf-8",
    )
    with chromium() as browser:
        opened = browser.new_page()
        opened.faults = []
        opened.on("console", lambda message: opened.faults.append(message.text))
        opened.on("pageerror", lambda error: opened.faults.append(str(error)))
        opened.goto(file.as_uri())
        yield opened


@pytest.fixture
def box(page):
    """Return the first explorer, as it was at first."""
    page.reload()
    return page.locator(".d2lrnn-text").first


def role(box, name):
    return box.locator(f'[data-role="{name}"]')


def chances(box):
    """Return each character's probability as the page has it."""
    rows = box.locator("tbody tr").evaluate_all(
        "rows => rows.map(r => [r.querySelector('th').textContent, Number(r.querySelector('data').value)])"
    )
    return {" " if name == "space" else name: value for name, value in rows}


def expected_chances(model, vocab, prefix, temperature):
    logits = model(torch.tensor([vocab[list(prefix)]]), None)[0][0, -1, 1:] / temperature
    return dict(zip(list(vocab)[1:], torch.softmax(logits, 0).tolist(), strict=True))


# In the browser


def test_page_has_no_script_error(box, page):
    assert page.faults == []


def test_page_breaks_no_accessibility_rule(box, page):
    assert violations(page) == []


@pytest.mark.parametrize("prefix", PREFIXES)
def test_page_writes_the_greedy_text_of_python(prefix, box, trained):
    role(box, "prefix").fill(prefix)
    assert role(box, "greedy").text_content() == generate(*trained, prefix, COUNT)


@pytest.mark.parametrize("prefix", PREFIXES)
def test_page_has_the_probabilities_of_python(prefix, box, trained):
    role(box, "prefix").fill(prefix)
    assert chances(box) == pytest.approx(expected_chances(*trained, prefix, 1.0), abs=1e-9)


def agree(rows, count):
    """Check that percentages and lengths of bars are those of the values."""
    assert len(rows) == count
    for value, percentage, width in rows:
        assert percentage == f"{100 * float(value):.1f} %"
        assert float(width) == pytest.approx(100 * float(value), rel=1e-3)


def test_percentages_and_bars_are_those_of_the_values(box, explorer):
    row = r'<data value="(.+?)">(.+?)</data>.+?<rect width="(.+?)"'
    agree(re.findall(row, explorer.html()), len(explorer.chances))
    role(box, "prefix").fill("a wave")
    drawn = box.locator("tbody tr").evaluate_all(
        "rows => rows.map(r => [r.querySelector('data').value, r.querySelector('data').textContent, "
        "r.querySelector('rect').getAttribute('width')])"
    )
    agree(drawn, len(explorer.chances))


@pytest.mark.parametrize("temperature", ["0.3", "1.7"])
def test_probabilities_follow_the_temperature(temperature, box, trained):
    role(box, "temperature").fill(temperature)
    expected = expected_chances(*trained, "the tide", float(temperature))
    assert chances(box) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("temperature", "draws"), [("0", 0), ("0.5", 1), ("1", 0), ("2", 3)])
def test_page_draws_the_text_that_python_draws(temperature, draws, box, trained):
    role(box, "temperature").fill(temperature)
    for _ in range(draws):
        role(box, "again").press("Enter")
    text = generate(*trained, "the tide", COUNT, temperature=float(temperature), seed=draws)
    assert role(box, "drawn").text_content() == text


def test_unknown_characters_are_named(box):
    role(box, "prefix").fill("the tide! 3!")
    assert role(box, "status").text_content() == "The model's texts have no “!”, “3”: leave it out."
    assert role(box, "prefix").get_attribute("aria-invalid") == "true"
    assert not role(box, "results").is_visible()


def test_empty_prefix_is_asked_for(box):
    role(box, "prefix").fill("")
    assert role(box, "status").text_content() == "Type at least one character."


def test_message_goes_when_the_prefix_is_mended(box):
    role(box, "prefix").fill("é")
    role(box, "prefix").fill("e")
    assert role(box, "status").text_content() == ""
    assert role(box, "results").is_visible()


def test_keyboard_alone_drives_it(box, page):
    seen = [role(box, "drawn").text_content()]
    for keys in (["Tab", "End", "s"], ["Tab", "ArrowRight"], ["Tab", "Space"]):
        for key in keys:
            page.keyboard.press(key)
        seen.append(role(box, "drawn").text_content())
    assert len(set(seen)) == 4


def test_another_explorer_on_the_page_is_left_alone(box, page):
    role(box, "prefix").fill("she")
    other = page.locator(".d2lrnn-text").last
    assert role(other, "after").text_content() == "the other"


def test_first_state_of_the_script_is_the_one_of_python(explorer, box):
    assert role(box, "drawn").text_content() == explorer.drawn


# Reserved tokens

RESERVED = ("<pad>", "<bos>", "x")


@pytest.fixture(scope="module")
def reserving():
    """Return a model that prefers reserved tokens, with its vocabulary, of which one is a character."""
    vocab = Vocab(list("abcabbca "), reserved_tokens=RESERVED)
    model = RNNLMScratch(len(vocab), 8, sigma=1.0, seed=0)
    with torch.no_grad():
        model.b_q[: len(vocab.reserved)] = 20.0
    round_to_grid(model.parameters(), 5)
    return model, vocab


def test_reserved_tokens_are_neither_written_nor_have_a_chance(reserving):
    explorer = explore_text(*reserving, "ab", COUNT, seed=0)
    assert set(explorer.greedy + explorer.drawn) <= set("abc ")
    assert sorted(token for token, _ in explorer.chances) == [" ", "a", "b", "c"]


def test_page_of_a_vocabulary_with_reserved_tokens_does_what_python_does(reserving, page):
    explorer = explore_text(*reserving, "ab", COUNT, seed=0)
    other = page.context.browser.new_page()
    other.set_content(explorer.html())
    found = other.locator(".d2lrnn-text")
    role(found, "prefix").fill("b a")
    texts = [role(found, name).text_content() for name in ("greedy", "drawn")]
    listed = chances(found)
    role(found, "prefix").fill("x")
    fault = role(found, "status").text_content()
    other.close()
    drawn = generate(*reserving, "b a", COUNT, temperature=1.0, seed=0)
    assert texts == [generate(*reserving, "b a", COUNT), drawn]
    expected = explore_text(*reserving, "b a", COUNT, seed=0).chances
    assert listed == pytest.approx(dict(expected), abs=1e-9)
    assert fault == "The model's texts have no “x”: leave it out."


@pytest.mark.parametrize("prefix", ["", "ax"])
def test_first_prefix_is_one_that_can_be_typed(prefix, reserving):
    with pytest.raises(ValueError, match="prefix must hold at least one token, and no reserved one"):
        explore_text(*reserving, prefix)


# Seeds


def test_without_a_seed_the_global_generator_draws_one(trained):
    seeds = []
    for number in (1, 1, 2):
        torch.manual_seed(number)
        explorer = explore_text(*trained, num_preds=5)
        seeds.append(explorer.seed)
        assert explorer.drawn == generate(*trained, "the tide", 5, temperature=1.0, seed=explorer.seed)
    assert seeds[0] == seeds[1] != seeds[2]


def test_a_generator_draws_the_seed_and_leaves_global_random_state_alone(trained):
    before = torch.get_rng_state()
    seeds = [
        explore_text(*trained, num_preds=5, seed=torch.Generator().manual_seed(number)).seed
        for number in (3, 3, 4)
    ]
    assert seeds[0] == seeds[1] != seeds[2]
    assert torch.equal(torch.get_rng_state(), before)


def test_numbers_of_numpy_are_numbers(trained):
    explorer = explore_text(*trained, num_preds=np.int64(5), temperature=np.float64(0.5), seed=np.uint32(7))
    assert explorer.html() == explore_text(*trained, num_preds=5, temperature=0.5, seed=7).html()


def test_default_device_of_the_user_changes_nothing(trained, explorer):
    with torch.device("meta"):
        assert explore_text(*trained, num_preds=COUNT, seed=0) == explorer


# What is handed to Jupyter


def test_bundle_is_the_same_twice(trained, explorer):
    assert explore_text(*trained, num_preds=COUNT, seed=0)._repr_mimebundle_() == explorer._repr_mimebundle_()


def test_description_says_the_likeliest_characters_and_both_texts(explorer):
    token, chance = explorer.chances[0]
    assert f"are {token.replace(' ', 'space')} {chance:.3f}, " in repr(explorer)
    assert repr(explorer.greedy) in repr(explorer)
    assert repr(explorer.drawn) in repr(explorer)


def test_first_state_stands_on_the_page_without_the_script(explorer):
    page = re.sub(r"<script.*?</script>", "", explorer.html(), flags=re.DOTALL)
    assert f">{explorer.greedy}<" in page
    assert page.count("<data") == len(explorer.tokens) - 1
    assert 'data-role="controls" hidden' in page


def test_weights_come_out_as_they_went_in(trained, explorer):
    planes = np.frombuffer(base64.b64decode(explorer.weights), np.uint8).reshape(3, -1).astype(np.int64)
    steps = planes[0] + 256 * planes[1] + 65536 * planes[2]
    steps -= (steps >= 2**23) * 2**24
    model = trained[0]
    flat = [
        p.detach().flatten() for p in (model.rnn.W_xh, model.rnn.W_hh, model.rnn.b_h, model.W_hq, model.b_q)
    ]
    assert (steps / 1e5).tolist() == torch.cat(flat).tolist()


def test_comparison_finds_a_weight_that_moved(trained, explorer):
    model, vocab = trained
    moved = RNNLMScratch(len(vocab), 48, seed=0)
    moved.load_state_dict(model.state_dict())
    with torch.no_grad():
        moved.rnn.W_hh[3, 4] += 1e-5
        round_to_grid(moved.parameters(), 5)
    bundles = (
        explorer._repr_mimebundle_(),
        explore_text(moved, vocab, num_preds=COUNT, seed=0)._repr_mimebundle_(),
    )
    outputs = [[{"output_type": "execute_result", "data": json.loads(json.dumps(b))}] for b in bundles]
    assert any("weights" in line for line in differences(*outputs))


def test_page_loads_nothing(explorer):
    assert not re.search(r"\b(?:src|href|action)=|url\(|@import|fetch\(|import\(|eval\(", explorer.html())


def test_temperature_zero_is_certain(trained):
    assert [chance for _, chance in explore_text(*trained, temperature=0, seed=0).chances][:2] == [1.0, 0.0]


# Bad input


def test_weight_off_the_grid_is_named(trained):
    model = RNNLMScratch(len(trained[1]), 4, seed=0)
    with pytest.raises(ValueError, match=r"model's W_xh must be rounded to 5 decimals.*got"):
        explore_text(model, trained[1], seed=0)


def test_weight_beyond_three_bytes_is_named(trained):
    model = RNNLMScratch(len(trained[1]), 4, seed=0)
    round_to_grid(model.parameters(), 5)
    with torch.no_grad():
        model.b_q[2] = 84.0
    with pytest.raises(ValueError, match=r"model's b_q must be within ±83.88607, got 84.0"):
        explore_text(model, trained[1], seed=0)


def test_too_many_weights_are_counted(trained):
    with pytest.raises(ValueError, match="model must have at most 300,000 weights, got 394,228"):
        explore_text(RNNLMScratch(28, 600, sigma=0, seed=0), trained[1], seed=0)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"prefix": "Tide!"}, ValueError, "which has no 'T', '!'"),
        ({"prefix": ""}, ValueError, "prefix must hold at least one token"),
        ({"num_preds": 0}, ValueError, "num_preds must be at least 1, got 0"),
        ({"temperature": 2.1}, ValueError, "temperature must be one of 0, 0.1, ..., 2, got 2.1"),
        ({"temperature": 0.25}, ValueError, "temperature must be one of 0, 0.1, ..., 2, got 0.25"),
        ({"temperature": -1}, ValueError, "temperature must be at least 0, got -1"),
        ({"seed": 2**32}, ValueError, r"seed must be below 2\*\*32, got 4294967296"),
        ({"seed": 0.5}, TypeError, "seed must be an integer, got 0.5"),
    ],
)
def test_bad_argument_is_named(arguments, error, message, trained):
    with pytest.raises(error, match=message):
        explore_text(*trained, **arguments)


def test_another_kind_of_model_is_named(trained):
    with pytest.raises(TypeError, match="model must be an RNNLMScratch or a PlainRNNLM, got RNNLM"):
        explore_text(RNNLM(len(trained[1]), 4, seed=0), trained[1], seed=0)


@pytest.mark.parametrize("kind", [RNNLMScratch, PlainRNNLM])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_weights_of_another_type_than_the_page_s_are_named(dtype, kind, trained):
    model = kind(len(trained[1]), 4, sigma=0, dtype=dtype, seed=0)
    with pytest.raises(ValueError, match=f"model's W_xh must be of float64, .*, got {dtype}"):
        explore_text(model, trained[1], seed=0)


def test_a_model_that_computes_something_else_than_its_weights_say_is_refused(trained):
    model = RNNLMScratch(len(trained[1]), 4, sigma=0, seed=0)
    model.register_forward_hook(lambda _model, _inputs, answer: (answer[0] + torch.arange(28.0), answer[1]))
    with pytest.raises(ValueError, match="model must predict what its weights say"):
        explore_text(model, trained[1], seed=0)


@pytest.mark.parametrize("vocab", [BPETokenizer(), list("abc"), None])
def test_another_kind_of_vocabulary_is_named(vocab, trained):
    with pytest.raises(TypeError, match="vocab must be a Vocab, got"):
        explore_text(trained[0], vocab, seed=0)


def test_a_character_that_no_page_can_hold_is_named():
    vocab = Vocab(["a", "\ud800"])
    with pytest.raises(ValueError, match="a token of vocab must be text that UTF-8 can write"):
        explore_text(RNNLMScratch(len(vocab), 4, sigma=0, seed=0), vocab, "a", seed=0)


def test_vocabulary_of_words_is_refused(trained):
    vocab = Vocab(["the", "tide"])
    with pytest.raises(ValueError, match="vocab must be of characters"):
        explore_text(trained[0], vocab, seed=0)
