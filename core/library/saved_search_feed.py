"""A saved search as an Atom feed (RFC 4287): one entry per result, the newest document first."""

from datetime import datetime
from urllib.parse import urlencode
from xml.etree import ElementTree

from core.domain.documents import Origin
from core.domain.results import Hit, SearchResult
from core.domain.sanitize import storable_text
from core.evaluation.judgments.units import passage_unit
from core.library.saved_searches import SavedSearch
from core.search.citations.cite import CitationStyle, display_quote, written

__all__ = ["atom_feed"]

_ATOM = "http://www.w3.org/2005/Atom"
_MOST_ENTRIES = 100  # chosen by hand


def atom_feed(view: SavedSearch, result: SearchResult, site: str) -> bytes:
    """The results of a saved search as XML in UTF-8. site: the address people open, ending with "/"."""
    feed = ElementTree.Element("feed", {"xmlns": _ATOM})
    entries = [
        _entry(hit, result, site) for hit in result.hits if hit.candidate.passage.document_id in result.documents
    ]
    entries.sort(key=lambda each: each[0], reverse=True)
    updated = entries[0][0] if entries else view.at
    _text(feed, "id", f"urn:fivefold:saved-search:{view.id}")
    _text(feed, "title", view.name)
    _text(feed, "subtitle", view.request.question)
    _text(feed, "updated", updated.isoformat())
    ElementTree.SubElement(ElementTree.SubElement(feed, "author"), "name").text = "Fivefold"
    ElementTree.SubElement(feed, "link", {"rel": "alternate", "href": f"{site}search?{urlencode({'saved': view.id})}"})
    feed.extend(entry for _, entry in entries[:_MOST_ENTRIES])
    written_out: bytes = ElementTree.tostring(feed, encoding="utf-8", xml_declaration=True)
    return written_out


def _entry(hit: Hit, result: SearchResult, site: str) -> tuple[datetime, ElementTree.Element]:
    """When its document was uploaded, and the entry of one result."""
    passage = hit.candidate.passage
    document = result.documents[passage.document_id]
    best = next(iter(hit.citations), None)
    entry = ElementTree.Element("entry")
    _text(entry, "id", f"urn:fivefold:passage:{passage_unit(document.sha256, passage)}")
    _text(entry, "title", written(best, CitationStyle.BRIEF) if best else document.name)
    _text(entry, "updated", document.uploaded_at.isoformat())
    _text(entry, "content", display_quote(best.quote if best else passage.text))
    if document.origin is Origin.DOCUMENT:
        mark = best.citation_id if best else str(passage.id)
        address = f"{site}document?{urlencode({'id': document.id, 'mark': mark})}"
        ElementTree.SubElement(entry, "link", {"rel": "alternate", "href": address})
    if passage.truth is not None:
        ElementTree.SubElement(entry, "category", {"term": passage.truth.value})
    return document.uploaded_at, entry


def _text(parent: ElementTree.Element, name: str, text: str) -> None:
    ElementTree.SubElement(parent, name).text = "".join(letter for letter in storable_text(text) if _in_xml(letter))


def _in_xml(letter: str) -> bool:
    """Whether XML 1.0 allows a character.

    >>> [_in_xml(letter) for letter in "a\\n\\x08"]
    [True, True, False]
    """
    return letter in "\t\n\r" or " " <= letter <= "\ud7ff" or "\ue000" <= letter <= "\ufffd" or letter > "\uffff"
