"""What one more small file costs in libraries that hold many documents already, and how soon a new one is found.

Each library is generated in an empty data folder: documents of two passages, with their vectors, entities, words and
signatures. Then small files are read into it, in rounds, and single ones, each with a word that no other has.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from time import sleep

import sample
from bench.ingest import cut_texts
from bench.library import MadeDocument, Stock, data_folder, load, made_documents, own_settings
from bench.measured import Headline, Report, clock
from bootstrap.scratch_library import files_of, fill, scratch_library
from bootstrap.workbench import OpenWorkbench, open_workbench, settings_from_environment
from core.domain.queries import SearchRequest
from core.formats.terminal import aligned
from core.library.duplicates.minhash import triples
from core.library.upload_queue import NewFile
from core.library.versions.suggestions import signature_of
from core.workbench import Workbench

__all__ = ["SIZES", "run"]

SIZES = (0, 10_000)  # documents

_PER_DOCUMENT = 2  # passages, as a note has
_FILES, _ROUNDS, _SINGLE = 200, 3, 5
_WARM_FILES = 40
_LOOK_SECONDS, _SHORT_LOOK_SECONDS = 0.5, 0.02


@dataclass(frozen=True, slots=True)
class _Grown:
    """A library of so many documents. seconds: for a file, median of the rounds; counted: to count all files by state;
    found: from the end of a single file's reading until a search finds it, the longest."""

    documents: int
    passages: int
    seconds: float
    counted: float
    found: float


def run(files: Sequence[Path], sizes: Sequence[int] = SIZES) -> Report:
    """Read small files, cut from the text of the PDFs among `files`, into libraries of these sizes."""
    with scratch_library(settings_from_environment()) as library:
        fill(library.workbench, files_of(sample.files()))
        stock = Stock.of(library)
    pdfs = [file for file in files if file.suffix.lower() == ".pdf"]
    texts = list(cut_texts(pdfs, _WARM_FILES + _ROUNDS * _FILES))
    grown = [_grown(stock, size, texts) for size in sizes]
    rows = [
        (each.documents, each.passages, 1000 * each.seconds, 1000 * each.counted, each.found, each.seconds / first)
        for first in [grown[0].seconds]
        for each in grown
    ]
    heads = ("documents", "passages", "ms a file", "counted in ms", "found after s, longest", "× the first")
    lines = [Headline(f"a file more, {each.documents} documents", "s", each.seconds) for each in grown]
    lines += [Headline(f"found after its reading, {each.documents} documents", "s", each.found) for each in grown]
    about = f"medians of {_ROUNDS} rounds of {_FILES} files; {_SINGLE} single files"
    return Report(lines, f"{aligned(heads, rows)}\n{about}")


def _grown(stock: Stock, size: int, texts: Sequence[str]) -> _Grown:
    with data_folder() as data:
        settings = own_settings(data)
        with closing(open_workbench(settings)) as library:
            made = made_documents(stock, _PER_DOCUMENT * size, per_document=_PER_DOCUMENT)
            load(library, stock, made, lambda some: _sign(library, some))
            library.workbench.search.warm()
        with closing(open_workbench(replace(settings, worker=True))) as library:
            return _measured(library.workbench, size, texts)


def _sign(library: OpenWorkbench, some: Sequence[MadeDocument]) -> None:
    """Store what the documents are like, as reading does, so that new ones are compared with them."""
    library.stores.versions.keep(
        [signature_of(each.document, triples([passage.text for passage in each.passages])) for each in some]
    )


def _measured(workbench: Workbench, size: int, texts: Sequence[str]) -> _Grown:
    workbench.search.warm()
    passages = workbench.documents.statistics().passages
    _read(workbench, [NewFile(f"warm {number}.md", _bytes(text)) for number, text in enumerate(texts[:_WARM_FILES])])
    taken = []
    for first in range(_WARM_FILES, len(texts), _FILES):
        chosen = enumerate(texts[first : first + _FILES], first)
        taken.append(_read(workbench, [NewFile(f"note {number}.md", _bytes(text)) for number, text in chosen]))
    with clock() as counted:
        workbench.upload_queue.counts(1.0)
    found = max(_seconds_until_found(workbench, number) for number in range(_SINGLE))
    return _Grown(size, passages, median(taken) / _FILES, counted.seconds, found)


def _bytes(text: str) -> Callable[[], bytes]:
    return text.encode


def _read(workbench: Workbench, files: Sequence[NewFile], look_seconds: float = _LOOK_SECONDS) -> float:
    """Seconds from the upload of the first file to the end of the last one's reading."""
    with clock() as taken:
        list(workbench.upload_queue.take_in(files))
        while workbench.upload_queue.counts(1.0).running:
            sleep(look_seconds)
    return taken.seconds


def _seconds_until_found(workbench: Workbench, number: int) -> float:
    word = f"quillon{number}"
    text = f"# A note\n\nThe {word} rule applies to every employee of the company.\n"
    _read(workbench, [NewFile(f"{word}.md", _bytes(text))], _SHORT_LOOK_SECONDS)
    request = SearchRequest(f"What does the {word} rule say?")
    with clock() as taken:
        while not any(word in hit.candidate.passage.text for hit in workbench.search.run(request).hits):
            sleep(_SHORT_LOOK_SECONDS)
    return taken.seconds
