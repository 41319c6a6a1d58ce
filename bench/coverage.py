"""Benchmark of coverage runs on a large library, full and after one more document, against one search per cell."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from random import Random

import numpy as np

from bench.measured import Headline, Report, clock, peak_memory
from bootstrap.environment import utc_now
from bootstrap.scratch_library import files_of, fill, scratch_library
from bootstrap.workbench import OpenWorkbench, settings_from_environment
from core.coverage.detection.detector import cell_request
from core.coverage.detection.evidence import topic_words
from core.domain.coverage import Board, Topic
from core.domain.documents import Document, DocumentState, Page, Passage, Span, TableRole, Truth
from core.domain.errors import BadRequest
from core.formats.terminal import aligned
from core.ports.stores import Vectors
from core.workbench import Workbench

__all__ = ["run"]

_PER_DOCUMENT = 200  # passages
_SETUP_ROWS, _ROWS_AT_ONCE = 500, 20  # rows of the set-up table, and rows per passage. Chosen by hand.
_SAMPLE = 40  # cells searched one by one
_NOISE = 0.35  # length of what is added to a real vector: a copy keeps a cosine of about 0.94 with its model
_SEED = 5  # any number: every run makes the same library


@dataclass(frozen=True, slots=True)
class _Made:
    """A generated document. vectors: one per passage."""

    name: str
    page: Page
    passages: tuple[Passage, ...]
    vectors: Vectors


class _Stock:
    """Real passages with their vectors, used to generate others."""

    def __init__(self, passages: Sequence[Passage], vectors: Vectors) -> None:
        self._random, self._noise = Random(_SEED), np.random.default_rng(_SEED)
        self._passages, self._vectors = passages, vectors
        known = {truth: [i for i, p in enumerate(passages) if p.truth is truth] for truth in Truth}
        self._indices = {truth: indices or list(range(len(passages))) for truth, indices in known.items()}
        self._sentences = {
            truth: [span.of(passages[i].text) for i in indices for span in passages[i].sentences]
            for truth, indices in self._indices.items()
        }

    def document(self, number: int, size: int) -> _Made:
        """Passages of one truth: real ones with half their sentences exchanged for others of that truth."""
        truth = list(Truth)[number % len(Truth)]
        models = self._random.choices(self._indices[truth], k=size)
        noise = self._noise.normal(0, _NOISE / np.sqrt(self._vectors.shape[1]), (size, self._vectors.shape[1]))
        vectors = (self._vectors[models] + noise).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        texts = [self._shuffled(self._passages[i], truth) for i in models]
        changed = [replace(self._passages[i], truth=truth, table_role=None) for i in models]
        return _made(f"document {number}", changed, texts, vectors, " ")

    def _shuffled(self, model: Passage, truth: Truth) -> list[str]:
        own = [span.of(model.text) for span in model.sentences] or [model.text]
        mixed = [self._random.choice(self._sentences[truth]) if index % 2 else each for index, each in enumerate(own)]
        self._random.shuffle(mixed)
        return mixed

    def topics(self, count: int) -> list[str]:
        """Different names of two to four words that follow each other in a real sentence. Raises BadRequest."""
        sentences = [each for of_truth in self._sentences.values() for each in of_truth]
        names: dict[str, None] = {}
        for _ in range(count * 50):
            words = topic_words(self._random.choice(sentences))
            start, length = self._random.randrange(max(1, len(words) - 3)), self._random.randint(2, 4)
            if len(chosen := words[start : start + length]) >= 2:
                names[" ".join(chosen)] = None
            if len(names) == count:
                return list(names)
        raise BadRequest("The files hold too few words for so many topics.", "Give more files or fewer topics.")

    def setup(self, names: Sequence[str]) -> _Made:
        """One table of what is configured, its rows called like topics; not searched by its vectors."""
        lines = [f"code: C{number:04}; description: {name}; rate: {number}" for number, name in enumerate(names)]
        batches = [lines[start : start + _ROWS_AT_ONCE] for start in range(0, len(lines), _ROWS_AT_ONCE)]
        model = replace(self._passages[self._indices[Truth.REALITY][0]], truth=Truth.REALITY)
        models = [replace(model, table_role=TableRole.SETUP, context="", section="")] * len(batches)
        return _made("set-up", models, batches, self._vectors[: len(batches)], "\n")


def _made(
    name: str, models: Sequence[Passage], sentences_by_passage: Sequence[Sequence[str]], vectors: Vectors, gap: str
) -> _Made:
    passages, texts, start = [], [], 0
    for model, sentences in zip(models, sentences_by_passage, strict=True):
        text, spans, at = gap.join(sentences), [], 0
        for sentence in sentences:
            spans.append(Span(at, at + len(sentence)))
            at += len(sentence) + len(gap)
        place = {"page": 1, "start": start, "end": start + len(text), "rows": None}
        passages.append(replace(model, id=0, document_id=0, text=text, sentences=tuple(spans), **place))  # type: ignore[arg-type]
        texts.append(text)
        start += len(text) + 2
    return _Made(name, Page(1, "\n\n".join(texts)), tuple(passages), vectors)


def run(files: Sequence[Path], *, passages: int = 100_000, topics: int = 1_000) -> Report:
    """Seconds, cells per second and peak memory of stored runs; the peer is extrapolated from a sample."""
    with scratch_library(settings_from_environment()) as library:
        workbench = library.workbench
        fill(workbench, files_of(files))
        stock = _stock(library)
        for number in range(max(1, passages // _PER_DOCUMENT)):
            _store(library, stock.document(number, min(passages, _PER_DOCUMENT)))
        names = stock.topics(topics)
        _store(library, stock.setup(names[: min(_SETUP_ROWS, topics)]))
        workbench.coverage.add_topics([Topic(name) for name in names])
        # The keyword files are made at the first search; the model is loaded by it.
        workbench.search.run(
            cell_request(names[0], Truth.REGULATORY, None, workbench.evaluation.profiles.default(None)), remember=False
        )
        rows = [("one run", *_run_coverage(workbench))]
        _store(library, stock.document(passages // _PER_DOCUMENT, _PER_DOCUMENT))
        rows.append(("again, one document more", *_run_coverage(workbench)))
        board = workbench.coverage.board(None)
        assert board is not None
        rows.append(_one_by_one(workbench, board))
        stored = workbench.documents.statistics().passages
    table = aligned(("way", "cells judged", "seconds", "cells/s", "peak MB"), rows)
    headlines = [
        Headline(
            f"assess {topics} topics, {stored} passages",
            "cells/s",
            rows[0][3],
            "single searches",
            rows[2][3],
            more=True,
        ),
        Headline("assess again after one more document", "s", rows[1][2]),
    ]
    return Report(headlines, f"{stored} passages, {topics} topics; cells carried over count as none judged\n{table}")


def _stock(library: OpenWorkbench) -> _Stock:
    workbench = library.workbench
    found = [
        p for document in workbench.documents.list() for p in workbench.documents.passages(document.id) if p.sentences
    ]
    vectors = library.stores.vectors.vectors([p.id for p in found])
    found = [p for p in found if p.id in vectors]
    return _Stock(found, np.stack([vectors[p.id] for p in found]))


def _store(library: OpenWorkbench, made: _Made) -> None:
    """Through the catalogue, like an upload; the keyword files follow it by themselves."""
    digest = sha256(made.name.encode()).hexdigest()
    document = Document(0, made.name, digest, len(made.page.text), DocumentState.PENDING, utc_now())
    document = library.stores.catalogue.add_document(document)
    stored = library.stores.catalogue.save_ingested(document, [made.page], made.passages, made.vectors)
    library.stores.vectors.add(stored, made.vectors)


def _run_coverage(workbench: Workbench) -> tuple[int, float, float, float]:
    """Cells judged, seconds, cells judged per second, peak megabytes."""
    runs = workbench.coverage.runs
    with peak_memory() as peak, clock() as one:
        ended = runs.carry_out(runs.start(None).id)
    judged = ended.total - ended.carried
    return judged, one.seconds, judged / one.seconds, peak.megabytes


def _one_by_one(workbench: Workbench, board: Board) -> tuple[str, int, float, float, float]:
    """The five truths' cells by single searches, extrapolated from a sample."""
    cells = [cell for cell in board.cells if cell.request is not None and not cell.configuration]
    sample = Random(_SEED).sample(cells, min(_SAMPLE, len(cells)))
    searches = [partial(workbench.search.run, cell.request, remember=False) for cell in sample if cell.request]
    with peak_memory() as peak, clock() as taken:
        for search in searches:
            search()
    each = taken.seconds / len(sample)
    words = f"one search per cell, told from {len(sample)}"
    return words, len(cells), each * len(cells), 1 / each, peak.megabytes
