"""Finds citations of outdated text: their document was replaced, or its text changed when it was read again.

Insights store links, accepted coverage stores pinned sentences; for each outdated citation the most similar sentence of
the current text is proposed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from core.domain.coverage import Decision, ReviewVerdict
from core.domain.documents import Document
from core.domain.results import Citation
from core.insights.store import EvidenceLink, Insight
from core.library.versions.diff import VersionSentence, folded, sentences_of
from core.library.versions.store import VersionChains
from core.ports.catalogue import Catalogue
from core.search.citations.cite import display_quote

__all__ = ["CitationUpdate", "CitingItem", "OutdatedCitation", "OutdatedCitationFinder", "with_updated_citation"]

_LIKE = 60.0
"""Least similarity in per cent (Indel ratio of the characters) of a proposed sentence. Chosen by hand, not fitted."""


@dataclass(frozen=True, slots=True)
class CitationUpdate:
    """The sentence of the current text most similar to a quote. likeness: in [0, 1]; 1 for the same sentence."""

    document: Document
    sentence: VersionSentence
    likeness: float


@dataclass(frozen=True, slots=True)
class OutdatedCitation:
    """Why a quote is outdated, in words, and the most similar current sentence; None when nothing is similar."""

    why: str
    proposal: CitationUpdate | None


@dataclass(frozen=True, slots=True)
class CitingItem:
    """An outdated citation: the citing item (an insight, or an accepted cell of a coverage board), the document, the
    quote, and the reason.
    """

    by: Insight | Decision
    document: Document
    quote: str
    page: int
    suspicion: OutdatedCitation
    link: EvidenceLink | None = None


class OutdatedCitationFinder:
    """Finds outdated citations. Every method raises StoreFailed when a store does not answer.

    notes: returns the living insights that link to any of the given documents. decisions_of: returns (topic, kind) →
    the current decision on the coverage board of a project (None: of the whole library).
    """

    def __init__(
        self,
        chains: VersionChains,
        catalogue: Catalogue,
        notes: Callable[[Sequence[int]], Sequence[Insight]],
        decisions_of: Callable[[str | None], Mapping[tuple[int, str], Decision]],
    ) -> None:
        self._chains, self._catalogue, self._notes, self._decisions_of = chains, catalogue, notes, decisions_of

    def links(self, links: Sequence[EvidenceLink]) -> Mapping[EvidenceLink, OutdatedCitation]:
        """Which of these links are outdated, and why. Links to deleted documents are ignored."""
        known = self._catalogue.documents_by_id(sorted({link.document_id for link in links}))
        newest = self._chains.newest(sorted(known))
        texts: dict[int, Sequence[VersionSentence]] = {}
        found: dict[EvidenceLink, OutdatedCitation] = {}
        for link in links:
            if link.document_id not in known:
                continue
            current = newest.get(link.document_id)
            if current is None and self._stands(link, known[link.document_id]):
                continue
            found[link] = self._suspicion(link.quote, known[link.document_id], current, texts)
        return found

    def _stands(self, link: EvidenceLink, document: Document) -> bool:
        """Whether a document still says a sentence: where it stood, or anywhere, mark-up aside: a quote of a page read
        when Markdown was kept as written still stands on the page as it is shown."""
        text = self._catalogue.page_texts([(document.id, link.page)]).get((document.id, link.page), "")
        if text[link.start : link.end] == link.quote or link.quote in text:
            return True
        shown = display_quote(link.quote)
        return any(
            link.quote in passage.text or shown in display_quote(passage.text)
            for passage in self._catalogue.passages_of(document.id)
        )

    def _suspicion(
        self, quote: str, document: Document, current: Document | None, texts: dict[int, Sequence[VersionSentence]]
    ) -> OutdatedCitation:
        at = current or document
        if at.id not in texts:
            texts[at.id] = sentences_of(self._catalogue.passages_of(at.id))
        proposal = _nearest(quote, at, texts[at.id])
        if current is None:
            return OutdatedCitation("the document was read again and no longer says this", proposal)
        verdict_words = (
            "says the same" if proposal is not None and proposal.likeness == 1 else "does not say this word for word"
        )
        return OutdatedCitation(f"the document was replaced by '{current.name}', which {verdict_words}", proposal)

    def citing(self, document_id: int) -> Sequence[CitingItem]:
        """The outdated citations of a document: by living insights, then by accepted coverage that is current. Raises
        NotFound.
        """
        document = self._catalogue.document(document_id)
        linked = [
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
        found = self.links([link for _, link in linked] + [link for _, _, link in pinned])
        by_notes = [
            CitingItem(note, document, link.quote, link.page, found[link], link)
            for note, link in linked
            if link in found
        ]
        by_boards = [
            CitingItem(decision, document, citation.quote, citation.page_number, found[link])
            for decision, citation, link in pinned
            if link in found
        ]
        return (*by_notes, *by_boards)

    def _acceptances(self, document: Document) -> Sequence[Decision]:
        """Those that hold, of every board that sees the document."""
        projects: set[str | None] = {document.project, None}
        if document.project is None:
            projects |= {*self._catalogue.projects()}
        boards = [
            self._decisions_of(each) for each in sorted(projects, key=lambda name: (name is not None, name or ""))
        ]
        return [each for decisions in boards for each in decisions.values() if each.verdict is ReviewVerdict.ACCEPTED]


def _as_link(citation: Citation, document: Document) -> EvidenceLink:
    page, start, end = citation.page_number, citation.start, citation.end
    return EvidenceLink(citation.passage_id, document.id, document.name, page, start, end, citation.quote)


def _nearest(quote: str, document: Document, sentences: Sequence[VersionSentence]) -> CitationUpdate | None:
    from rapidfuzz.fuzz import ratio
    from rapidfuzz.process import extractOne

    best = extractOne(folded(quote), [each.folded for each in sentences], scorer=ratio, score_cutoff=_LIKE)
    return None if best is None else CitationUpdate(document, sentences[best[2]], best[1] / 100)


def with_updated_citation(insight: Insight, link: EvidenceLink, proposal: CitationUpdate) -> Insight:
    """The insight with the link moved to the proposed sentence; not stored yet."""
    sentence = proposal.sentence
    end = sentence.start + len(sentence.text)
    fresh = EvidenceLink(
        sentence.passage_id,
        proposal.document.id,
        proposal.document.name,
        sentence.page,
        sentence.start,
        end,
        sentence.text,
    )
    return replace(insight, links=tuple(dict.fromkeys(fresh if each == link else each for each in insight.links)))
