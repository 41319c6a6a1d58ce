"""Citations that rest on older text: their document was replaced, or reads otherwise since it was read again.

Insights keep links, accepted coverage keeps pinned sentences; for each that is suspect the nearest sentence of the text
as it is now is proposed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from core.documents import Document
from core.library.versions_chain import VersionChains
from core.library.versions_text import Sentence, folded, sentences_of
from core.memories import Insight, Link
from core.ports import Catalogue
from core.results import Citation
from core.reviews import Decision, Verdict

__all__ = ["Citing", "Proposal", "SuspectReader", "Suspicion", "taken_over"]

_LIKE = 60.0
"""Least likeness in per cent (Indel ratio of the letters) for a sentence to be proposed."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """The sentence of the current text that comes nearest to a quote. likeness: in [0, 1]; 1 when it says the same."""

    document: Document
    sentence: Sentence
    likeness: float


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Why a quote is suspect, in words, and what the current text says in its place; None when nothing is like it."""

    why: str
    proposal: Proposal | None


@dataclass(frozen=True, slots=True)
class Citing:
    """A suspect citation: what cites (an insight, or an accepted cell of a board), which document, the quote, and the
    suspicion."""

    by: Insight | Decision
    document: Document
    quote: str
    page: int
    suspicion: Suspicion
    link: Link | None = None


class SuspectReader:
    """Finds what rests on older text. Every method raises StoreFailed when a store does not answer.

    notes: living insights that link to any of some documents. held: (topic, kind) → the decision that holds on the
    board of a project (None: of the whole library).
    """

    def __init__(
        self,
        chains: VersionChains,
        catalogue: Catalogue,
        notes: Callable[[Sequence[int]], Sequence[Insight]],
        held: Callable[[str | None], Mapping[tuple[int, str], Decision]],
    ) -> None:
        self._chains, self._catalogue, self._notes, self._held = chains, catalogue, notes, held

    def links(self, links: Sequence[Link]) -> Mapping[Link, Suspicion]:
        """Which of these links are suspect, and why. Of a document that was deleted nothing is said."""
        known = self._catalogue.documents_by_id(sorted({link.document_id for link in links}))
        newest = self._chains.newest(sorted(known))
        texts: dict[int, Sequence[Sentence]] = {}
        found: dict[Link, Suspicion] = {}
        for link in links:
            if link.document_id not in known:
                continue
            current = newest.get(link.document_id)
            if current is None and self._stands(link, known[link.document_id]):
                continue
            found[link] = self._suspicion(link.quote, known[link.document_id], current, texts)
        return found

    def _stands(self, link: Link, document: Document) -> bool:
        """Whether a document still says a sentence: where it stood, or anywhere."""
        text = self._catalogue.page_texts([(document.id, link.page)]).get((document.id, link.page), "")
        if text[link.start : link.end] == link.quote or link.quote in text:
            return True
        return any(link.quote in passage.text for passage in self._catalogue.passages_of(document.id))

    def _suspicion(
        self, quote: str, document: Document, current: Document | None, texts: dict[int, Sequence[Sentence]]
    ) -> Suspicion:
        at = current or document
        if at.id not in texts:
            texts[at.id] = sentences_of(self._catalogue.passages_of(at.id))
        proposal = _nearest(quote, at, texts[at.id])
        if current is None:
            return Suspicion("the document was read again and no longer says this", proposal)
        said = "says the same" if proposal is not None and proposal.likeness == 1 else "does not say this word for word"
        return Suspicion(f"the document was replaced by '{current.name}', which {said}", proposal)

    def citing(self, document_id: int) -> Sequence[Citing]:
        """The citations of a document that are suspect: of living insights, then of acceptances that hold. Raises
        NotFound."""
        document = self._catalogue.document(document_id)
        held = [
            (note, link)
            for note in self._notes([document_id])
            for link in note.links
            if link.document_id == document_id
        ]
        pinned = [
            (decision, citation, _as_link(citation, document))
            for decision in self._acceptances(document)
            for citation in decision.pinned
            if citation.sha256 == document.sha256
        ]
        found = self.links([link for _, link in held] + [link for _, _, link in pinned])
        by_notes = [
            Citing(note, document, link.quote, link.page, found[link], link) for note, link in held if link in found
        ]
        by_boards = [
            Citing(decision, document, citation.quote, citation.page_number, found[link])
            for decision, citation, link in pinned
            if link in found
        ]
        return (*by_notes, *by_boards)

    def _acceptances(self, document: Document) -> Sequence[Decision]:
        """Those that hold, of every board that sees the document."""
        projects: set[str | None] = {document.project, None}
        if document.project is None:
            projects |= {each.project for each in self._catalogue.documents(archived=None)}
        boards = [self._held(each) for each in sorted(projects, key=lambda name: (name is not None, name or ""))]
        return [each for held in boards for each in held.values() if each.verdict is Verdict.ACCEPTED]


def _as_link(citation: Citation, document: Document) -> Link:
    page, start, end = citation.page_number, citation.start, citation.end
    return Link(citation.passage_id, document.id, document.name, page, start, end, citation.quote)


def _nearest(quote: str, document: Document, sentences: Sequence[Sentence]) -> Proposal | None:
    from rapidfuzz.fuzz import ratio
    from rapidfuzz.process import extractOne

    best = extractOne(folded(quote), [each.folded for each in sentences], scorer=ratio, score_cutoff=_LIKE)
    return None if best is None else Proposal(document, sentences[best[2]], best[1] / 100)


def taken_over(insight: Insight, link: Link, proposal: Proposal) -> Insight:
    """The insight resting on the proposed sentence in place of the old one; yet to be stored."""
    sentence = proposal.sentence
    end = sentence.start + len(sentence.text)
    fresh = Link(
        sentence.passage_id,
        proposal.document.id,
        proposal.document.name,
        sentence.page,
        sentence.start,
        end,
        sentence.text,
    )
    return replace(insight, links=tuple(dict.fromkeys(fresh if each == link else each for each in insight.links)))
