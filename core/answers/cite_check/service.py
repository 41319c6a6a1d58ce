"""The citation check service: looks up what each sentence of a text cites, and judges whether it says so."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.answers.cite_check.judgement import Source, SupportState, judge
from core.answers.cite_check.references import PlaceReference, SentenceReference, cited_sentences, reference_of
from core.domain.documents import Document, Passage, Span
from core.domain.errors import BadRequest
from core.domain.results import Citation
from core.ports.catalogue import Catalogue
from core.ports.stores import Embedder, VectorIndex, Vectors
from core.search.citations.cite import citation_of, cited_heading, display_quote

__all__ = ["LONGEST_TEXT", "MOST_SENTENCES", "CheckedClaim", "CitationCheckService"]

LONGEST_TEXT = 40_000
"""Characters of a text; a longer one is checked in parts."""
MOST_SENTENCES = 300
"""Sentences of a text; each takes some milliseconds."""
_NEAREST = 5  # passages of a document cited without a page that are read: those nearest to the claim. Chosen by hand.
Embed = Callable[[Sequence[str]], Vectors]
_LAST_ID = 2**63 - 1  # the largest PostgreSQL bigint


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """One sentence of a text, without its citations. cited: these, as written; not_found: those that lead nowhere.

    score: share of its content found in the deciding sentence, in [0, 1]. problems: what its citations do not say, in
    words. decided_by: the sentence of the library that decides, None when none is about it.
    """

    sentence: str
    state: SupportState
    cited: tuple[str, ...] = ()
    not_found: tuple[str, ...] = ()
    score: float = 0.0
    problems: tuple[str, ...] = ()
    decided_by: Citation | None = None


@dataclass(frozen=True, slots=True)
class _Cited:
    """Passages with the sentences of them that are cited; None for all of them."""

    passages: tuple[Passage, ...]
    sentence: int | None = None


class CitationCheckService:
    """Checks texts against the passages they cite. Finds only what its catalogue may see."""

    def __init__(self, catalogue: Catalogue, vectors: VectorIndex, embedder: Embedder) -> None:
        self._catalogue, self._vectors, self._embedder = catalogue, vectors, embedder

    def check(self, text: str, project: str | None = None) -> Sequence[CheckedClaim]:
        """Each sentence of a text, with how far its citations support it. Citations are written in square brackets
        after what they support: a sentence ("[42.3]"), a passage ("[42]"), or a place ("[handbook.pdf, p.5]").

        project: narrows documents cited by name to this project and shared ones. Raises BadRequest for a text that is
        empty or too long, StoreFailed, ModelUnavailable.
        """
        if not text.strip():
            raise BadRequest("The text is empty.", "Give a text whose sentences cite passages, as in: … [42.3].")
        claims = list(cited_sentences(text)) if len(text) <= LONGEST_TEXT else []
        if len(text) > LONGEST_TEXT or len(claims) > MOST_SENTENCES:
            raise BadRequest(
                f"The text has {len(text):,} characters, more than can be checked at once.",
                f"Check it in parts of at most {LONGEST_TEXT:,} characters and {MOST_SENTENCES} sentences.",
            )
        named, embed = self._documents(claims, project), _remembering(self._embedder)
        return [self._claim(sentence, cited, named, embed) for sentence, cited in claims]

    def _documents(
        self, claims: Sequence[tuple[str, tuple[str, ...]]], project: str | None
    ) -> dict[str, list[Document]]:
        """Name or title → living documents, for citations by name; the store is not read without one."""
        names = {name for _, cited in claims for name in cited}
        if not any(isinstance(reference_of(name), PlaceReference) for name in names):
            return {}
        found: dict[str, list[Document]] = {}
        for document in self._catalogue.documents():
            if project is None or document.project in (None, project):
                for name in {document.name.casefold(), document.title.casefold()} - {""}:
                    found.setdefault(name, []).append(document)
        return found

    def _claim(
        self, sentence: str, cited: tuple[str, ...], named: dict[str, list[Document]], embed: Embed
    ) -> CheckedClaim:
        if not cited:
            return CheckedClaim(sentence, SupportState.NOT_CITED, problems=("It cites nothing.",))
        found = {name: self._cited(name, sentence, named) for name in cited}
        lost = tuple(name for name, each in found.items() if not each.passages)
        problems = tuple(f"[{name}] leads to nothing in the library." for name in lost)
        if len(lost) == len(cited):
            return CheckedClaim(sentence, SupportState.NOT_FOUND, cited, lost, problems=problems)
        cited_passages, source = self._source([each for each in found.values() if each.passages])
        verdict = judge(sentence, source, embed)
        decided = None
        if verdict.decided_by is not None:
            passage, index = cited_passages[verdict.decided_by]
            document = self._catalogue.document(passage.document_id)
            decided = citation_of(passage, document, index, verdict.score)
        state = verdict.state
        if lost and state is SupportState.SUPPORTED:
            state = SupportState.PARTLY
        return CheckedClaim(sentence, state, cited, lost, verdict.score, (*verdict.problems, *problems), decided)

    def _cited(self, name: str, sentence: str, named: dict[str, list[Document]]) -> _Cited:
        reference = reference_of(name)
        if isinstance(reference, SentenceReference):
            return self._by_id(reference)
        passages: list[Passage] = []
        for document in named.get(reference.name.casefold(), ()):
            passages += self._of_place(document, reference, sentence)
        return _Cited(tuple(passages))

    def _by_id(self, reference: SentenceReference) -> _Cited:
        if reference.passage_id > _LAST_ID:
            return _Cited(())
        passage = self._catalogue.passages([reference.passage_id]).get(reference.passage_id)
        if passage is None or (reference.sentence or 0) >= max(1, len(passage.sentences)):
            return _Cited(())
        return _Cited((passage,), reference.sentence)

    def _of_place(self, document: Document, reference: PlaceReference, sentence: str) -> Sequence[Passage]:
        """The passages of the page or rows; of a whole document those nearest to the claim."""
        passages = [
            passage
            for passage in self._catalogue.passages_of(document.id)
            if (reference.page is None or passage.page == reference.page)
            and (reference.rows is None or _overlap(passage.rows, reference.rows))
            and reference.heading in ("", cited_heading(passage.section))
        ]
        if len(passages) <= _NEAREST:
            return passages
        [vector] = self._embedder.embed([sentence])
        near = self._vectors.similarities(vector, [passage.id for passage in passages])
        nearest = sorted(passages, key=lambda passage: -near.get(passage.id, -1.0))[:_NEAREST]
        return sorted(nearest, key=lambda passage: passage.position)

    def _source(self, found: Sequence[_Cited]) -> tuple[list[tuple[Passage, int]], Source]:
        """Every sentence of the cited passages with its place, and the source they make."""
        documents = self._catalogue.documents_by_id(
            sorted({passage.document_id for each in found for passage in each.passages})
        )
        known = [f"{each.name}\n{each.title}" for each in documents.values()]
        cited_passages: dict[tuple[int, int], tuple[Passage, int]] = {}
        texts: list[str] = []
        cited: set[int] = set()
        for each in found:
            for passage in each.passages:
                known.append(f"{passage.section}\n{passage.context}")
                for index, span in enumerate(passage.sentences or (Span(0, len(passage.text)),)):
                    if (passage.id, index) not in cited_passages:
                        cited_passages[passage.id, index] = passage, index
                        texts.append(display_quote(span.of(passage.text)) or span.of(passage.text))
                    if each.sentence in (None, index):
                        cited.add(list(cited_passages).index((passage.id, index)))
        return list(cited_passages.values()), Source(tuple(texts), frozenset(cited), "\n".join(known))


def _remembering(embedder: Embedder) -> Embed:
    """The embedder for one text, whose sentences often cite the same passages: every text is embedded once."""
    known: dict[str, NDArray[np.float32]] = {}

    def embed(texts: Sequence[str]) -> Vectors:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, embedder.embed(new), strict=True))
        return np.stack([known[text] for text in texts])

    return embed


def _overlap(rows: tuple[int, int] | None, cited: tuple[int, int]) -> bool:
    return rows is not None and rows[0] <= cited[1] and cited[0] <= rows[1]
