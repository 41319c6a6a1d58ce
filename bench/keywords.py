"""Benchmark of keyword search: our kernels against bm25s with its numba backend, with the same stems, stop words and
formula ("lucene", k1 1.5, b 0.75), one thread each, in one run.

bm25s computes every score at indexing time. A query then only adds scores, but an upload or a deletion changes the
statistics of the whole library and so all scores: bm25s must index everything again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Protocol

import numpy as np

from bench.library import PER_DOCUMENT, made_words
from bench.measured import Headline, Report, clock, quantile
from bench.stock import read_text
from core.domain.documents import Passage
from core.formats.terminal import aligned
from core.ports.stores import PassageIds
from core.text.sentences import sentences
from core.text.tokenize import index_stems, keywords
from storage.keywords.scoring import K1, B, Bm25Scorer
from storage.keywords.segments import Segment, build_segment, compact, delete_rows

__all__ = ["SIZES", "run"]

SIZES = (10_000, 100_000)
_QUESTIONS = 200  # Chosen by hand.
_TERMS = (2, 7)  # least and most words of a question, as people ask them
_WANTED = 100  # passages a search asks of each leg without a reranker
_COMPARED = 10  # best passages that are compared with bm25s's: a first page of results
_SHORTEST, _LONGEST = 20, 400  # characters of a sentence
_SENTENCES = (4, 12)  # of a passage; with sentences of some 100 characters, passages are as long as real ones
_SHARES = (1.0, 0.1, 0.01)  # of the passages a filter admits
_UPLOADS = 20  # the library in several segments comes in so many uploads
_CHANGES = 5  # uploads and deletions that are timed, one after the other
_FOOT = f"""\
Milliseconds per question of {_TERMS[0]} to {_TERMS[1]} words, from its words to the best {_WANTED} passages. What a
filter admits comes as sorted ids, which bm25s takes as a mask. "equal": share of the questions whose best
{_COMPARED} scores are those of bm25s to six digits. "same ten": share of the best {_COMPARED} passages of bm25s that
are among ours; bm25s leaves the order of equal scores to chance, the kernels go by passage id. After a change,
bm25s indexes everything again."""

Hits = Sequence[tuple[int, float]]
"""Passage id and score, best first."""


class _Engine(Protocol):
    """A keyword search engine."""

    def search(self, terms: Sequence[str], admissible: PassageIds | None) -> Hits: ...


class _Kernels:
    """Our own scorer over segments."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self._scorer = Bm25Scorer(segments)

    def search(self, terms: Sequence[str], admissible: PassageIds | None) -> Hits:
        hits = self._scorer.search(terms, admissible, _WANTED).hits
        return [(hit.passage_id, hit.score) for hit in hits]


class _Bm25s:
    """bm25s over passages with the ids 1, 2, 3, …, in one index."""

    def __init__(self, stems: Sequence[Sequence[str]]) -> None:
        import bm25s

        self._index = bm25s.BM25(method="lucene", k1=K1, b=B, backend="numba")
        self._index.index([list(each) for each in stems], show_progress=False)
        self._count = len(stems)

    def search(self, terms: Sequence[str], admissible: PassageIds | None) -> Hits:
        stems = dict.fromkeys(stem for term in terms for stem in index_stems(term))
        known = [stem for stem in stems if stem in self._index.vocab_dict]
        if not known:
            return ()
        mask = None
        if admissible is not None:
            mask = np.zeros(self._count, dtype=np.float32)
            mask[admissible - 1] = 1
        most = min(_WANTED, self._count)
        rows, scores = self._index.retrieve([known], k=most, show_progress=False, n_threads=1, weight_mask=mask)
        return [(row + 1, score) for row, score in zip(rows[0].tolist(), scores[0].tolist(), strict=True) if score > 0]


@dataclass(frozen=True, slots=True)
class _Timed:
    """Measurements of one engine: milliseconds and hits per question."""

    milliseconds: list[float]
    hits: list[Hits]


def run(files: Sequence[Path], *, sizes: Sequence[int] = SIZES) -> Report:
    """For each size a table of searches and one of changes."""
    texts = [read_text(file) for file in files]
    known = [span.of(text) for text in texts for span in sentences(text)]
    prose = [" ".join(each.split()) for each in known if _SHORTEST <= len(each) <= _LONGEST]
    reports = [_measured(_passages(prose, size), size) for size in sizes]
    headlines = [headline for each in reports for headline in each.headlines]
    return Report(headlines, "\n\n".join((*(each.details for each in reports), _FOOT)))


def _passages(prose: Sequence[str], size: int) -> list[Passage]:
    """So many passages of sentences put together anew, with made words, ids from 1 on."""
    random, made, passages = Random(5), made_words(2 * size, 5), []
    for number in range(size):
        chosen = random.choices(prose, k=random.randint(*_SENTENCES))
        text = " ".join((*chosen, *made[2 * number : 2 * number + 2]))
        passages.append(Passage(text, 1, 0, len(text), (), id=number + 1, document_id=number // PER_DOCUMENT + 1))
    return passages


def _measured(passages: Sequence[Passage], size: int) -> Report:
    with clock() as cutting:
        stems = [index_stems(f"{passage.context}\n{passage.text}") for passage in passages]
    with clock() as building:
        segment = build_segment(passages)
    with clock() as indexing:
        peer = _Bm25s(stems)
    uploads = _in_uploads(passages)
    engines: dict[str, _Engine] = {
        "bm25s": peer,
        "kernels, one segment": _Kernels([segment]),
        f"kernels, {len(uploads)} segments": _Kernels(uploads),
    }
    questions = _questions(passages)
    rows = [row for share in _SHARES for row in _searched(engines, questions, _admitted(size, share), share)]
    searches = aligned(("admitted", "engine", "p50 ms", "p95 ms", "× bm25s", "equal", "same ten"), rows)
    timings = (building.seconds, cutting.seconds + indexing.seconds)
    p50 = {row[1]: float(str(row[2])) for row in rows[: len(engines)]}
    headlines = [
        Headline(f"keyword question, {size} passages, p50", "ms", p50["kernels, one segment"], "bm25s", p50["bm25s"]),
        Headline(f"index {size} passages by keyword", "s", timings[0], "bm25s", timings[1]),
    ]
    return Report(headlines, f"{size} passages\n{searches}\n\n{_changes(passages, stems, segment, timings)}")


def _in_uploads(passages: Sequence[Passage]) -> list[Segment]:
    """The segments that many uploads leave, one after the other, from large ones to small ones."""
    sizes = np.geomspace(len(passages) / 2, PER_DOCUMENT, _UPLOADS)
    ends = np.unique(np.clip(np.cumsum(sizes).astype(int), 1, len(passages)))
    segments: list[Segment] = []
    for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        segments = compact([*segments, build_segment(passages[start:end])])
    return segments


def _questions(passages: Sequence[Passage]) -> list[list[str]]:
    """Words of passages, in the order of the text."""
    random, drawn = Random(3), []
    while len(drawn) < _QUESTIONS:
        known = list(dict.fromkeys(keywords(random.choice(passages).text)))
        count = random.randint(*_TERMS)
        if len(known) >= count:
            drawn.append([known[index] for index in sorted(random.sample(range(len(known)), count))])
    return drawn


def _admitted(size: int, share: float) -> PassageIds | None:
    """Ids of a share of the passages, anywhere in the library; None for all."""
    if share == 1:
        return None
    chosen: PassageIds = np.sort(np.random.default_rng(7).permutation(size)[: round(share * size)]) + 1
    return chosen


def _searched(
    engines: dict[str, _Engine], questions: Sequence[Sequence[str]], admitted: PassageIds | None, share: float
) -> list[tuple[object, ...]]:
    timed = {name: _ask(engine, questions, admitted) for name, engine in engines.items()}
    peer, rows = timed["bm25s"], list[tuple[object, ...]]()
    for name, own in timed.items():
        taken = quantile(own.milliseconds, 0.5)
        faster = quantile(peer.milliseconds, 0.5) / taken
        rows.append(
            (f"{share:.0%}", name, taken, quantile(own.milliseconds, 0.95), faster, *_agreement(own.hits, peer.hits))
        )
    return rows


def _ask(engine: _Engine, questions: Sequence[Sequence[str]], admitted: PassageIds | None) -> _Timed:
    """Every question once, after one that compiles the loops."""
    engine.search(questions[0], admitted)
    taken, hits = [], []
    for terms in questions:
        with clock() as one:
            hits.append(engine.search(terms, admitted))
        taken.append(one.seconds * 1000)
    return _Timed(taken, hits)


def _agreement(own: Sequence[Hits], peer: Sequence[Hits]) -> tuple[float, float]:
    """Shares, in [0, 1]: questions with equal best scores, best passages in common."""
    equal, common, named = 0, 0, 0
    for ours, theirs in zip(own, peer, strict=True):
        first, second = ours[:_COMPARED], theirs[:_COMPARED]
        scores = [[score for _, score in each] for each in (first, second)]
        equal += len(first) == len(second) and bool(np.allclose(*scores, rtol=1e-6, atol=1e-5))
        common += len({i for i, _ in first} & {i for i, _ in second})
        named += len(second)
    return equal / len(own), common / max(named, 1)


def _changes(
    passages: Sequence[Passage], stems: Sequence[Sequence[str]], segment: Segment, timings: tuple[float, float]
) -> str:
    """What an upload and a deletion cost until the next search sees them. whole: seconds of indexing everything, by
    the kernels and by bm25s."""
    added, deleted = [], []
    for number in range(_CHANGES):
        first = len(passages) + number * PER_DOCUMENT + 1
        fresh = [replace(each, id=first + index) for index, each in enumerate(passages[:PER_DOCUMENT])]
        with clock() as adding:
            Bm25Scorer(compact([segment, build_segment(fresh)]))
        added.append(adding.seconds * 1000)
        with clock() as deleting:
            Bm25Scorer([delete_rows(segment, segment.documents == number + 1)])
        deleted.append(deleting.seconds * 1000)
    with clock() as again:
        _Bm25s(stems)
    indexed = again.seconds * 1000
    rows = [("everything indexed, s", *timings, timings[1] / timings[0])]
    for name, taken in ((f"upload of {PER_DOCUMENT} passages, ms", added), ("document deleted, ms", deleted)):
        rows.append((name, quantile(taken, 0.5), indexed, indexed / quantile(taken, 0.5)))
    return aligned(("change", "kernels", "bm25s", "×"), rows)
