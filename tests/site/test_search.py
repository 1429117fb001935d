"""The search: what queries find first, and what a reader sees of it, on a server and from a disk."""

import json
import re

import pytest
from browsing import DESK, settled
from docutils import nodes
from docutils.utils import new_document

from book.site import formulas
from book.site.search import entries, initials, prose, readable

GLOSSARY, LANGUAGE, SCRATCH = (
    "Notation and glossary",
    "Language models and n‑grams",
    "A recurrent network from scratch",
)
CONCISE, VANISHING = "Recurrent networks, concisely", "Vanishing and exploding gradients"
# What is asked, and the first hit: its title, with the page that it is on.
QUERIES = {
    "n-gram": ("n-gram · n元语法", GLOSSARY),
    "n gram": ("n-gram · n元语法", GLOSSARY),
    "ngram": ("n-gram · n元语法", GLOSSARY),
    "N-Grams": (LANGUAGE, ""),
    "perplexity": ("perplexity · 困惑度", GLOSSARY),
    "perplexty": ("perplexity · 困惑度", GLOSSARY),
    "perplex": ("perplexity · 困惑度", GLOSSARY),
    "困惑度": ("perplexity · 困惑度", GLOSSARY),
    "困惑": ("perplexity · 困惑度", GLOSSARY),
    "循环神经网络": ("recurrent neural network · 循环神经网络", GLOSSARY),
    "RNN": ("recurrent neural network · 循环神经网络", GLOSSARY),
    "LSTM": ("The LSTM", CONCISE),
    "gru": ("The GRU", CONCISE),
    "BPE": ("byte-pair encoding · 字节对编码", GLOSSARY),
    "BPTT": ("Backpropagation through time", ""),
    "byte-pair": ("byte-pair encoding · 字节对编码", GLOSSARY),
    "one hot": ("one-hot vector · 独热向量", GLOSSARY),
    "held-out": ("held-out text · 留出文本", GLOSSARY),
    "warm-up": ("warm-up · 预热", GLOSSARY),
    "clipping": ("gradient clipping · 梯度裁剪", GLOSSARY),
    "without clipping": ("Without clipping", SCRATCH),
    "vanishing gradients": (VANISHING, ""),
    "why does the gradient explode": ("exploding gradient · 梯度爆炸", GLOSSARY),
    "gradiant": (VANISHING, ""),
    "vocabulary": ("vocabulary · 词表", GLOSSARY),
    "temperature": ("temperature · 温度", GLOSSARY),
    "sunspots": ("A real series: sunspots", "Autoregressive models"),
    "hidden state": ("hidden state · 隐状态", GLOSSARY),
    "spectral radius": ("spectral radius · 谱半径", GLOSSARY),
    "zipfs law": ("Zipf’s law · 齐普夫定律", GLOSSARY),
    "RNNLMScratch": ("RNNLMScratch", "Models"),
    "round_to_grid": ("round_to_grid", "Files, numbers and errors"),
    "default_rng": None,  # in code alone
    "xyzzy": None,
}
HITS = """() => [...document.querySelectorAll("#d2lrnn-search li")].map((hit) =>
  [hit.querySelector("a").textContent, hit.querySelector(".d2lrnn-where")?.textContent ?? ""])"""


@pytest.fixture(scope="module", autouse=True)
def engine():
    yield
    formulas.close()


def ask(page, text):
    """Type a query into the search page and return what is said and the hits."""
    page.locator("#d2lrnn-search input").fill("")
    page.locator("#d2lrnn-search .d2lrnn-status", has_text="Type a word").wait_for()
    page.locator("#d2lrnn-search input").fill(text)
    page.locator("#d2lrnn-search .d2lrnn-status", has_text=re.compile("place|Nothing")).wait_for()
    return page.locator("#d2lrnn-search .d2lrnn-status").inner_text(), page.evaluate(HITS)


@pytest.fixture(scope="module")
def searching(browser, address):
    page = browser.new_page(viewport=DESK)
    page.set_default_timeout(8000)
    page.goto(f"{address}search.html")
    yield page
    page.close()


@pytest.mark.parametrize("query", [query for query, first in QUERIES.items() if first])
def test_the_first_hit_is_what_a_reader_looks_for(query, searching):
    assert tuple(ask(searching, query)[1][0]) == QUERIES[query]


def test_what_stands_in_code_alone_is_found(searching):
    hits = ask(searching, "default_rng")[1]
    assert hits
    assert "default_rng" not in searching.locator("#d2lrnn-search").inner_text()


def test_nothing_found_says_so(searching):
    said, hits = ask(searching, "xyzzy")
    assert hits == []
    assert said.startswith("Nothing found for “xyzzy”")


def test_the_count_is_that_of_the_hits(searching):
    said, hits = ask(searching, "teacher forcing")
    assert said in ("1 place", f"{len(hits)} places")


def test_a_term_is_listed_once_and_shows_its_definition(searching):
    _, hits = ask(searching, "perplexity")
    assert [title for title, _ in hits].count("perplexity · 困惑度") == 1
    text = searching.locator("#d2lrnn-search li").first.inner_text()
    assert "How many equally likely tokens" in text or len(text) > 60


def test_results_mark_whole_words_only(searching):
    ask(searching, "n-gram")
    marks = searching.locator("#d2lrnn-search mark").all_inner_texts()
    assert marks
    assert {mark.lower().replace("‑", "-").rstrip("s") for mark in marks} <= {"n-gram", "ngram_count"}


@pytest.mark.parametrize("query", ["BPTT", "perplexity", "hidden state"])
def test_excerpts_have_no_raw_markup_and_no_furniture(query, searching):
    ask(searching, query)
    text = searching.locator("#d2lrnn-search .d2lrnn-hits").inner_text()
    assert not any(raw in text for raw in ("\\", "{", "$", ".ipynb", "import ", "Contents"))


def test_the_address_carries_the_query(searching, address):
    ask(searching, "smoothing")
    assert searching.url == f"{address}search.html?q=smoothing"


def test_a_query_in_the_address_is_answered(page, address):
    page.goto(f"{address}search.html?q=perplexity")
    page.locator("#d2lrnn-search li").first.wait_for()
    assert page.evaluate(HITS)[0] == ["perplexity · 困惑度", GLOSSARY]


def test_the_magnifier_is_not_on_the_text(searching):
    icon, field = (
        searching.locator(f"#d2lrnn-search form {part}").bounding_box()
        for part in (".fa-magnifying-glass", "input")
    )
    assert icon["x"] + icon["width"] <= field["x"]


def open_dialog(page, where):
    page.goto(where)
    settled(page)
    page.keyboard.press("Control+k")


def test_the_dialog_searches_as_one_types_and_keys_lead_to_the_match(page, address):
    open_dialog(page, f"{address}chapters/rnn.html")
    page.keyboard.type("clipping")
    page.locator("#pst-search-dialog li").first.wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent") == "Without clipping"
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.tagName") == "INPUT"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/rnn-scratch.html?mark=*#without-clipping")


def test_the_dialog_closes_and_enter_opens_the_page_of_all_hits(page, address):
    open_dialog(page, f"{address}index.html")
    page.keyboard.press("Escape")
    assert not page.locator("#pst-search-dialog").is_visible()
    page.keyboard.press("Control+k")
    page.keyboard.type("zipf")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=zipf")


def seen_mark(page):
    """Return the text of the first mark that is in view."""
    page.locator("article mark").first.wait_for()
    script = """() => [...document.querySelectorAll("article mark")].filter((mark) => {
      const { top, bottom, height } = mark.getBoundingClientRect();
      return height && top >= 0 && bottom <= innerHeight;
    }).map((mark) => mark.textContent)[0]"""
    for _ in range(40):  # until fonts and pictures have their size
        if found := page.evaluate(script):
            return found
        page.wait_for_timeout(100)
    return "no mark in view"


@pytest.mark.parametrize("served_", [True, False], ids=["server", "disk"])
def test_a_hit_lands_at_its_match(served_, page, address, site):
    root = address if served_ else f"{site.as_uri()}/"
    page.goto(f"{root}search.html?q=identity+start")
    page.locator("#d2lrnn-search li a").first.click()
    page.wait_for_url("**mark=**")
    assert seen_mark(page).lower() in ("identity", "start", "starts", "started")


def test_a_match_in_a_folded_solution_is_unfolded(page, address):
    page.goto(f"{address}chapters/sequences.html?mark=solution#exercises")
    settled(page)
    hidden = page.evaluate("""() => [...document.querySelectorAll("article mark")]
      .filter((mark) => !mark.checkVisibility() && !mark.closest("details:not([open])")).length""")
    assert hidden == 0


def test_marks_are_words_of_the_prose_and_go_at_a_key(page, address):
    page.goto(f"{address}chapters/language-models.html?mark=ngram")
    settled(page)
    marks = page.locator("mark").all_text_contents()
    assert len(marks) > 5
    assert {mark.lower().replace("‑", "-").rstrip("s") for mark in marks} == {"n-gram"}
    assert page.locator(":is(pre, code, math, nav, .bd-sidebar-primary) mark").count() == 0
    page.keyboard.press("Escape")
    assert page.locator("mark").count() == 0


def test_other_pages_load_no_index(page, address):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}chapters/rnn.html")
    settled(page)
    assert [url for url in asked if "entries" in url or "minisearch" in url] == []


def test_without_scripts_the_search_page_leads_on(browser, address):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}search.html")
    assert page.locator("noscript a[href$='glossary.html']").count() == 1
    context.close()


# Without a browser


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"h_t = \tanh(W_{xh} x_t + b)", "h_t = tanh(W_xh x_t + b)"),
        (r"\frac{\partial L}{\partial w}", "(∂L)/(∂w)"),
        (r"\mathbf{X}_t \in \mathbb{R}^d", "X_t ∈ R^d"),
        (r"\sqrt{x}", "√(x)"),
    ],
)
def test_formulas_are_readable_text(tex, text):
    assert readable(tex).replace(" ", "") == text.replace(" ", "")


def test_prose_has_no_code_and_no_further_section():
    document = new_document("page")
    section, below, cell = (
        nodes.section(ids=["a"]),
        nodes.section(ids=["b"]),
        nodes.container(classes=["cell"]),
    )
    cell += nodes.paragraph("", "an output")
    below += [nodes.title("", "Below"), nodes.paragraph("", "deeper words")]
    section += [
        nodes.title("", "Title"),
        nodes.paragraph("", "some words"),
        nodes.literal_block("", "import this"),
        cell,
        below,
    ]
    document += section
    assert prose(section) == "some words"
    found = list(entries("chapters/page", document, "chapters/page.html"))
    assert [entry["url"] for entry in found] == ["chapters/page.html", "chapters/page.html#b"]
    assert found[0]["code"] == "import this"


@pytest.mark.parametrize(
    ("term", "letters"),
    [("byte-pair encoding", "bpe"), ("recurrent neural network", "rnn"), ("gated unit", "")],
)
def test_a_term_is_known_by_its_initials(term, letters):
    assert initials(term) == letters


def test_the_entries_are_a_script_of_one_list(site):
    text = (site / "_static" / "search" / "entries.js").read_text(encoding="utf-8")
    start, _, rest = text.partition("[")
    assert start == "window.d2lrnnEntries = "
    assert {"title", "page", "url", "text", "kind", "id"} <= json.loads("[" + rest.rstrip(";\n"))[0].keys()


def test_nothing_of_the_other_index_is_left(site):
    names = {path.name for path in site.rglob("*.js")}
    assert names.isdisjoint({"searchindex.js", "searchtools.js", "language_data.js", "sphinx_highlight.js"})
