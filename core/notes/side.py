"""The searchable side of a memory: one pseudo-document of one page, split and cited like any other.

An insight's page is its text. An episode's page is the question, then what was learnt and what came of it; the question
stands beside its passages as context, so that it is searched but never quoted as if it were an answer.
"""

from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import PurePath

from core.documents import Document, DocumentState, Page, Passage, SourceType
from core.errors import BadRequest
from core.ingest.chunk import split
from core.ingest.extract.clean import clean
from core.ingest.extract.values import BlockKind, Extracted, PageWriter
from core.memories import Episode, Insight, Memory

__all__ = ["Side", "cleaned", "described", "document_of", "side_of", "titled"]

_MEDIA_TYPE = "text/plain"
_TITLE, _CONTEXT = 80, 400


@dataclass(frozen=True, slots=True)
class Side:
    """What is indexed of a memory; `text == page.text[start:end]` for every passage."""

    page: Page
    passages: tuple[Passage, ...]


def side_of(memory: Memory) -> Side:
    """The page of a memory and its passages. Raises BadRequest for a text without a word."""
    writer = PageWriter(1)
    if isinstance(memory, Episode):
        writer.add(memory.question, BlockKind.FURNITURE)
    for paragraph in _body(memory).split("\n\n"):
        writer.add(paragraph, BlockKind.PARAGRAPH)
    page = writer.page()
    pieces = split(Extracted((page,), tuple(writer.blocks), _MEDIA_TYPE), "")
    if not any(letter.isalnum() for piece in pieces for letter in piece.text):
        raise BadRequest(f"This {memory.origin.value} says nothing.", "Write at least a word.")
    context = memory.question[:_CONTEXT] if isinstance(memory, Episode) else ""
    return Side(page, tuple(described(replace(piece, context=context), memory) for piece in pieces))


def described(passage: Passage, memory: Memory) -> Passage:
    """A passage with what filters read of its memory. Its truth stays unknown: a note is no evidence of any."""
    return replace(
        passage,
        origin=memory.origin,
        sector=memory.sector,
        tags=memory.tags,
        project=memory.project,
        date=memory.at,
        source_type=SourceType.MANUAL,
        truth=None,
    )


def _body(memory: Memory) -> str:
    if isinstance(memory, Insight):
        return memory.text
    assert isinstance(memory, Episode)
    names = list(dict.fromkeys(PurePath(link.document_name).name for link in memory.links))
    opened = f"Opened: {', '.join(names)}." if names else "Nothing was opened."
    return "\n\n".join(part for part in (memory.reflection, f"{_outcome(memory.reward)} {opened}") if part)


def _outcome(reward: float) -> str:
    """What came of a question, in words.

    >>> _outcome(0.5), _outcome(-1), _outcome(0)
    ('It helped (outcome +0.5).', 'It did not help (outcome -1).', 'The outcome was neither good nor bad.')
    """
    if reward == 0:
        return "The outcome was neither good nor bad."
    return f"It {'helped' if reward > 0 else 'did not help'} (outcome {reward:+g})."


def titled(memory: Memory) -> str:
    """The first words of a memory, in one line of at most 80 characters."""
    said = memory.question if isinstance(memory, Episode) else _body(memory)
    line = " ".join(said.split())
    return line if len(line) <= _TITLE else f"{line[: _TITLE - 2].rsplit(' ', 1)[0]} …"


def document_of(memory: Memory, known: Document | None = None) -> Document:
    """The pseudo-document of a memory. known: as it is stored already.

    Its hash names the memory, not its words: two equal notes are two, and a rewritten one stays itself. Whoever cites
    an older wording is told so by its passage ids, which a rewritten note gives up.
    """
    name = f"{memory.origin.value}:{memory.id}"
    new = known or Document(0, "", sha256(name.encode()).hexdigest(), 0, DocumentState.PENDING, memory.at)
    title = titled(memory)
    return replace(
        new,
        name=f"{memory.origin.value.capitalize()} {memory.id}: {title}",
        title=title,
        media_type=_MEDIA_TYPE,
        source_type=SourceType.MANUAL,
        origin=memory.origin,
        project=memory.project,
        tags=memory.tags,
        date=memory.at,
    )


def cleaned(text: str) -> str:
    """Text as it can be stored and searched, without blanks around it."""
    return clean(text).strip()
