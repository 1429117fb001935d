import re

import pytest

from book.recording.portable import PortableError, to_markdown


def convert(*sources):
    return [text for text, _ in to_markdown([("markdown", source) for source in sources], "chapter")]


PAIRS = [
    pytest.param("(a-label)=\n# Title", "# Title", id="label"),
    pytest.param("% a comment\ntext", "text", id="comment"),
    pytest.param(":::{note}\nLook here.\n:::", "> **Note.**\n>\n> Look here.", id="admonition"),
    pytest.param(
        "```{admonition} By hand\nDo it.\n```", "> **By hand**\n>\n> Do it.", id="titled admonition"
    ),
    pytest.param(
        "````{tip}\n```python\nx = 1\n```\n````",
        "> **Tip.**\n>\n> ```python\n> x = 1\n> ```",
        id="nested fence",
    ),
    pytest.param(
        "```{dropdown} More\ntext\n```",
        "<details><summary>More</summary>\n\ntext\n\n</details>",
        id="dropdown",
    ),
    pytest.param(
        "```{dropdown} a < b & more\ntext\n```",
        "<details><summary>a &lt; b &amp; more</summary>\n\ntext\n\n</details>",
        id="dropdown with signs in its title",
    ),
    pytest.param(
        "```{math}\n:label: e\na = b\n```\nby {eq}`e`", "$$\na = b\n\\tag{1}\n$$\n\nby (1)", id="equation"
    ),
    pytest.param("$$\na = b\n$$ (e)\nby {eq}`e`", "$$\na = b\n\\tag{1}\n$$\nby (1)", id="dollar equation"),
    pytest.param("see {ref}`there <label>` and {math}`x^2`", "see there and $x^2$", id="roles"),
    pytest.param("a {term}`token` and {term}`tokens <token>`", "a token and tokens", id="terms"),
    pytest.param("see [next](rnn.md#cells)", "see [next](rnn.ipynb#cells)", id="link to a chapter"),
    pytest.param("see [it](https://x.org/a.md)", "see [it](https://x.org/a.md)", id="link elsewhere"),
    pytest.param("the role `` {ref}`x` `` as code", "the role `` {ref}`x` `` as code", id="role in code"),
    pytest.param("```text\n{ref}`x`\n(label)=\n```", "```text\n{ref}`x`\n(label)=\n```", id="code block"),
    pytest.param(
        "```{figure} a.svg\n:alt: A cell\nThe cell.\n```", "![A cell](a.svg)\n\n*The cell.*", id="figure"
    ),
]


@pytest.mark.parametrize(("source", "plain"), PAIRS)
def test_myst_becomes_plain_markdown(source, plain):
    assert convert(source) == [plain]


@pytest.mark.parametrize(
    "source",
    [
        "```{unheard-of}\nx\n```",
        "{unheard}`x`",
        "{ref}`bare-label`",
        "{term}`hidden\nstate`",
        "the first 60\n% of the years",
        "```{dropdown} $x$\ny\n```",
        "```{dropdown} a `b`\ny\n```",
        "see `x[k\n- 1]` there",
        "it is $1 + a\n+ b$ then",
        "so $a$ and $b\n- c$",
        "- item\n\n  ```{note}\n  x\n  ```",
        "~~~{note}\nx\n~~~",
        "``` {note}\nx\n```",
        ":::{.class}\nx\n:::",
        "> ```{note}\n> x\n> ```",
        "[](rnn.md)",
        "[a][r]\n\n[r]: rnn.md",
        "$$ a = b $$ (e)",
        "```{note}\n---\nclass: x\n---\ny\n```",
        "```{code-block} python\n:caption: c\nx\n```",
        "```{exercise} Numbered\n:label: n\nx\n```",
        "{eq}`nowhere`",
        "```{note}\nnever closed",
        "```{solution-start} nowhere\n```",
        "```{solution-end}\n```",
        "```{exercise} No label\nx\n```",
        "$$\na\n$$ (e)\n$$\nb\n$$ (e)",
    ],
)
def test_unknown_or_broken_myst_is_an_error_naming_the_chapter(source):
    with pytest.raises(PortableError, match=r"^chapter: "):
        convert(source)


EXERCISE = "```{exercise-start} Count\n:label: c\n:nonumber:\n```\nHow many?\n```{exercise-end}\n```"
OPEN = "```{solution-start} c\n:class: dropdown\n```"
CLOSE = "```{solution-end}\n```"


def test_exercise_is_named():
    assert convert(EXERCISE) == ["**Exercise (Count).**\n\nHow many?"]


def test_solution_in_one_cell_is_folded():
    summary = "<details><summary>Solution to Exercise (Count)</summary>"
    assert convert(EXERCISE, f"{OPEN}\nTwo.\n{CLOSE}")[1] == f"{summary}\n\nTwo.\n\n</details>"


def test_solution_over_cells_is_folded_in_each():
    cells = [
        ("markdown", EXERCISE),
        ("markdown", OPEN + "\nSo:"),
        ("code", "1 + 1"),
        ("markdown", f"Two.\n{CLOSE}"),
    ]
    texts = [text for text, _ in to_markdown(cells, "chapter")]
    assert [text.count("<details>") for text in texts] == [0, 1, 0, 1]
    assert [text.count("</details>") for text in texts] == [0, 1, 0, 1]


def test_cells_of_a_solution_are_marked():
    cells = [
        ("code", "0"),
        ("markdown", EXERCISE),
        ("markdown", OPEN),
        ("code", "1"),
        ("markdown", CLOSE),
        ("code", "2"),
    ]
    assert [inside for _, inside in to_markdown(cells, "chapter")] == [False, False, True, True, False, False]


def test_solution_that_is_all_code_says_where_it_is():
    cells = [("markdown", EXERCISE), ("markdown", OPEN), ("code", "1"), ("markdown", CLOSE)]
    texts = [text for text, _ in to_markdown(cells, "chapter")]
    assert texts[1] == "*Solution to Exercise (Count) is in the next cell, which is folded.*"
    assert texts[3] == ""


def test_solution_with_a_dropdown_is_balanced():
    dropdown = "```{dropdown} More\nThere is.\n```"
    cells = [
        ("markdown", EXERCISE),
        ("markdown", f"{OPEN}\n{dropdown}"),
        ("code", "1"),
        ("markdown", f"{dropdown}\n{CLOSE}"),
    ]
    texts = [text for text, _ in to_markdown(cells, "chapter")]
    assert [text.count("<details>") for text in texts] == [0, 2, 0, 2]
    assert [text.count("</details>") for text in texts] == [0, 2, 0, 2]


def test_two_solutions_meet_in_one_cell():
    other = EXERCISE.replace("Count", "Weigh").replace(": c", ": w")
    between = f"Two.\n{CLOSE}\n{OPEN.replace(' c', ' w')}\nThree."
    cells = [
        ("markdown", EXERCISE + "\n" + other),
        ("markdown", OPEN),
        ("code", "1"),
        ("markdown", between),
        ("code", "2"),
        ("markdown", CLOSE),
    ]
    text = to_markdown(cells, "chapter")[3][0]
    summaries = ["Solution to Exercise (Count), continued", "Solution to Exercise (Weigh)"]
    assert re.findall("<summary>(.*?)</summary>", text) == summaries


def test_open_solution_at_the_end_is_an_error():
    with pytest.raises(PortableError, match="never closed"):
        to_markdown([("markdown", EXERCISE), ("markdown", OPEN)], "chapter")
