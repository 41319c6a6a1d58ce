"""What may be kept as a set, a question or a judgment: names, keys, texts and grades that every export can hold."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from core.errors import BadRequest
from core.judged import GRADES

__all__ = [
    "CANNOT_JUDGE",
    "DEFAULT_KIND",
    "checked_grade",
    "checked_judge",
    "checked_key",
    "checked_kind",
    "checked_name",
    "checked_note",
    "checked_question",
    "free_keys",
    "grade_words",
    "stands_for_text",
]

DEFAULT_KIND = "natural"
CANNOT_JUDGE = "can't judge"
"""How the grade None is called."""

_LONGEST = {"set's name": 80, "key": 64, "question": 2_000, "kind": 40, "judge's name": 80, "note": 2_000}
_BLANK = re.compile(r"\s")
_NUMBERED = re.compile(r"q([1-9][0-9]{0,8})")


def stands_for_text(text: str) -> bool:
    """Whether every character of it can be stored and written: NUL cannot, nor half a pair of surrogates.

    >>> stands_for_text("Würde?"), stands_for_text("a" + chr(0))
    (True, False)
    """
    return not any(each == "\0" or "\ud800" <= each <= "\udfff" for each in text)


def _checked(text: str, what: str, *, empty: bool = False) -> str:
    """The text without blanks around it. Raises BadRequest for what is empty, too long, or no text."""
    tidy = text.strip()
    if not tidy and not empty:
        raise BadRequest(f"The {what} is empty.", "Write it.")
    if len(tidy) > _LONGEST[what]:
        problem = f"A {what} has at most {_LONGEST[what]:,} characters, this one has {len(tidy):,}."
        raise BadRequest(problem, "Shorten it.")
    if not stands_for_text(tidy):
        raise BadRequest(f"The {what} holds a character that stands for nothing.", "Type it again.")
    return tidy


def checked_name(name: str) -> str:
    """A set's name in one line. Raises BadRequest."""
    return _checked(" ".join(name.split()), "set's name")


def checked_note(note: str) -> str:
    """A note, which may be empty. Raises BadRequest."""
    return _checked(note, "note", empty=True)


def checked_question(question: str) -> str:
    """A question as it is asked. Raises BadRequest."""
    return _checked(question, "question")


def checked_kind(kind: str) -> str:
    """A question's kind in small letters; "natural" for none. Raises BadRequest.

    >>> checked_kind(" Acronym "), checked_kind("")
    ('acronym', 'natural')
    """
    return _checked(" ".join(kind.lower().split()) or DEFAULT_KIND, "kind")


def checked_key(key: str) -> str:
    """A question's name outside; it is a column of TREC files, so it holds no blanks. Raises BadRequest."""
    tidy = _checked(key, "key")
    if _BLANK.search(tidy) or not tidy.isprintable():
        raise BadRequest(f"The key '{tidy[:60]}' holds blanks.", "Write it as one word, such as q1.")
    return tidy


def checked_judge(who: str) -> str:
    """Who judges, in one line. Raises BadRequest when nobody says so."""
    if not who.strip():
        raise BadRequest(
            "A judgment needs the name of who judges.", "Say who you are: fill in “Your name”, then try again."
        )
    return _checked(" ".join(who.split()), "judge's name")


def checked_grade(grade: Any) -> int | None:
    """A grade of GRADES, or None for "can't judge". Raises BadRequest.

    >>> checked_grade(3), checked_grade(None)
    (3, None)
    """
    if grade is None or (isinstance(grade, int) and not isinstance(grade, bool) and grade in GRADES):
        return grade
    said = ", ".join(f"{number} {words}" for number, words in GRADES.items())
    raise BadRequest(f"'{str(grade)[:20]}' is no grade.", f"Grades are: {said}; or {CANNOT_JUDGE}.")


def grade_words(grade: int | None) -> str:
    """A grade as people read it.

    >>> grade_words(2), grade_words(None)
    ('2 answers in part', "can't judge")
    """
    return CANNOT_JUDGE if grade is None else f"{grade} {GRADES[grade]}"


def free_keys(taken: Iterable[str]) -> Iterator[str]:
    """Keys for new questions: "q1", "q2" …, each after the highest that is taken.

    >>> keys = free_keys(["q2", "d40", "q7"])
    >>> next(keys), next(keys)
    ('q8', 'q9')
    """
    numbers = [int(match[1]) for match in map(_NUMBERED.fullmatch, taken) if match]
    number = max(numbers, default=0)
    while True:
        number += 1
        yield f"q{number}"
