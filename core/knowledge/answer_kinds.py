"""Kinds of answers (amount, duration, …): which a question asks for, and which sentences contain one."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from core.domain.errors import BadTable
from core.knowledge.loading import check_keys, table

__all__ = ["AnswerKind", "answer_kinds", "question_kind"]

_KEYS = ("name", "label", "asked", "held", "marks", "needed")


@dataclass(frozen=True, slots=True)
class AnswerKind:
    """name: row key. label: with its article, as in "asks for a length of time". asked: pattern over questions. held:
    pattern over sentences. marks: substrings, one of which every match contains; empty: no such filter. needed: without
    a passage that contains this kind, the question is not answered."""

    name: str
    label: str
    question_pattern: re.Pattern[str]
    answer_pattern: re.Pattern[str]
    marks: tuple[str, ...] = ()
    needed: bool = False

    def answer_in(self, sentence: str) -> str:
        """The part of a sentence that is of this kind, or "".

        >>> kinds = answer_kinds()
        >>> kinds["duration"].answer_in("Tell us within 72 hours."), kinds["money"].answer_in("Tell us.")
        ('72 hours', '')
        """
        return _answer_in(self.name, sentence)


@lru_cache(maxsize=8192)  # sentences of passages that are found again and again
def _answer_in(name: str, sentence: str) -> str:
    kind, lower_case = answer_kinds()[name], sentence.lower()
    for mark in kind.marks:  # cheap check first: the pattern takes many times as long
        if mark in lower_case:
            break
    else:
        if kind.marks:
            return ""
    found = kind.answer_pattern.search(lower_case)
    return sentence[found.start() : found.end()].strip() if found else ""


@cache
def answer_kinds() -> Mapping[str, AnswerKind]:
    """Name → kind, in table order. Raises BadTable."""
    rows = table("answer_kinds")
    check_keys("answer_kinds", "top level", rows, ("parts", "kinds"))
    return {row["name"]: _kind(row, rows["parts"]) for row in rows["kinds"]}


def question_kind(question: str) -> str:
    """The name of the answer kind a question asks for, or "" for any kind.

    >>> question_kind("How long are records kept?"), question_kind("Why are they kept?")
    ('duration', '')
    """
    lower_case = question.lower().replace("’", "'")
    return next((kind.name for kind in answer_kinds().values() if kind.question_pattern.search(lower_case)), "")


def _kind(row: Mapping[str, Any], parts: Mapping[str, str]) -> AnswerKind:
    check_keys("answer_kinds", "kinds", row, _KEYS)
    try:
        question_pattern, answer_pattern = (
            re.compile(row[key].replace("\n", "").format(**parts), re.ASCII) for key in ("asked", "held")
        )
        return AnswerKind(
            row["name"],
            row["label"],
            question_pattern,
            answer_pattern,
            tuple(row.get("marks", ())),
            bool(row.get("needed", False)),
        )
    except (KeyError, IndexError, ValueError, re.error) as error:
        named = row.get("name", "a row")
        raise BadTable(f"core/knowledge/answer_kinds.toml: {named}: {error}.", "Correct the row.") from error
