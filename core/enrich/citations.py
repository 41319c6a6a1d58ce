"""The laws and cases a document cites, under the names their entities have."""

from collections.abc import Iterator
from dataclasses import replace

from core.enrich.reading import Reading, Sentence
from core.enrich.values import Citations, LegalCitation, Said
from core.entities import EntityType
from core.naming.cited import CitationKind, Cited, cited
from core.naming.numbered import numbered_names

__all__ = ["find_citations"]

_MOST = 100
_REGULATIONS = (" CFR ", "FAR ", "DFARS ", "GSAR ")


def find_citations(reading: Reading) -> Citations:
    """At most 100 laws and cases, those cited most first, then by first mention.

    Statutes and regulations go by the patterns that name entities, so that both have one name; eyecite adds court
    decisions, the Federal Register, session laws and the codes patterns do not know.
    """
    times: dict[str, int] = {}
    first: dict[str, LegalCitation] = {}
    for sentence in reading.sentences:
        for each in _named(sentence.said.text):
            times[each.name] = times.get(each.name, 0) + 1
            said = _said(sentence, each.start, each.end)
            first.setdefault(each.name, LegalCitation(each.name, each.kind, 1, said, each.case))
    told = [replace(each, times=times[name]) for name, each in first.items()]
    return Citations(tuple(sorted(told, key=lambda each: -each.times)[:_MOST]))


def _named(text: str) -> Iterator[Cited]:
    known = [each for each in numbered_names(text) if each.entity.type is EntityType.LAW]
    for each in known:
        regulation = any(sign in each.entity.name for sign in _REGULATIONS)
        kind = CitationKind.REGULATION if regulation else CitationKind.STATUTE
        yield Cited(each.entity.name, kind, each.start, each.end)
    for found in cited(text):
        if not any(found.start < each.end and each.start < found.end for each in known):
            yield found


def _said(sentence: Sentence, start: int, end: int) -> Said:
    """The citation itself as it stands on the page."""
    said = sentence.said
    return Said(said.text[start:end], said.page, said.start + start, said.start + end, said.passage_id, said.sentence)
