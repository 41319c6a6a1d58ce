"""Libraries and filters made at random: the tests state laws, and these are what the laws must hold for."""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import numpy as np
from hypothesis import strategies as st

from core.domain.documents import (
    Authority,
    Document,
    DocumentState,
    Origin,
    Page,
    Passage,
    Sector,
    SourceType,
    Span,
    TemporalClass,
    Truth,
    possible_label,
)
from core.domain.filters import FIELDS, SearchFilters
from core.domain.results import LegHits
from core.ports.catalogue import Catalogue
from core.ports.stores import PassageIds, Vectors

WORDS = (
    "overtime payroll benefits federal tax record employee wage policy audit vendor year-end storeEmptyResults".split()
)
MOMENT = datetime(2024, 3, 15, 12, tzinfo=UTC)
DATES = (
    None,
    MOMENT,
    MOMENT + timedelta(microseconds=1),
    datetime(2019, 1, 1, tzinfo=UTC),
    datetime(1, 1, 2, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
)
POOLS: dict[str, tuple[Any, ...]] = {
    "truths": tuple(Truth),
    "domains": ("taxes", "time", "benefits", "O'Neill; --"),
    "authorities": tuple(Authority),
    "jurisdictions": ("federal", "state:CA", "global"),
    "source_types": tuple(SourceType),
    "origins": tuple(Origin),
    "tags": ("payroll", "2024", 'quoted "tag"', "straße", "{a,b}"),
    "entities": ("IRS", "Form W-2", "100%", "a_b"),
    "temporal_classes": tuple(TemporalClass),
    "sectors": tuple(Sector),
    "projects": ("north", "south", "payroll"),
    "documents": tuple(range(12)),  # places in the library; `filters_of` puts the stored ids there
}

_POSSIBLE = tuple(possible_label(f.attribute, str(v)) for f in FIELDS if f.classified for v in POOLS[f.name])


def passage(text: str, **values: Any) -> Passage:
    """A passage of one sentence."""
    return replace(Passage(text, 1, 0, len(text), (Span(0, len(text)),)), **values)


def document(name: str = "a.pdf", **values: Any) -> Document:
    """A document just received."""
    digest = sha256(name.encode()).hexdigest()
    return replace(Document(0, name, digest, 1, DocumentState.PENDING, MOMENT), **values)


def store(
    catalogue: Catalogue, described: Document, passages: Sequence[Passage], vectors: Vectors
) -> Sequence[Passage]:
    """Put a document with its passages into a catalogue."""
    known = catalogue.add_document(described)
    text = "\n".join(p.text for p in passages)
    return catalogue.save_ingested(replace(described, id=known.id), [Page(1, text)], passages, vectors)


def random_vectors(count: int, seed: int, dimensions: int = 16) -> Vectors:
    """Unit vectors, float32, shape (count, dimensions)."""
    vectors = np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def random_documents(seed: int, documents: int = 12, each: int = 10) -> list[tuple[Document, list[Passage]]]:
    """Documents whose passages hold any mixture of labels, tags, dates, and of none."""
    chance = random.Random(seed)
    return [
        (
            document(
                f"{seed}-{number}.pdf",
                project=chance.choice((None, *POOLS["projects"])),
                source_type=chance.choice(POOLS["source_types"]),
                archived=chance.random() < 0.2,
            ),
            [_random_passage(chance) for _ in range(each)],
        )
        for number in range(documents)
    ]


def _random_passage(chance: random.Random) -> Passage:
    def any_of(name: str) -> Any:
        return chance.choice((None, *POOLS[name]))

    return passage(
        " ".join(chance.choices(WORDS, k=chance.randint(1, 12))),
        truth=any_of("truths"),
        domain=any_of("domains"),
        authority=any_of("authorities"),
        jurisdiction=any_of("jurisdictions"),
        temporal_class=any_of("temporal_classes"),
        sector=any_of("sectors"),
        origin=chance.choice(POOLS["origins"]),
        date=chance.choice(DATES),
        tags=tuple(chance.sample(POOLS["tags"], chance.randint(0, 3))),
        entities=tuple(chance.sample(POOLS["entities"], chance.randint(0, 3))),
        possible_labels=tuple(chance.sample(_POSSIBLE, chance.randint(0, 3))),
    )


def _choices() -> dict[str, st.SearchStrategy[Any]]:
    chosen: dict[str, st.SearchStrategy[Any]] = {}
    for name, pool in POOLS.items():
        some = st.lists(st.sampled_from(pool), min_size=1, max_size=3, unique=True).map(tuple)
        chosen |= {name: some, f"exclude_{name}": some}
    modes = st.sampled_from(("any", "all"))
    bounds = st.sampled_from(tuple(date for date in DATES if date))
    return chosen | {
        "tags_mode": modes,
        "entities_mode": modes,
        "date_from": bounds,
        "date_to": bounds,
        "include_undated": st.booleans(),
        "strict_labels": st.booleans(),
        "archived": st.sampled_from((True, None)),
    }


_CHOICES = _choices()
random_filters: st.SearchStrategy[SearchFilters] = (
    st.sets(st.sampled_from(sorted(_CHOICES)), max_size=4)
    .flatmap(lambda names: st.fixed_dictionaries({name: _CHOICES[name] for name in sorted(names)}))
    .map(lambda values: SearchFilters(**values))
)
"""Up to four fields set at once; more would seldom admit anything."""


def filters_of(filters: SearchFilters, passages: Sequence[Passage]) -> SearchFilters:
    """The filter with places in the library turned into the ids its documents were stored under."""
    ids = sorted({p.document_id for p in passages})
    return filters.replace(
        documents=tuple(ids[place % len(ids)] for place in filters.documents),
        exclude_documents=tuple(ids[place % len(ids)] for place in filters.exclude_documents),
    )


def admitted(filters: SearchFilters, passages: Sequence[Passage]) -> PassageIds:
    """Ids by the reference meaning."""
    return np.array(sorted(p.id for p in passages if filters.admits(p)), dtype=np.int64)


def assert_same_ranking(found: LegHits, expected: LegHits, tolerance: float) -> None:
    """The same passages in the same order; only those whose scores are within the tolerance may change places."""
    assert (found.rows_before, found.rows_after) == (expected.rows_before, expected.rows_after)
    assert [h.score for h in found.hits] == sorted((h.score for h in found.hits), reverse=True)
    assert len(found.hits) == len(expected.hits)
    for hit, right in zip(found.hits, expected.hits, strict=True):
        assert abs(hit.score - right.score) <= tolerance
        assert hit.passage_id == right.passage_id or any(
            abs(other.score - hit.score) <= tolerance for other in expected.hits if other.passage_id != hit.passage_id
        )
