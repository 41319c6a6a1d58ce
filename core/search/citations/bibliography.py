"""The citations of a whole result: selected, as data, and as a bibliography with each document once."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from core.domain.documents import Authority, Document, Truth
from core.domain.results import Citation, SearchResult
from core.search.citations.cite import CitationStyle, citation_data, display_quote, distinct, written

__all__ = ["CitedSource", "bibliography", "chosen", "citations_data", "inline", "result_citations", "source_data"]


@dataclass(frozen=True, slots=True)
class CitedSource:
    """One document of a bibliography. number: 1-based; title, authority, url, source_type: "" when unknown; date: the
    document's, None when undated. pages: cited pages in order; rows: (first, last) of cited table rows, in order.
    citation_ids: in citing order."""

    number: int
    document_id: int
    name: str
    title: str
    sha256: str
    authority: str
    url: str
    source_type: str
    date: datetime | None
    pages: tuple[int, ...]
    rows: tuple[tuple[int, int], ...]
    citation_ids: tuple[str, ...]

    @property
    def written(self) -> str:
        """The academic style with all cited pages and rows: "Government. IRS_Pub_15.pdf. Pages 5, 7–9."."""
        author = f"{self.authority.capitalize()}. " if self.authority else ""
        locations = [_ranges("Page", [(page, page) for page in self.pages]), _ranges("Row", self.rows)]
        return f"{author}{self.name}." + "".join(f" {words}." for words in locations if words)


def result_citations(result: SearchResult) -> tuple[Citation, ...]:
    """Every citation of a result, in the order of the hits, best sentence of each hit first."""
    return tuple(citation for hit in result.hits for citation in hit.citations)


def chosen(
    citations: Iterable[Citation],
    *,
    truths: Collection[Truth] = (),
    authorities: Collection[Authority | str] = (),
    one_per_passage: bool = False,
    most: int | None = None,
) -> tuple[Citation, ...]:
    """The citations of these truths and authorities (all, if empty), in order, at most `most`.

    one_per_passage: only the first of each passage. Raises ValueError when `most` is negative.
    """
    if most is not None and most < 0:
        raise ValueError(f"most must be 0 or more, not {most}")
    relevant = [
        each
        for each in citations
        if (not truths or each.truth in truths) and (not authorities or each.authority in authorities)
    ]
    return tuple((distinct(relevant) if one_per_passage else relevant)[:most])


def bibliography(citations: Iterable[Citation], documents: Mapping[int, Document]) -> tuple[CitedSource, ...]:
    """Each document once, in the order of first citation, with its cited pages and rows."""
    by_document: dict[int, list[Citation]] = {}
    for citation in citations:
        by_document.setdefault(citation.document_id, []).append(citation)
    return tuple(_source(number, cited, documents) for number, cited in enumerate(by_document.values(), 1))


def _source(number: int, cited: Sequence[Citation], documents: Mapping[int, Document]) -> CitedSource:
    first = cited[0]
    document = documents.get(first.document_id)
    return CitedSource(
        number=number,
        document_id=first.document_id,
        name=first.document_name,
        title=document.title if document else "",
        sha256=first.sha256,
        authority=next((str(each.authority) for each in cited if each.authority), ""),
        url=first.url,
        source_type=first.source_type or "",
        date=document.date if document else first.date,
        pages=tuple(sorted({each.page for each in cited if each.page is not None and each.rows is None})),
        rows=tuple(sorted({each.rows for each in cited if each.rows is not None})),
        citation_ids=tuple(dict.fromkeys(each.citation_id for each in cited)),
    )


def _ranges(noun: str, spans: Sequence[tuple[int, int]]) -> str:
    """
    >>> _ranges("Page", [(5, 5)]), _ranges("Page", [(7, 7), (5, 5), (8, 8), (9, 9)]), _ranges("Row", [(12, 18)])
    ('Page 5', 'Pages 5, 7–9', 'Rows 12–18')
    """
    numbers = sorted({number for first, last in spans for number in range(first, last + 1)})
    starts = [at for at, (a, b) in enumerate(pairwise(numbers), 1) if b - a > 1]
    runs = [numbers[a:b] for a, b in zip([0, *starts], [*starts, len(numbers)], strict=True)]
    ranges = [f"{run[0]}–{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs if run]
    return f"{noun}{'s' if len(numbers) > 1 else ''} {', '.join(ranges)}" if ranges else ""


def inline(citation: Citation) -> str:
    """The sentence and its source: “Deposits are due monthly.” [IRS_Pub_15.pdf, p.5]."""
    return f"“{display_quote(citation.quote)}” {written(citation, CitationStyle.BRIEF)}"


def citations_data(citations: Iterable[Citation]) -> list[dict[str, Any]]:
    """Citations as plain data for JSON, with all fields and in every style."""
    return [_full_data(each) for each in citations]


def _full_data(citation: Citation) -> dict[str, Any]:
    return {
        **citation_data(citation),
        "passage_id": citation.passage_id,
        "sentence_index": citation.sentence_index,
        "document_id": citation.document_id,
        "page_number": citation.page_number,
        "section": citation.section,
        "rows": list(citation.rows) if citation.rows else None,
        "truth": citation.truth,
        "authority": citation.authority,
        "jurisdiction": citation.jurisdiction,
        "written": {style.value: written(citation, style) for style in CitationStyle},
    }


def source_data(source: CitedSource) -> dict[str, Any]:
    """One document of a bibliography as plain data for JSON."""
    return {
        "number": source.number,
        "document": source.name,
        "title": source.title,
        "sha256": source.sha256,
        "authority": source.authority or None,
        "url": source.url,
        "source_type": source.source_type or None,
        "date": source.date.isoformat() if source.date else None,
        "pages": list(source.pages),
        "rows": [list(each) for each in source.rows],
        "citation_ids": list(source.citation_ids),
        "written": source.written,
    }
