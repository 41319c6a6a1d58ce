"""Extracts requirement sentences from intent documents as topics with citation and modality."""

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from core.coverage.detection.evidence import row_values
from core.coverage.topics import with_detected_labels
from core.domain.coverage import Modality, Topic, TopicOrigin
from core.domain.documents import Document, DocumentState, Origin, Passage, Truth
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
        re.compile(
            r"(?i)\bmust\b|\b(?:is|are) (?:required|obligated|obliged) to\b|\b(?:has|have|needs?) to\b"
            r"|\bmay (?:not|only|neither)\b"  # a prohibition, and no permission
        ),
    ),
    (Modality.SHOULD, re.compile(r"(?i)\bshould\b|\b(?:is|are) expected to\b")),
    (Modality.MAY, re.compile(r"\bmay\b(?! \d)|(?i:\b(?:is|are) (?:permitted|allowed) to\b)")),
)
_BINDS = re.compile(
    r"\bmay\b|(?i:\b(?:shall|must|should|(?:is|are) (?:required|obligated|obliged|expected|permitted|allowed) to"
    r"|(?:has|have|needs?) to)\b)"
)
_LEAST_WORDS = 2
_LEAST_SENTENCE, _MOST_SENTENCE = 5, 90
_LONGEST_NAME = 140
_MARKER = re.compile(r"^\s*(?:[•●▪◦–—*-]|\(?(?:\d{1,3}(?:\.\d{1,3})*|[A-Za-z]|[ivxIVX]{1,5})[.)])\s+")
"""The bullet, number or letter of a list item."""
_START = re.compile(r"(?:[.!?]|,(?= (?:the|a|an|all|any|each|every|no|it|they|we|you|this|these|I|[A-Z])\b))\s+")
"""Where the main clause of a sentence may begin."""
_CELLS = re.compile(r"\s*\|\s*| {3,}")
_REFERENCE = re.compile(r"[A-Za-z]{1,8}[-_. ]?\d+(?:[.-]\d+)*")
"""What requirements are numbered by: CF1002, REQ-12, R1.4."""
_CONDITION = re.compile(r"(?i)^\W*(?:if|when|unless|whether|where|should)\b[^,;]*,")
_DEFINES = re.compile(
    r"(?i)\bshall (?:\w+ly )?(?:have the (?:same )?meaning|mean\b|be (?:construed|interpreted|deemed))|\bmeans\b"
    r"|= (?:must|should)"
)


@dataclass(frozen=True, slots=True)
class _Requirement:
    """A sentence that states a requirement."""

    document: Document
    passage: Passage
    index: int
    text: str
    modality: Modality
    reference: str = ""


def requirements(catalogue: Catalogue, project: str | None, terms: WorkspaceTerms) -> tuple[Topic, ...]:
    """Requirement sentences of the project's intent passages, in reading order, at most 1,000.

    Of sentences whose names have equal stems only the first counts. Raises StoreFailed.
    """
    filters = SearchFilters(truths=(Truth.INTENT.value,), projects=(project,) if project else (), strict_labels=True)
    holding = catalogue.documents_by_id(sorted(catalogue.fingerprints(filters))).values()
    topics: dict[frozenset[str], Topic] = {}
    for document in sorted(holding, key=lambda each: (each.uploaded_at, each.id)):
        if document.origin is not Origin.DOCUMENT or document.state is not DocumentState.READY:
            continue
        for found in _sentences(document, catalogue.passages_of(document.id)):
            name = requirement_name(found.text, found.passage.section, found.reference)
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
        parts = [part for part in quotables(passage) if part.kind is QuotableKind.SENTENCE]
        texts = [part.span.of(passage.text) for part in parts]
        for at, part in enumerate(parts):
            reference, text = _demand(texts[at])
            modality = modality_of(text)
            if modality not in (None, Modality.MAY) and _says_enough(text):  # a permission requires nothing
                if text.endswith(":"):
                    text = " ".join([text, *takewhile(_MARKER.match, texts[at + 1 :])])
                yield _Requirement(document, passage, part.index, text, modality, reference)


def _demand(text: str) -> tuple[str, str]:
    """The number of the requirement, "" without one, and its sentence: of a table row, the cell that binds most."""
    values = list(row_values(text).values())
    cells = [" ".join(cell.split()) for cell in values or _CELLS.split(text.strip().strip("|"))]
    if len(cells) == 1:
        return "", display_quote(text)
    binding = sorted(cells, key=lambda cell: list(Modality).index(modality_of(cell) or Modality.MAY))
    demand = next((cell for cell in binding if modality_of(cell) and _says_enough(cell)), "")
    return next((cell for cell in cells if _REFERENCE.fullmatch(cell)), ""), demand


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


def requirement_name(sentence: str, section: str = "", reference: str = "") -> str:
    """What a requirement is called: its own words, so that a "not" stays; "" when it says too little to search for.

    reference: its number in the document. Leaves out the mark of a list item, and of more than 140 characters first
    the introduction, then the end.

    >>> requirement_name("(b) You may not share API tokens.")
    'You may not share API tokens.'
    >>> requirement_name("The system shall print labels.", reference="R-01")
    'R-01: The system shall print labels.'
    """
    text = _MARKER.sub("", " ".join(sentence.split()))
    bound = _BINDS.search(_CONDITION.sub(lambda condition: " " * len(condition[0]), text))
    if bound is None or _content(text) < _LEAST_WORDS:
        return ""
    if _content(text) <= _LEAST_WORDS and section:
        head = section.split("›")[-1].strip(" .:0123456789")
        text = f"{head}: {text}" if head else text
    elif len(text) > _LONGEST_NAME and (starts := [each.end() for each in _START.finditer(text, 0, bound.start())]):
        text = f"… {text[starts[-1] :]}"
    if reference and reference not in text:
        text = f"{reference}: {text}"
    return textwrap.shorten(text, _LONGEST_NAME, placeholder=" …")


def _content(text: str) -> int:
    return sum(word not in STOP_WORDS and not _BINDS.fullmatch(word) for _, _, word in word_spans(text))
