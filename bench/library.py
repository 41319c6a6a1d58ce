"""Generates a library of any size from real text: recombined sentences with the vectors such passages would have.

    passage   as many sentences as a real one, half of them its own, half others of its truth, with two made words
    vector    the mean of its sentences' vectors by their length, and noise of its own
    meanings  its sentences' vectors, as they were measured when the real text was read

Made-up words let the vocabulary grow with the library as in real ones (Heaps 1978): drawn by Zipf's law, a few are
everywhere and most occur once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from random import Random

import numpy as np
from numpy.typing import NDArray

from bootstrap.environment import utc_now
from bootstrap.workbench import OpenWorkbench
from core.domain.documents import Document, DocumentState, Label, Labels, Page, Passage, Span, Truth
from core.domain.entities import Entity
from core.domain.errors import BadRequest
from core.ports.stores import Vectors
from core.search.citations.cite import QuotableKind, quotables
from core.search.query.expansion import WordVectors

__all__ = ["PER_DOCUMENT", "SELECTIVITIES", "MadeDocument", "Stock", "jurisdictions_of", "made_documents", "made_words"]

PER_DOCUMENT = 200
SELECTIVITIES = (1.0, 0.1, 0.05, 0.01, 0.001)
"""Shares of the passages that match the filters of `jurisdictions_of`."""

_PER_PAGE = 4
_NOISE = 0.35  # length of what is added to a vector of length 1
_ZIPF = 1.25  # distinct words grow with the power 1 / 1.25 of the passages
_RANKS = 5_000_000  # distinct made-up words at most
_LETTERS, _VOWELS = "bdfgklmnprstvz", "aeiou"
_SHORTEST, _LONGEST = 20, 400  # characters of a sentence


def jurisdictions_of(share: float) -> tuple[str, ...]:
    """The jurisdictions that a share of the passages have; none, which restricts nothing, for all."""
    return () if share == 1 else tuple(_named(each) for each in SELECTIVITIES if each <= share)


def _named(share: float) -> str:
    return "elsewhere" if share == 1 else f"up to {share:.1%}"


@dataclass(frozen=True, slots=True)
class MadeDocument:
    """A generated document; its passages have ids. vectors: one per passage; words: the made-up words in it."""

    document: Document
    pages: tuple[Page, ...]
    passages: tuple[Passage, ...]
    vectors: Vectors
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stock:
    """Real passages, and their sentences of prose by number: text, what it names, vector and packed vector.

    own: per passage its sentences. of_truth: the sentences of each truth. words, entities: all of the text.
    """

    passages: tuple[Passage, ...]
    own: tuple[tuple[int, ...], ...]
    texts: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    vectors: Vectors
    codes: NDArray[np.int8]
    of_truth: dict[Truth | None, list[int]]
    words: WordVectors
    entities: tuple[Entity, ...]

    @classmethod
    def of(cls, library: OpenWorkbench) -> "Stock":
        """What a library holds. Raises BadRequest when it holds no prose."""
        passages, own, texts, names, codes = [], [], [], [], []
        of_truth: dict[Truth | None, list[int]] = {}
        for passage in (
            p
            for d in library.workbench.documents.list()
            for p in library.workbench.documents.passages(d.id)
            if p.meanings
        ):
            measured = np.frombuffer(passage.meanings, dtype=np.int8).reshape(len(passage.sentences), -1)
            first = len(texts)
            for part in quotables(passage):
                said = part.span.of(passage.text)
                if part.kind is QuotableKind.SENTENCE and _SHORTEST <= len(said) <= _LONGEST:
                    texts.append(said)
                    names.append(tuple(name for name in passage.entities if name in said))
                    codes.append(measured[part.index])
            if len(texts) > first:
                passages.append(passage)
                own.append(tuple(range(first, len(texts))))
                of_truth.setdefault(passage.truth, []).extend(own[-1])
        if not passages:
            raise BadRequest("The files hold no prose.", "Name a folder with text.")
        packed = np.stack(codes)
        vectors = packed / np.maximum(np.linalg.norm(packed.astype(np.float32), axis=1, keepdims=True), 1e-9)
        entities = tuple(known.entity for known in library.stores.graph.search("", None, limit=1_000_000).entries)
        return cls(
            tuple(passages),
            tuple(own),
            tuple(texts),
            tuple(names),
            vectors.astype(np.float32),
            packed,
            of_truth,
            library.stores.words.all(),
            entities,
        )


def made_documents(stock: Stock, passages: int, seed: int = 5) -> Iterator[MadeDocument]:
    """So many passages, ids from 1 on, in documents of `PER_DOCUMENT`, ids from 1 on; the same for the same seed."""
    random, numbers = Random(seed), np.random.default_rng(seed)
    shares = _shares(passages, numbers)
    for first in range(0, passages, PER_DOCUMENT):
        rows = range(first, min(first + PER_DOCUMENT, passages))
        yield _document(stock, first // PER_DOCUMENT + 1, rows, shares[first:], random, numbers)


def _shares(passages: int, numbers: np.random.Generator) -> list[float]:
    """Per passage the smallest share it belongs to, so that each share is met exactly, anywhere in the library."""
    order, shares = numbers.permutation(passages), np.ones(passages)
    for share in SELECTIVITIES:
        shares[order[: round(share * passages)]] = share
    return shares.tolist()


def _document(
    stock: Stock, number: int, rows: range, shares: Sequence[float], random: Random, numbers: np.random.Generator
) -> MadeDocument:
    models = random.choices(range(len(stock.passages)), k=len(rows))
    chosen = [_sentences(stock, model, random) for model in models]
    made = _made_words(2 * len(rows), numbers)
    name, passages, pages = f"document {number}", [], []
    for first in range(0, len(rows), _PER_PAGE):
        page, start = len(pages) + 1, 0
        for place in range(first, min(first + _PER_PAGE, len(rows))):
            told = replace(
                stock.passages[models[place]],
                id=rows[place] + 1,
                document_id=number,
                document_name=name,
                position=place,
                page=page,
                jurisdiction=_named(shares[place]),
                rows=None,
            )
            passages.append(_said(stock, told, chosen[place], made[2 * place : 2 * place + 2], start))
            start = passages[-1].end + 2
        pages.append(Page(page, "\n\n".join(each.text for each in passages[first:])))
    about = {"pages": len(pages), "passages": len(rows), "labels": Labels(truth=Label(passages[0].truth, 0.9))}
    digest = sha256(name.encode()).hexdigest()
    size = sum(len(page.text) for page in pages)
    document = Document(number, name, digest, size, DocumentState.READY, utc_now(), **about)  # type: ignore[arg-type]
    return MadeDocument(document, tuple(pages), tuple(passages), _vectors(stock, chosen, numbers), tuple(made))


def _sentences(stock: Stock, model: int, random: Random) -> list[int]:
    """Half the sentences of the model stay, the others are exchanged for any of its truth."""
    others = stock.of_truth[stock.passages[model].truth]
    mixed = [random.choice(others) if place % 2 else each for place, each in enumerate(stock.own[model])]
    random.shuffle(mixed)
    return mixed


def _said(stock: Stock, told: Passage, chosen: Sequence[int], made: Sequence[str], start: int) -> Passage:
    """The passage with these sentences, a made word in the first and in the last."""
    texts = [stock.texts[each] for each in chosen]
    for place, word in zip((0, -1), made, strict=True):
        before, _, after = texts[place].partition(" ")
        texts[place] = f"{before} {word} {after}"
    text, spans, at = " ".join(texts), [], 0
    for each in texts:
        spans.append(Span(at, at + len(each)))
        at += len(each) + 1
    named = tuple(dict.fromkeys(name for each in chosen for name in stock.names[each]))
    place = {"start": start, "end": start + len(text), "meanings": stock.codes[list(chosen)].tobytes()}
    return replace(told, text=text, sentences=tuple(spans), entities=named, **place)  # type: ignore[arg-type]


def _vectors(stock: Stock, chosen: Sequence[Sequence[int]], numbers: np.random.Generator) -> Vectors:
    width = stock.vectors.shape[1]
    means = np.stack([np.array([len(stock.texts[i]) for i in each]) @ stock.vectors[list(each)] for each in chosen])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    noisy = means + numbers.normal(0, _NOISE / np.sqrt(width), means.shape)
    vectors: Vectors = (noisy / np.linalg.norm(noisy, axis=1, keepdims=True)).astype(np.float32)
    return vectors


def made_words(count: int, seed: int) -> list[str]:
    """So many words by Zipf's law, the same for the same seed: a few stand everywhere, most once."""
    return _made_words(count, np.random.default_rng(seed))


def _made_words(count: int, numbers: np.random.Generator) -> list[str]:
    return [_word(rank % _RANKS) for rank in numbers.zipf(_ZIPF, count).tolist()]


def _word(rank: int) -> str:
    """A word of its own for each rank ≥ 0, of three syllables or more.

    >>> _word(0), _word(1), _word(70**3)
    ('bababa', 'bababe', 'bebababa')
    """
    syllables = []
    while rank or len(syllables) < 3:
        rank, syllable = divmod(rank, len(_LETTERS) * len(_VOWELS))
        syllables.append(_LETTERS[syllable // len(_VOWELS)] + _VOWELS[syllable % len(_VOWELS)])
    return "".join(reversed(syllables))
