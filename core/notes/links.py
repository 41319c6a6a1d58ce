"""What memories rest on: links made from citations and passages, and where they lead today."""

from collections.abc import Mapping, Sequence

from core.documents import Passage, Span
from core.memories import Link
from core.ports import Catalogue
from core.results import Citation

__all__ = ["link_of", "links_to", "where"]


def link_of(citation: Citation) -> Link:
    """The cited sentence, linked."""
    return Link(
        citation.passage_id,
        citation.document_id,
        citation.document_name,
        citation.page_number,
        citation.start,
        citation.end,
        citation.quote,
    )


def links_to(catalogue: Catalogue, passage_ids: Sequence[int]) -> tuple[Link, ...]:
    """Links to the first sentence of each of these passages, in their order; passages that are gone are left out."""
    found = catalogue.passages(list(dict.fromkeys(passage_ids)))
    return tuple(_link_to(found[each]) for each in dict.fromkeys(passage_ids) if each in found)


def _link_to(passage: Passage) -> Link:
    first = passage.sentences[0] if passage.sentences else Span(0, len(passage.text))
    start, end = passage.start + first.start, passage.start + first.end
    return Link(
        passage.id, passage.document_id, passage.document_name, passage.page, start, end, first.of(passage.text)
    )


def where(catalogue: Catalogue, links: Sequence[Link]) -> Mapping[Link, int]:
    """The passage each link leads to today; absent when its sentence is no longer in the library.

    A document that was read again has new passages: there the one that holds the quote is taken, rather on its page.
    """
    held = catalogue.passages([link.passage_id for link in links])
    found = {link: link.passage_id for link in links if link.passage_id in held}
    texts: dict[int, Sequence[Passage]] = {}
    for link in links:
        if link in found:
            continue
        if link.document_id not in texts:
            texts[link.document_id] = catalogue.passages_of(link.document_id)
        holding = [passage for passage in texts[link.document_id] if link.quote in passage.text]
        if holding:
            found[link] = min(holding, key=lambda passage: (passage.page != link.page, passage.position)).id
    return found
