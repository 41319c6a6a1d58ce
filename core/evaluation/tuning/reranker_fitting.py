"""Examples that teach the included reranker which piece of a passage answers a question.

Each question comes with the first words of the sentences that answer it, hashed, so that no text of the documents is
kept. The pieces are those that the reranker reads in a search. Wrong ones are the nearest by cosine: of the same
document, and of others.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Passage
from core.domain.errors import BadRequest
from core.evaluation.judgments.word_hashes import is_word_hash, word_hashes_in
from core.search.ranking.rerank import pieces_of

__all__ = ["RerankerExample", "RerankerQuestion", "parse_reranker_questions", "reranker_examples"]

_NEAR_SAME, _NEAR_OTHER, _NEAR_UNANSWERED = 6, 5, 3  # wrong pieces of a question, nearest first. Chosen by hand.
_BLOCK = 256  # questions compared with all pieces at once
_KINDS = ("plain", "other", "near")


@dataclass(frozen=True, slots=True)
class RerankerQuestion:
    """A question about a document. document: the first 16 digits of its SHA-256. kind: "plain", "other" (in other words
    than the text) or "near" (the document does not answer it). hashes: of the sentences that answer it, or come
    nearest."""

    document: str
    kind: str
    hashes: tuple[str, ...]
    question: str


@dataclass(frozen=True, slots=True)
class RerankerExample:
    """right: pieces of which each answers the question, none for a "near" one. wrong: others, hardest first, ≥ 1."""

    question: str
    right: tuple[str, ...]
    wrong: tuple[str, ...]


def parse_reranker_questions(lines: Sequence[str]) -> list[RerankerQuestion]:
    """One question per line of JSON. Raises BadRequest naming the line."""
    found = []
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
            each = RerankerQuestion(row["document"], row["kind"], tuple(row["sentences"]), row["question"])
        except (ValueError, KeyError, TypeError) as error:
            hint = "Give document, kind, sentences and question."
            raise BadRequest(f"Line {number} cannot be read as a question: {error!r}.", hint) from error
        if each.kind not in _KINDS or not all(map(is_word_hash, each.hashes)):
            raise BadRequest(f"Line {number} has a wrong kind or sentence.", f"Kinds are {', '.join(_KINDS)}.")
        found.append(each)
    return found


def reranker_examples(
    questions: Sequence[RerankerQuestion],
    passages: Mapping[str, Sequence[Passage]],
    characters: int,
    embed: Callable[[Sequence[str]], NDArray[np.float32]],
) -> list[RerankerExample]:
    """An example for each question whose sentences are found.

    passages: by document. characters: of a piece, as in `pieces_of`. embed: unit vectors, shape (n, dimensions)."""
    pieces = [
        (document, piece) for document, own in passages.items() for each in own for piece in pieces_of(each, characters)
    ]
    texts = [piece for _, piece in pieces]
    owned: dict[str, list[int]] = {}
    for at, (document, _) in enumerate(pieces):
        owned.setdefault(document, []).append(at)
    hashes: dict[str, set[str]] = {}
    for each in questions:
        hashes.setdefault(each.document, set()).update(each.hashes)
    hashes_found = [word_hashes_in(text, [*hashes.get(document, ())]) for document, text in pieces]
    vectors, question_vectors = embed(texts), embed([each.question for each in questions])
    found = []
    for start in range(0, len(questions), _BLOCK):
        cosines = question_vectors[start : start + _BLOCK] @ vectors.T
        for each, row in zip(questions[start : start + _BLOCK], cosines, strict=False):
            own = np.array(owned.get(each.document, []), np.intp)
            right = [int(at) for at in own if not hashes_found[at].isdisjoint(each.hashes)]
            if not right:
                continue
            nearest = own[np.argsort(-row[own], kind="stable")]
            nearest = nearest[~np.isin(nearest, right)]
            if each.kind == "near":
                found.append(_example(each, texts, (), (*right, *nearest[:_NEAR_UNANSWERED])))
                continue
            row[own] = -np.inf
            found.append(_example(each, texts, right, (*nearest[:_NEAR_SAME], *_highest(row, len(texts) - len(own)))))
    return [each for each in found if each.wrong]


def _highest(row: NDArray[np.float32], finite: int) -> NDArray[np.intp]:
    """Indices of the highest values, _NEAR_OTHER at most, highest first. finite: how many are."""
    most = min(_NEAR_OTHER, finite)
    some = np.argpartition(-row, most - 1)[:most] if most else np.array([], np.intp)
    return some[np.argsort(-row[some], kind="stable")]


def _example(
    question: RerankerQuestion, texts: Sequence[str], right: Sequence[int], wrong: Sequence[int]
) -> RerankerExample:
    return RerankerExample(question.question, tuple(texts[at] for at in right), tuple(texts[at] for at in wrong))
