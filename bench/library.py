"""Generates a library of any size from real text: recombined sentences with the vectors such passages would have.

    passage   as many sentences as a real one, half of them its own, half others of its truth, with two made words
    vector    the mean of its sentences' vectors by their length, and noise of its own
    meanings  its sentences' vectors, as they were measured when the real text was read

Made-up words let the vocabulary grow with the library as in real ones (Heaps 1978): drawn by Zipf's law, a few are
everywhere and most occur once.

`load` stores the documents in a database of their own with COPY. It connects as the database's owner, because row-level
security does not allow COPY for the role that searches.
"""
# Over 300 lines: making the documents and storing them know the same tables of values.

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bootstrap.environment import Settings, utc_now
from bootstrap.workbench import OpenWorkbench, settings_from_environment
from core.domain.documents import Document, DocumentState, Label, Labels, Page, Passage, Span, Truth
from core.domain.entities import Entity
from core.domain.errors import BadRequest
from core.domain.int8_vectors import packed
from core.ports.stores import Vectors
from core.search.citations.cite import QuotableKind, quotables
from core.search.query.expansion import WordVectors
from core.text.tokenize import stem
from storage.postgres.database import Database, conninfo_of
from storage.postgres.documents import DOCUMENTS, PAGES, document_values
from storage.postgres.passages import CHUNKS, passage_values
from storage.postgres.word_vectors import WORDS

__all__ = [
    "PER_DOCUMENT",
    "SELECTIVITIES",
    "MadeDocument",
    "Stock",
    "data_folder",
    "jurisdictions_of",
    "load",
    "made_documents",
    "made_words",
    "own_settings",
    "owner",
]

PER_DOCUMENT = 200  # passages, as in a report of some fifty pages. Chosen by hand.
SELECTIVITIES = (1.0, 0.1, 0.05, 0.01, 0.001)
"""Shares of the passages that match the filters of `jurisdictions_of`."""

_PER_PAGE = 4  # passages
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
        """What a library holds. Raises BadRequest when it contains no prose."""
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
                text = part.span.of(passage.text)
                if part.kind is QuotableKind.SENTENCE and _SHORTEST <= len(text) <= _LONGEST:
                    texts.append(text)
                    names.append(tuple(name for name in passage.entities if name in text))
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


def own_settings(data: Path) -> Settings:
    """The settings of this machine for an embedded library in a data folder, without a worker and without anything
    outside."""
    outside = {"database_url": "", "session_database_url": "", "originals_url": "", "chroma_url": ""}
    return replace(settings_from_environment(), data_folder=data, vector_index="pgvector", worker=False, **outside)  # type: ignore[arg-type]


@contextmanager
def data_folder() -> Iterator[Path]:
    """An empty data folder with the models of this checkout."""
    with TemporaryDirectory(prefix="fivefold-bench-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)  # as root, the database runs as another user, who must pass
        data = Path(folder) / "data"
        data.mkdir()
        models = settings_from_environment().data_folder / "models"
        (data / "models").symlink_to(models.resolve(), target_is_directory=True)
        yield data


def made_documents(
    stock: Stock, passages: int, seed: int = 5, per_document: int = PER_DOCUMENT
) -> Iterator[MadeDocument]:
    """So many passages, ids from 1 on, in documents of `per_document`, ids from 1 on; the same for the same seed."""
    random, numbers = Random(seed), np.random.default_rng(seed)
    shares = _shares(passages, numbers)
    for first in range(0, passages, per_document):
        rows = range(first, min(first + per_document, passages))
        yield _document(stock, first // per_document + 1, rows, shares[first:], random, numbers)


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
        for row in range(first, min(first + _PER_PAGE, len(rows))):
            model = replace(
                stock.passages[models[row]],
                id=rows[row] + 1,
                document_id=number,
                document_name=name,
                position=row,
                page=page,
                jurisdiction=_named(shares[row]),
                rows=None,
            )
            passages.append(_with_sentences(stock, model, chosen[row], made[2 * row : 2 * row + 2], start))
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
    mixed = [random.choice(others) if index % 2 else each for index, each in enumerate(stock.own[model])]
    random.shuffle(mixed)
    return mixed


def _with_sentences(stock: Stock, model: Passage, chosen: Sequence[int], made: Sequence[str], start: int) -> Passage:
    """The passage with these sentences, a made word in the first and in the last."""
    texts = [stock.texts[each] for each in chosen]
    for index, word in zip((0, -1), made, strict=True):
        before, _, after = texts[index].partition(" ")
        texts[index] = f"{before} {word} {after}"
    text, spans, at = " ".join(texts), [], 0
    for each in texts:
        spans.append(Span(at, at + len(each)))
        at += len(each) + 1
    named = tuple(dict.fromkeys(name for each in chosen for name in stock.names[each]))
    index = {"start": start, "end": start + len(text), "meanings": stock.codes[list(chosen)].tobytes()}
    return replace(model, text=text, sentences=tuple(spans), entities=named, **index)  # type: ignore[arg-type]


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


_TOGETHER = 20  # documents per transaction
_SEED = 5  # any number: every run makes the same words


def owner(database: Database) -> Any:
    """A connection to an embedded database as its owner, whom row-level security does not bind; vectors are sent as
    arrays."""
    import psycopg
    from pgvector.psycopg import register_vector

    connection = psycopg.connect(conninfo_of(database.engine.url.set(username="postgres")), autocommit=True)
    register_vector(connection)
    return connection


def load(
    library: OpenWorkbench,
    stock: Stock,
    documents: Iterable[MadeDocument],
    keep: Callable[[Sequence[MadeDocument]], None] = lambda some: None,
) -> None:
    """Store the documents with their vectors, entities and words, and let the server look at what it got.

    keep: is given the documents as they are stored.
    """
    database, name, words = library.database, library.embedder.name, set[str]()
    with owner(database) as connection:
        for some in _batches(documents):
            with connection.transaction():
                _copy_documents(connection, database.tenant, some, name)
            library.stores.graph.add([p for each in some for p in each.passages], stock.entities)
            words.update(word for each in some for word in each.words)
            keep(some)
        _copy_words(connection, (database.tenant, name), stock, sorted(words))
        for table in ("documents", "knowledge_chunks", "words"):
            connection.execute(f"SELECT setval('{table}_id_seq', (SELECT max(id) FROM {table}))")
        connection.execute("VACUUM ANALYZE")


def _batches(documents: Iterable[MadeDocument]) -> Iterable[list[MadeDocument]]:
    waiting: list[MadeDocument] = []
    for each in documents:
        waiting.append(each)
        if len(waiting) == _TOGETHER:
            yield waiting
            waiting = []
    if waiting:
        yield waiting


def _copy_documents(connection: Any, tenant: str, some: Sequence[MadeDocument], model: str) -> None:
    from psycopg.types.json import Jsonb

    documents, pages, passages = [], [], []
    for each in some:
        own = {"tenant_id": tenant, "document_id": each.document.id}
        values = document_values(each.document) | {"tenant_id": tenant, "id": each.document.id}
        documents.append(values | {"labels": Jsonb(values["labels"])})
        pages += [own | {"number": page.number, "text": page.text, "label": page.label} for page in each.pages]
        passages += [
            passage_values(passage) | own | {"embedding": vector, "embedded_by": model}
            for passage, vector in zip(each.passages, each.vectors, strict=True)
        ]
    for table, rows in ((DOCUMENTS, documents), (PAGES, pages), (CHUNKS, passages)):
        _copy(connection, table.name, rows)


def _copy_words(connection: Any, of: tuple[str, str], stock: Stock, made: Sequence[str]) -> None:
    """The words of the text as they were measured, and the made ones as if they meant anything."""
    known = dict(zip(stock.words.stems, zip(stock.words.words, stock.words.codes, strict=True), strict=True))
    fresh = {stem(word): word for word in made}
    codes = packed(np.random.default_rng(_SEED).normal(size=(len(fresh), stock.vectors.shape[1])).astype(np.float32))
    known |= dict(zip(fresh, zip(fresh.values(), codes, strict=True), strict=True))
    own = {"tenant_id": of[0], "model": of[1]}
    rows = [own | {"stem": s, "word": word, "codes": row.tobytes()} for s, (word, row) in known.items()]
    _copy(connection, WORDS.name, [row | {"id": number} for number, row in enumerate(rows, 1)])


def _copy(connection: Any, table: str, rows: Sequence[dict[str, Any]]) -> None:
    """Rows of equal columns, binary: each value in the type its column has."""
    if not rows:
        return
    columns = list(rows[0])
    query = "SELECT atttypid FROM pg_attribute WHERE attrelid = %s::regclass AND attname = %s"
    types = [connection.execute(query, (table, column)).fetchone()[0] for column in columns]
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN (FORMAT binary)") as copy,
    ):
        copy.set_types(types)
        for row in rows:
            copy.write_row([row[column] for column in columns])
