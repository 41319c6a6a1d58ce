"""Whether the sentences a decision rests on still stand where they stood."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from core.boards import GapKind
from core.documents import Document, DocumentState, Passage
from core.ports import Catalogue
from core.results import Citation
from core.reviews import Decision, Verdict
from core.search.quotable import shown_quote

__all__ = ["broken_pins"]

_ALIKE = 0.6
"""How alike two sentences are, as SequenceMatcher.ratio, for one to be the other's new wording."""


@dataclass(frozen=True, slots=True)
class _Library:
    """What is needed of the library now. by_hash: bytes → the living documents in scope that have them. passages: of
    these, by document."""

    by_hash: Mapping[str, Sequence[Document]]
    by_name: Mapping[str, Document]
    texts: Mapping[tuple[int, int], str]
    passages: Mapping[int, Sequence[Passage]]


def broken_pins(decisions: Sequence[Decision], catalogue: Catalogue, project: str | None) -> Mapping[int, str]:
    """Decision id → which of its sentences changed, in words, for acceptances that no longer stand as they were.

    A sentence stands when a document with the same bytes is in scope, its page still says the sentence at its place,
    and the passage still states the truth it was accepted for. Raises StoreFailed.
    """
    accepted = [decision for decision in decisions if decision.verdict is Verdict.ACCEPTED and decision.pinned]
    if not accepted:
        return {}
    library = _looked_up([citation for decision in accepted for citation in decision.pinned], catalogue, project)
    told = {}
    for decision in accepted:
        broken = [words for citation in decision.pinned if (words := _broken(citation, decision.kind, library))]
        if broken:
            told[decision.id] = broken[0] if len(broken) == 1 else f"{broken[0]} ({len(broken)} sentences changed)"
    return told


def _looked_up(citations: Sequence[Citation], catalogue: Catalogue, project: str | None) -> _Library:
    scoped = [
        document
        for document in catalogue.documents()
        if (document.state is DocumentState.READY or document.passages)  # read again, it stays as it was until done
        and (project is None or document.project in (None, project))
    ]
    by_hash: dict[str, list[Document]] = {}
    for document in scoped:
        by_hash.setdefault(document.sha256, []).append(document)
    by_name = {document.name: document for document in reversed(scoped)}  # the newest of a name
    keys = {
        (document.id, citation.page_number)
        for citation in citations
        for document in (*by_hash.get(citation.sha256, ()), *filter(None, [by_name.get(citation.document_name)]))
    }
    same = {document.id for citation in citations for document in by_hash.get(citation.sha256, ())}
    passages = {document_id: catalogue.passages_of(document_id) for document_id in sorted(same)}
    return _Library(by_hash, by_name, catalogue.page_texts(sorted(keys)), passages)


def _broken(citation: Citation, kind: str, library: _Library) -> str:
    """What became of a sentence, "" when it stands."""
    place = citation.document_name + (f", p. {citation.page}" if citation.page else "")
    quote = f"“{shown_quote(citation.quote)}” ({place})"
    same = library.by_hash.get(citation.sha256, ())
    if not same:
        newer = library.by_name.get(citation.document_name)
        if newer is None:
            return f"{quote} is no longer in the library."
        now = _new_wording(citation, library.texts.get((newer.id, citation.page_number), ""))
        return f"{quote} was replaced by a new version of the document" + (f", which says “{now}”." if now else ".")
    if not any(_stands(citation, library.texts.get((each.id, citation.page_number), "")) for each in same):
        return f"{quote} is no longer read like that on its page."
    truths = {passage.truth for each in same for passage in library.passages[each.id] if _holds(passage, citation)}
    if truths and kind in set(GapKind) and GapKind(kind).truth not in truths:
        return f"{quote} is now classified as {' or '.join(sorted(truth or 'unknown' for truth in truths))}."
    return ""


def _holds(passage: Passage, citation: Citation) -> bool:
    """Whether the sentence stands in the passage; by place, because reading a document again gives new ids."""
    return passage.page == citation.page_number and passage.start <= citation.start < passage.end


def _stands(citation: Citation, text: str) -> bool:
    return text[citation.start : citation.end] == citation.quote


def _new_wording(citation: Citation, text: str) -> str:
    """The line or sentence of a page most like the old one, "" when none is."""
    around = text[max(0, citation.start - 400) : citation.end + 400]
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(citation.quote)
    best, found = _ALIKE, ""
    for part in around.replace("\n", ". ").split(". "):
        matcher.set_seq1(part)
        if part.strip() and matcher.ratio() > best:
            best, found = matcher.ratio(), part.strip()
    return found
