"""Extracts requirement sentences from intent documents as topics with citation and modality."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.coverage.detection.evidence import row_values
from core.coverage.topics import with_detected_labels
from core.domain.coverage import Modality, Topic, TopicOrigin
from core.domain.documents import Document, DocumentState, Passage, Truth
from core.domain.filters import SearchFilters
from core.domain.results import Citation
from core.knowledge.workspace_terms import WorkspaceTerms
from core.ports.catalogue import Catalogue
from core.search.citations.cite import QuotableKind, citation_of, display_quote, quotables
from core.text.tokenize import STOP_WORDS, index_stems, word_spans

__all__ = ["modality_of", "requirement_name", "requirements"]

MOST = 1000
_MODALITIES = (
    (Modality.SHALL, re.compile(r"(?i)\bshall\b")),
    (
        Modality.MUST,
        re.compile(r"(?i)\bmust\b|\b(?:is|are) (?:required|obligated|obliged) to\b|\b(?:has|have|needs?) to\b"),
    ),
    (Modality.SHOULD, re.compile(r"(?i)\bshould\b|\b(?:is|are) expected to\b")),
    (Modality.MAY, re.compile(r"\bmay\b(?! \d)|(?i:\b(?:is|are) (?:permitted|allowed) to\b)")),
)
_BINDS = re.compile(
    r"\bmay\b|(?i:\b(?:shall|must|should|(?:is|are) (?:required|obligated|obliged|expected|permitted|allowed) to"
    r"|(?:has|have|needs?) to)\b)"
)
_PASSIVE = re.compile(r"(?i)^(?:(?:also|only|not|never|always|at (?:least|minimum),?)\s+)*(?:be|have|been)\b")
_FILLERS = frozenset(
    "also only not never always be been able ensure ensures provide provides support supports include includes"
    " following limited least minimum necessary appropriate applicable required require requires allow allows able"
    " upon within use used using make makes made need needs perform performed each every either other such well"
    " including etc".split()
)
_LEAST_WORDS, _MOST_WORDS = 2, 8
_LEAST_SENTENCE, _MOST_SENTENCE = 5, 90
_LONGEST_NAME = 90
_CONDITION = re.compile(r"(?i)^\W*(?:if|when|unless|whether|where|should)\b[^,;]*,")
_DEFINES = re.compile(
    r"(?i)\bshall (?:have the (?:same )?meaning|mean\b|be (?:construed|interpreted|deemed))|\bmeans\b|= (?:must|should)"
)
_BREAK = re.compile(
    r"[,;:()]|\b(?:which|that|when|where|if|unless|because|in order|so that|as well as|including)\b", re.I
)


@dataclass(frozen=True, slots=True)
class _Requirement:
    """A sentence that states a requirement."""

    document: Document
    passage: Passage
    index: int
    text: str
    modality: Modality


def requirements(catalogue: Catalogue, project: str | None, terms: WorkspaceTerms) -> tuple[Topic, ...]:
    """Requirement sentences of the project's intent passages, in reading order, at most 1,000.

    Of sentences whose names have equal stems only the first counts. Raises StoreFailed.
    """
    filters = SearchFilters(truths=(Truth.INTENT.value,), projects=(project,) if project else (), strict_labels=True)
    holding = set(catalogue.fingerprints(filters))
    topics: dict[frozenset[str], Topic] = {}
    for document in reversed(catalogue.documents()):
        if document.id not in holding or document.state is not DocumentState.READY:
            continue
        for found in _sentences(document, catalogue.passages_of(document.id)):
            name = requirement_name(found.text, found.passage.section)
            if name and len(topics) < MOST:
                topics.setdefault(frozenset(index_stems(name)), _topic(found, name, project, terms))
    return tuple(topics.values())


def _topic(found: _Requirement, name: str, project: str | None, terms: WorkspaceTerms) -> Topic:
    source: Citation = citation_of(found.passage, found.document, found.index)
    topic = Topic(name, project=project, origin=TopicOrigin.REQUIREMENT, modality=found.modality, source=source)
    return with_detected_labels(topic, terms)


def _sentences(document: Document, passages: Sequence[Passage]) -> Iterator[_Requirement]:
    for passage in passages:
        if passage.truth is not Truth.INTENT:
            continue
        for part in quotables(passage):
            if part.kind is QuotableKind.SENTENCE:
                for text in _clauses(part.span.of(passage.text)):
                    modality = modality_of(text)
                    if modality is not None and _says_enough(text):
                        yield _Requirement(document, passage, part.index, text, modality)


def _clauses(text: str) -> list[str]:
    """The sentence, or each cell of a table row: requirements often stand in tables beside their numbers."""
    if "|" in text:
        return [" ".join(cell.split()) for cell in text.strip().strip("|").split("|")]
    return list(row_values(text).values()) or [display_quote(text)]


def _says_enough(text: str) -> bool:
    """Whether the text is a full sentence: no question, form field, table-of-contents line or definition."""
    count = len(word_spans(text))
    blanks = text.count("_") + text.count("☐") + text.count(". .") + text.count("...")
    plain = not blanks and not text.rstrip().endswith("?") and not _DEFINES.search(text)
    return plain and _LEAST_SENTENCE <= count <= _MOST_SENTENCE


def modality_of(sentence: str) -> Modality | None:
    """The strongest modality of a sentence; None when it requires nothing. Ignores a condition before the main clause.

    >>> modality_of("The vendor shall train the users."), modality_of("Invoices are due in May.")
    (<Modality.SHALL: 'shall'>, None)
    """
    main_clause = _CONDITION.sub(" ", sentence)
    return next((modality for modality, pattern in _MODALITIES if pattern.search(main_clause)), None)


def requirement_name(sentence: str, section: str = "") -> str:
    """Topic name of a requirement: at most eight content words, as the sentence writes them.

    Takes the words after the modal verb; in the passive ("backups must be kept") those before it too. "" when too few
    words are left to search for.

    >>> requirement_name("The system shall support overtime at 1.5 times the regular rate.")
    'overtime at 1.5 times the regular rate'
    >>> requirement_name("Backups must be kept for seven years.")
    'Backups kept for seven years'
    """
    sentence = _CONDITION.sub(" ", sentence)
    match = _BINDS.search(sentence)
    if match is None:
        return ""
    before, after = sentence[: match.start()], sentence[match.end() :].strip()
    subject = _telling(before, last=3) if _PASSIVE.match(after) else ""
    action = _telling(after, first=max(_LEAST_WORDS, _MOST_WORDS - len(subject.split())))  # a subject may be long
    name = " ".join(filter(None, [subject, action]))
    if _content(name) < _LEAST_WORDS + 1 and section:
        head = section.split("›")[-1].strip(" .:0123456789")
        name = f"{_telling(head, first=3)}: {name}" if head and name else name
    return _shortened(name) if _content(name) >= _LEAST_WORDS else ""


def _shortened(name: str) -> str:
    """At most 90 characters, cut between words."""
    cut = name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME].rpartition(" ")[0]
    return cut.rstrip(" ,;:-–")


def _content(text: str) -> int:
    return sum(word not in STOP_WORDS and word not in _FILLERS for _, _, word in word_spans(text))


def _telling(text: str, *, first: int = 0, last: int = 0) -> str:
    """The part of a clause with its first (or last) content words, without filler words at its ends."""
    spans = word_spans(text)
    telling = [i for i, (_, _, word) in enumerate(spans) if word not in STOP_WORDS and word not in _FILLERS]
    if not telling:
        return ""
    chosen = telling[:first] if first else telling[-last:]
    start, end = spans[chosen[0]][0], spans[chosen[-1]][1]
    return _clause(text[start:end]) if first else text[start:end].strip()


def _clause(text: str) -> str:
    """The text up to the start of the next clause, once it has enough words."""
    for match in _BREAK.finditer(text):
        if _content(text[: match.start()]) > _LEAST_WORDS + 1:
            return text[: match.start()].strip()
    return text.strip()
