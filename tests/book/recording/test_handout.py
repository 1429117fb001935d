import re

import pytest

from book.recording.handout import without_solutions
from book.recording.notebooks import sources

EXERCISE = """\
```{exercise-start} Count
:label: c
:nonumber:
```
How many?
```{exercise-end}
```

```{solution-start} c
:class: dropdown
```
As many:

```{code-cell}
answer = 3
```

```{solution-end}
```

After.
"""

QUIZ = """\
## Quiz

**Question 1.** How many?

```{dropdown} 3
Right. They are as many.
```

```{dropdown} 4
No. That is too many.
```

```{code-cell}
:tags: [hide-cell]

assert 3 == 3
```

## Exercises
"""


def test_a_solution_is_left_out_and_its_exercise_stays():
    text = without_solutions(EXERCISE)
    assert "As many" not in text
    assert "answer" not in text
    assert "How many?" in text
    assert text.endswith("After.\n")


def test_quiz_keeps_its_choices_without_explanations_and_answers():
    text = without_solutions(QUIZ)
    assert "**Question 1.** How many?" in text
    assert "- 3\n- 4\n" in text
    assert "Right." not in text
    assert "assert" not in text


def test_code_and_dropdowns_outside_solution_and_quiz_stay():
    text = "```{dropdown} More\nNo. It stays.\n```\n\n```{code-cell}\n:tags: [hide-cell]\n\nx = 1\n```\n"
    assert without_solutions(text) == text


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.stem)
def test_no_chapter_keeps_a_solution(path):
    text = without_solutions(path.read_text(encoding="utf-8"))
    assert text.count("{exercise-start}") == path.read_text(encoding="utf-8").count("{exercise-start}")
    assert not re.search(r"\{solution|^(Right|No)\. ", text, re.MULTILINE)
