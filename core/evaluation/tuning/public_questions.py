"""Public sets of questions and answers, as documents and questions that teach the included reranker.

Each reader takes the files of one set and yields its texts, each with questions and the sentences that answer them.
"""

import csv
import io
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from core.text.sentences import sentences

__all__ = ["PUBLIC_SETS", "AnsweredText", "PublicSet"]

_TAG = re.compile(r"<[^>]+>")
_WORD = re.compile(r"\w+")
_LEAST_SHARED = 0.5  # of an answer's words, in the sentence that is taken for its source. Chosen by hand.
_MOST = 6  # questions about a text, spread over it: many about one teach little. Chosen by hand.

Files = Mapping[str, bytes]
"""Path inside the repository → contents."""


Question = tuple[str, tuple[str, ...]]
"""A question, and sentences of which each answers it, ≥ 1."""


@dataclass(frozen=True, slots=True)
class AnsweredText:
    """A text, and questions that its sentences answer."""

    text: str
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class PublicSet:
    """Where a set is: OWNER/NAME of its repository, and patterns of the paths in it that are read."""

    repository: str
    patterns: tuple[str, ...]
    read: Callable[[Files], Iterator[AnsweredText]]


def _fairytales(files: Files) -> Iterator[AnsweredText]:
    """FairytaleQA (Xu et al. 2022): stories in sections, questions about some of them."""
    for path, data in files.items():
        if not path.endswith("-questions.csv"):
            continue
        story = path.replace("/questions/", "/section-stories/").replace("-questions.csv", "-story.csv")
        if story not in files:
            continue
        sections = {row["section"]: " ".join(row["text"].split()) for row in _rows(files[story])}
        questions = []
        for row in _rows(data):
            about = [sections[each.strip()] for each in row["cor_section"].split(",") if each.strip() in sections]
            if found := _source(" ".join(about), row["answer1"] or ""):
                questions.append((row["question"], (found,)))
        yield _answered("\n\n".join(sections.values()), questions)


def _source(text: str, answer: str) -> str:
    """The sentence of a text that has most of an answer's words, "" when none has half of them."""
    needed = set(_WORD.findall(answer.lower()))
    found = [span.of(text) for span in sentences(text)]
    shared = [len(needed & set(_WORD.findall(each.lower()))) for each in found]
    best = max(range(len(found)), key=lambda at: shared[at], default=None)
    return found[best] if best is not None and shared[best] >= max(1.0, _LEAST_SHARED * len(needed)) else ""


def _covid(files: Files) -> Iterator[AnsweredText]:
    """COVID-QA (Möller et al. 2020): scientific articles in the form of SQuAD."""
    for data in files.values():
        for article in json.loads(data)["data"]:
            for part in article["paragraphs"]:
                text = part["context"]
                spans = sentences(text)
                starts = [(each["question"], each["answers"][0]["answer_start"]) for each in part["qas"]]
                yield _answered(
                    text,
                    [
                        (question, (span.of(text),))
                        for question, at in starts
                        for span in spans
                        if span.start <= at < span.end
                    ],
                )


def _conditional(files: Files) -> Iterator[AnsweredText]:
    """ConditionalQA (Sun et al. 2022): of each page of gov.uk the lines that answer some question about it."""
    lines: dict[str, dict[str, None]] = defaultdict(dict)
    questions: dict[str, list[Question]] = defaultdict(list)
    for data in files.values():
        for row in json.loads(data):
            found = tuple(_TAG.sub("", each).strip() for each in row["evidences"])
            lines[row["url"]] |= dict.fromkeys(found)
            if found:
                questions[row["url"]].append((row["question"], found))
    for url, own in lines.items():
        yield _answered("\n\n".join(own), questions[url])


def _medical(files: Files) -> Iterator[AnsweredText]:
    """MedQuAD (Ben Abacha and Demner-Fushman 2019): pages on diseases, one answer for each heading."""
    for data in files.values():
        pairs = [
            (pair.findtext("Question") or "", " ".join((pair.findtext("Answer") or "").split()))
            for pair in ElementTree.fromstring(data).iter("QAPair")
        ]
        answered = [(question.strip(), answer) for question, answer in pairs if answer]
        yield _answered("\n\n".join(answer for _, answer in answered), [(each, (text,)) for each, text in answered])


def _rows(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))


def _answered(text: str, questions: Sequence[Question]) -> AnsweredText:
    """The text with some of its questions, evenly spread."""
    some = range(min(_MOST, len(questions)))
    return AnsweredText(text, tuple(questions[at * len(questions) // len(some)] for at in some))


PUBLIC_SETS: tuple[PublicSet, ...] = (
    PublicSet(
        "uci-soe/FairytaleQAData",
        tuple(
            f"data-by-train-split/{kind}/{part}/*.csv"
            for kind in ("questions", "section-stories")
            for part in ("train", "val", "test")
        ),
        _fairytales,
    ),
    PublicSet("deepset-ai/COVID-QA", ("data/question-answering/200423_covidQA.json",), _covid),
    PublicSet("haitian-sun/ConditionalQA", ("v1_0/train.json", "v1_0/dev.json"), _conditional),
    PublicSet("abachaa/MedQuAD", tuple(f"{number}_*/*.xml" for number in (1, 5, 6, 7, 8, 9)), _medical),
)
"""Sets whose licence is Apache 2.0, CC BY 4.0 or BSD. Of MedQuAD the parts with several answers a page; parts 2 and 3
ask the same of thousands of rare diseases."""
