"""Generates questions a document answers, each with the answering sentence. Prefers precision to number."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from core.knowledge.enrichment import base_forms, keyword_words, question_forms
from core.library.enrichment.document_reader import DocumentText, TextSentence, is_prose
from core.library.enrichment.values import Question, Questions
from core.text.tokenize import STOP_WORDS, keywords, stem

__all__ = ["find_questions"]

# The numbers below were chosen by hand, not fitted.
_MOST, _FEW = 5, 3  # questions; a form with a weight of at most _FILLING only fills up to the fewer
_FILLING = 0.5
_SAME = 0.6
_MOST_WORDS = 18
_BELOW = 3  # sentences below a heading that may answer it
_HEADED = 1.15  # weight of a question from a heading
_LEAST_NEAR = 0.2
_LINKS = frozenset("of for to in on with by from and or as under at into per than between about".split())
_DETERMINERS = frozenset("the a an this that these those your our their its his her my".split())
_NOT_DEFINED = frozenset("all any each every no your our some both".split())
_ASIDE = frozenset("so also both then therefore either such".split())
_ASKS = re.compile(r"(?i)(?:who|what|when|where|why|which|how|do|does|is|are|can|may|must|should|will)\b")
_WHAT_IS = re.compile(r"(?i)what (?:is|are) (?:an?|the)? ?\S+(?: \S+)?\?$")
_NUMBERED = re.compile(r"^\W*(?:(?:Q|Question|Step)?\s*\d+[.):]*\d*[.):]*|[A-Z][.)]|Q[.:])?\s*")
_SAYS_WHAT = re.compile(r" (?:is|are|means?|refers? to|consists? of) ")
_SMALL = re.compile(r"\b[a-z][a-z'’-]+\b")
_INNER = re.compile(r"(?<=[a-z,] )[A-Z][\w’'-]*")
_POINTING = re.compile(
    r"(?i)^(?:it|this|that|these|those|they|he|she|such|there|here|we|i|one|both|other|another|same|said|following|above"
    r"|in|on|for|if|when|under|as|by|with|at|after|before|except|unless|while|although|however|to|and|but|or|not|also"
    r"|because|since|during|from|upon|where|all of|any of|each of|some|many|most|note|example|an example|the following"
    r"|the same|the above|the result|the reason|the only|the first|the second|the next|the last|another|the other"
    r"|what|which|who|how|please|instead|an? (?:key|central|main|major|good|common|decisive|important|typical|simple"
    r"|better|big|great|new|final|single|first|second|third|very|more|different|similar|good))\b"
)
_POINTED = re.compile(
    r"(?i)\b(?:such|said|above|below|following|this|that|these|those|herein|thereof|it|its|they|their|them|he|she|his|her|him|here|there)\b"
)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """weight: of the question form, in (0, 2]; near: similarity of the sentence to the document's mean vector, in [0,
    1].
    """

    question: str
    sentence: TextSentence
    weight: float
    near: float


def find_questions(reading: DocumentText) -> Questions:
    """At most five questions in reading order, each answered by a sentence of the document; English only.

    Sources: headings that are questions, and sentences of the forms in core/knowledge/question_forms.toml.
    """
    if not reading.english or reading.is_table:
        return Questions()
    central = _central(reading)
    case = _Case(reading)
    found = [*_headed(reading, central, case), *_candidates(reading, central, case)]
    chosen: list[_Candidate] = []
    for each in sorted(found, key=lambda one: (-one.weight - one.near, one.sentence.position)):
        most = _MOST if each.weight > _FILLING else _FEW
        if len(chosen) < most and not any(_alike(each, other) for other in chosen):
            chosen.append(each)
    chosen.sort(key=lambda one: one.sentence.position)
    return Questions(tuple(Question(each.question, each.sentence.quote) for each in chosen))


def _central(reading: DocumentText) -> dict[int, float]:
    """Position of a sentence → its cosine with the document's mean vector, in [0, 1]."""
    if not len(reading.vectors):
        return {}
    middle = reading.vectors.mean(axis=0)
    near = np.clip(reading.vectors @ middle / max(float(np.linalg.norm(middle)), 1e-9), 0.0, 1.0)
    return {each.position: float(near[each.vector]) for each in reading.sentences if each.vector >= 0}


def _headed(reading: DocumentText, central: dict[int, float], case: "_Case") -> Iterator[_Candidate]:
    """Headings that are questions, answered by one of the first sentences below that shares a word with the heading."""
    starts = [heading.followed_by for heading in reading.headings] + [len(reading.sentences)]
    for heading, end in zip(reading.headings, starts[1:], strict=True):
        question = _heading_question(heading.text)
        below = reading.sentences[heading.followed_by : min(end, heading.followed_by + _BELOW)]
        answer = next((each for each in below if _answers(question, each)), None) if question else None
        if answer is not None:
            yield _Candidate(case.sentence(question), answer, _HEADED, central.get(answer.position, 1.0))


def _heading_question(heading: str) -> str:
    """The question a heading asks, "" when it asks none.

    >>> headings = ("3. Who must file?", "What's new", "Overtime", "Why do this?")
    >>> [_heading_question(heading) for heading in headings]
    ['Who must file?', '', '', '']
    """
    text = _NUMBERED.sub("", heading).strip(" *_#")
    if not 3 <= len(text.split()) <= _MOST_WORDS or text.isupper() or _POINTED.search(text):
        return ""
    if not text.endswith("?") or not _ASKS.match(text) or text.count("?") > 1:
        return ""
    return text[0].upper() + text[1:]


def _answers(question: str, sentence: TextSentence) -> bool:
    if not is_prose(sentence.shown) or "?" in sentence.shown or ": " in sentence.shown[:30]:
        return False
    question_stems = _content_stems(question)
    if _WHAT_IS.match(question):
        before = _SAYS_WHAT.split(sentence.shown, maxsplit=1)[0]
        return (
            bool(question_stems)
            and question_stems <= _content_stems(before)
            and len(_content_stems(before)) <= len(question_stems) + 1
        )
    return len(question_stems & _content_stems(sentence.shown)) >= min(2, max(len(question_stems), 1))


def _content_stems(text: str) -> set[str]:
    """The stems of its words but for stop words."""
    return {stem(word) for word in keywords(text)}


def _candidates(reading: DocumentText, central: dict[int, float], case: "_Case") -> Iterator[_Candidate]:
    for sentence in reading.prose:
        near = central.get(sentence.position, 1.0)
        for form in question_forms() if near >= _LEAST_NEAR else ():
            match = form.pattern.search(sentence.shown)
            if match is None:
                continue
            question = _written(form.question, match, case)
            if question:
                listed = 0.1 if sentence.item else 0.0
                yield _Candidate(question, sentence, form.weight - listed, near)
                break


def _written(template: str, match: re.Match[str], case: "_Case") -> str:
    """The question a sentence answers, "" when its words would not make a good one."""
    groups = {name: " ".join((value or "").split()) for name, value in match.groupdict().items()}
    if "subject" in groups:
        if not _good_subject(groups["subject"], defined="kind" in groups):
            return ""
        groups["subject"] = case.within(groups["subject"])
        groups.setdefault("be", "are" if re.search(r"\bare\b", match.group()) else "is")
    if "people" in groups and _POINTING.match(groups["people"]):
        return ""
    groups["modal"] = "must" if groups.get("modal") == "shall" else groups.get("modal", "")
    groups["modal_first"] = "May" if groups["modal"].endswith(" not") else groups["modal"].capitalize()
    groups["not"] = "not " if groups.get("not") else ""
    groups["base"] = base_forms().get(groups.get("done", ""), "")
    if not _good_deed(groups.get("deed", "")):
        return ""
    question = " ".join(template.format(**groups).split()).replace(" ?", "?")
    inner = " ".join(groups.get(name, "") for name in ("rest", "deed", "doing", "condition", "actor", "term"))
    if _POINTED.search(inner) or len(question.split()) > _MOST_WORDS or any(sign in question for sign in "[]<>{}|*`\\"):
        return ""
    return question


def _good_deed(deed: str) -> bool:
    words = deed.split()
    return not words or not (words[-1] in STOP_WORDS or _ASIDE.intersection(words))


def _good_subject(subject: str, *, defined: bool) -> bool:
    """Whether a question may ask about this subject. defined: the sentence defines it; then it must be a specific name,
    not "the key" or "your account".
    """
    words = subject.split()
    if (
        _POINTING.match(subject)
        or _POINTED.search(subject)
        or words[-1].lower() in STOP_WORDS
        or words[0].endswith("ly")
    ):
        return False
    inner = [here.lower() for before, here in pairwise(words) if before.lower() not in _LINKS]
    if _DETERMINERS.intersection(inner):
        return False
    if defined and (words[0].lower() in _NOT_DEFINED or (words[0] == "The" and len(words) == 2 and words[1].islower())):
        return False
    stems = _content_stems(subject)
    letters = sum(char.isalpha() or char == " " for char in subject)
    return bool(stems) and not keyword_words().furniture.issuperset(stems) and letters >= 0.8 * len(subject)


class _Case:
    """Tells which words of a document are capitalised only because they begin a sentence."""

    def __init__(self, reading: DocumentText) -> None:
        texts = [each.shown for each in reading.sentences]
        self._small = {stem(word) for text in texts for word in _SMALL.findall(text)}
        self._names = {word for text in texts for word in _INNER.findall(text)}

    def within(self, subject: str) -> str:
        """A subject as it stands inside a sentence."""
        first, _, rest = subject.partition(" ")
        return f"{self._lowered(first)} {rest}".strip()

    def sentence(self, question: str) -> str:
        """A question in small letters but for its first word and names."""
        first, *rest = question.split()
        return " ".join([first, *(word if word == "I" else self._lowered(word) for word in rest)])

    def _lowered(self, word: str) -> str:
        plain = word.strip("“”\"'()?,.").lower()
        if any(char.isupper() for char in word[1:]) or any(char.isdigit() for char in word):
            return word
        known = plain in STOP_WORDS or stem(plain) in self._small
        return word.lower() if known or word.strip("“”\"'()?,.") not in self._names else word


def _alike(one: _Candidate, other: _Candidate) -> bool:
    """Whether two questions have one answer, or most of their words."""
    if one.sentence.position == other.sentence.position:
        return True
    words, others = _content_stems(one.question), _content_stems(other.question)
    return len(words & others) > _SAME * max(len(words), len(others))
