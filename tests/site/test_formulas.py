"""Formulas: MathML made while the site builds, with the files that it is made with."""

import hashlib
import re
from xml.etree import ElementTree

import pytest
from docutils import nodes
from docutils.utils import new_document
from small_course import chapter

from book.site import formulas
from book.site.formulas import VENDOR, FormulaError, keep_together, mathml


@pytest.fixture(scope="module", autouse=True)
def engine():
    yield
    formulas.close()


def parsed(tex, *, display=False):
    markup = mathml(tex, display=display).replace("&nbsp;", " ")
    return ElementTree.fromstring(markup)


def texts(root, tag):
    return ["".join(part.itertext()) for part in root.iter(tag)]


def test_published_files_are_as_their_hashes_say():
    lines = (VENDOR / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    wanted = dict(reversed(line.split("  ")) for line in lines)
    found = {
        path.relative_to(VENDOR).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in VENDOR.glob("*/*")
    }
    assert found == wanted
    assert {path.parent.name for path in VENDOR.glob("*/LICENSE")} == {p.name for p in VENDOR.glob("*/")}


def test_names_of_functions_are_upright_words_and_subscripts_hold_all_their_letters():
    root = parsed(r"h_t = \tanh(W_{xh} x_t)")
    assert texts(root, "msub") == ["ht", "Wxh", "xt"]
    assert "tanh" in texts(root, "mi")


@pytest.mark.parametrize(
    ("tex", "tag", "count"),
    [
        (r"\begin{aligned} a &= b \\ c &= d \end{aligned}", "mtr", 2),
        (r"\begin{align} a &= b \\ c &= d \\ e &= f \end{align}", "mtr", 3),
        (r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}", "mtd", 4),
        (r"f(x) = \begin{cases} 1 & x > 0 \\ 0 & x \le 0 \end{cases}", "mtr", 2),
        (r"\sum_{t=1}^T \frac{\partial \ell}{\partial h_t}", "mfrac", 1),
        (r"\sum_{t=1}^T x_t", "munderover", 1),
        (r"\sqrt{x}", "msqrt", 1),
        (r"\hat y", "mover", 1),
    ],
)
def test_each_kind_of_formula_has_its_parts(tex, tag, count):
    assert len(texts(parsed(tex, display=True), tag)) == count


def test_a_tag_is_shown():
    assert "(7)" in "".join(parsed(r"a = b \tag{7}", display=True).itertext())


@pytest.mark.parametrize("tex", [r"\tanhh(x)", r"\frac{1}{", r"\begin{matrix} a", "a }"])
def test_a_formula_that_cannot_be_read_is_an_error(tex):
    with pytest.raises(FormulaError):
        mathml(tex)


def bound(*parts):
    """Return what is kept on one line in a paragraph of these parts, and the paragraph's words."""
    document = new_document("page")
    paragraph = nodes.paragraph()
    paragraph += [nodes.math("", part[1:-1]) if part[0] == "$" else nodes.Text(part) for part in parts]
    document += paragraph
    keep_together(type("App", (), {"builder": type("Builder", (), {"format": "html"})}), document, "page")
    return [one.astext() for one in document.findall(nodes.inline)], paragraph.astext()


@pytest.mark.parametrize(
    ("parts", "kept"),
    [
        (["of ", "$x$", ", and"], ["x,"]),
        (["of (", "$x$", "), and"], ["(x),"]),
        (["the ", "$n$", "-gram is"], ["n-gram"]),
        (["of ", "$x$", " and"], []),
        (["of ", "$x$", "-and-much-more-than-fits is"], []),
        (["$x$"], []),
    ],
)
def test_what_touches_a_formula_stays_on_its_line(parts, kept):
    inlines, words = bound(*parts)
    assert inlines == kept
    assert words == "".join(part.strip("$") for part in parts)


PAGE = r"""
(eq-of-text)=

$$
h_t = \tanh(x_t)
$$ (state)

By {eq}`state`, $h_t$, and so on.

$$
\begin{aligned} a &= b \\ c &= d \end{aligned}
$$ (second)

Now {eq}`second`. The price is \$5.
"""


@pytest.fixture(scope="module")
def page(course):
    course.write("small.md", chapter("print(1)") + PAGE)
    assert course.record().returncode == 0
    done = course.build()
    assert done.returncode == 0, done.stdout + done.stderr
    return (course.root / "_build" / "html" / "chapters" / "small.html").read_text(encoding="utf-8")


def test_equations_are_numbered_and_linked_to(page):
    ids = re.findall(r'<div class="d2lrnn-equation[^"]*" id="([^"]+)"', page)
    assert ids == ["equation-state", "equation-second"]
    assert re.findall(r'<a class="eqno" href="#([^"]+)"[^>]*>\((\d)\)</a>', page) == [
        ("equation-state", "1"),
        ("equation-second", "2"),
    ]
    assert re.findall(r'href="#(equation-\w+)">\(?(?:<[^>]+>)*\(?(\d)\)', page)[-2:] == [
        ("equation-state", "1"),
        ("equation-second", "2"),
    ]


def test_a_page_has_mathml_and_neither_tex_nor_a_script_for_it(page):
    assert page.count("<math") == 3
    assert "\\tanh" not in page
    assert "\\(" not in page
    assert not re.search(r"<script[^>]*mathjax", page, re.IGNORECASE)


def test_the_font_is_where_the_style_sheet_looks_for_it(page, course):
    styles = course.root / "_build" / "html" / "_static" / "styles"
    name = re.search(r"url\('\./(\w+\.woff2)'\)", (styles / "site.css").read_text(encoding="utf-8"))
    assert (styles / name[1]).read_bytes() == formulas.FONT.read_bytes()


def test_a_build_names_page_and_formula_that_cannot_be_read(page, course):
    path = course.root / "chapters" / "small.md"
    before = path.read_text(encoding="utf-8")
    path.write_text(before.replace("h_t = \\tanh", "h_t = \\tanhh"), encoding="utf-8")
    done = course.build()
    path.write_text(before, encoding="utf-8")
    assert done.returncode != 0
    assert re.search(
        r"chapters/small\.md:\d+: WARNING: .*in the formula h_t = \\tanhh", done.stdout + done.stderr
    )
