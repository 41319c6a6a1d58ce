"""What the list of files draws for each: its state, truth, pages and passages, and why it failed."""

from collections.abc import Sequence
from typing import Any

from core.domain.documents import Document, DocumentState
from core.domain.errors import Cure
from core.library.archive_members import is_container
from core.library.documents import asks_for_password
from core.library.versions.service import RelatedDocuments
from core.ports.job_queue import STOPPED, WAITING
from pages.components import cards, session
from pages.components.library.related_documents import likeness
from pages.components.styles import truth_style
from pages.components.upload.remedies import container_words
from pages.components.wording import bytes_in_words, certainty_words, count, shorten, shorten_middle

__all__ = ["STEPS", "file_rows", "share_done", "step_words"]

STEPS = ("waiting", "read", "load", "split", "embed", "classify", "entities", "store")
"""The steps of a file in their order."""
_STEP_WORDS = {
    "read": "reading",
    "load": "loading tables",
    "split": "splitting",
    "embed": "embedding",
    "classify": "classifying",
    "entities": "finding names in",
    "store": "storing",
}
_NAME_LETTERS, _OTHER_LETTERS, _NOTE_LETTERS = 60, 60, 220
"""Characters in a row: of its name, of another document's, and of a reason or warning. A name takes two lines at 800
pixels, a reason at 1280."""
_MOST_NOTES = 2  # warnings of a row; the open file shows all


def share_done(document: Document) -> float:
    """How much of a file is done, in [0, 1], by its step: "embed 48/120" is further than "embed 12/120"."""
    step, _, within = document.step.partition(" ")
    done, _, total = within.partition("/")
    part = int(done) / int(total) if done.isdecimal() and total.isdecimal() and int(total) else 0.5
    return (STEPS.index(step) + part) / len(STEPS) if step in STEPS else 0.0


def step_words(document: Document) -> str:
    """The step of a file for people: "embed 48/120" is "embedding 48 of 120 passages"."""
    step, _, within = document.step.partition(" ")
    done, _, total = within.partition("/")
    words = _STEP_WORDS.get(step, step)
    if not done.isdecimal():
        return words.removesuffix(" in")
    if not total.isdecimal():
        return f"{words}, {count(int(done), 'passage')}"
    return f"{words} {int(done):,} of {count(int(total), 'passage')}"


def file_rows(documents: Sequence[Document]) -> list[dict[str, Any]]:
    """A row for each document, in their order."""
    library = session.workbench()
    related = library.versions.related(documents)
    members = library.upload_queue.members([each.id for each in documents if is_container(each)])
    return [_row(each, members.get(each.id, ()), _relation(each, related.get(each.id))) for each in documents]


def _relation(document: Document, related: RelatedDocuments | None) -> str:
    """The document it is a version or near-duplicate of, in words; "" for none."""
    if related is None:
        return ""
    if related.replaced_by is not None:
        return f"Replaced by {shorten_middle(related.replaced_by.name, _OTHER_LETTERS)}"
    same = next(((other, share) for other, share in related.near if share == 1.0 or not related.suggestions), None)
    if same is not None:  # the same text says more than a likely version
        return f"Near-duplicate of {shorten_middle(same[0].name, _OTHER_LETTERS)} ({likeness(same[1])})"
    for suggestion in related.suggestions:
        newer = suggestion.newer.id == document.id
        other = suggestion.older if newer else suggestion.newer
        words = "May be a new version of" if newer else "May have a new version:"
        return f"{words} {shorten_middle(other.name, _OTHER_LETTERS)} ({suggestion.because})"
    return ""


def _row(document: Document, members: Sequence[Document], relation: str) -> dict[str, Any]:
    """One row. kind: its look; share: how far it is, in [0, 1]; act: the name and words of its button."""
    kind, sign, words = _state(document)
    read = kind == "read"
    truth = document.labels.truth
    return {
        "id": document.id,
        "name": document.name,
        "short": shorten_middle(document.name, _NAME_LETTERS),
        "kind": kind,
        "sign": sign,
        "state": words,
        "share": share_done(document) if kind == "reading" else None,
        "truth": _truth_words(document) if read else "",
        "colour": truth_style(truth.value).colour,
        "uncertain": read and cards.unsure(document),
        "pages": f"{document.pages:,}" if document.pages and not is_container(document) else "",
        "passages": f"{document.passages:,}" if read else "",
        "size": bytes_in_words(document.size_bytes),
        "notes": _notes(document, members, relation),
        "act": _act(document, kind),
    }


def _state(document: Document) -> tuple[str, str, str]:
    """Its look, a sign and the words of its state."""
    if document.state is DocumentState.FAILED:
        return ("stopped", "■", "Stopped") if document.step == STOPPED else ("failed", "✕", "Failed")
    if document.state is DocumentState.PENDING:
        waits = document.step in ("", WAITING)
        return ("waiting", "…", "Waiting") if waits else ("reading", "◌", step_words(document).capitalize())
    return ("archive", "▤", "Archive") if is_container(document) else ("read", "✓", "Read")


def _truth_words(document: Document) -> str:
    label = document.labels.truth
    words = truth_style(label.value).words.capitalize()
    if label.confirmed:
        return f"{words} ✓"
    return f"{words} {certainty_words(label.probability)}" if label.value else words


def _notes(document: Document, members: Sequence[Document], relation: str) -> list[tuple[str, str]]:
    """The lines below the name: (their look, words)."""
    if document.state is DocumentState.FAILED:
        look = "stopped" if document.step == STOPPED else "failed"
        return [(look, shorten(f"{cards.failure_words(document)} {document.remedy}".strip(), _NOTE_LETTERS))]
    notes = [("archive", container_words(document, members))] if is_container(document) else []
    shown = document.warnings[:_MOST_NOTES]
    notes += [("warning", shorten(each, _NOTE_LETTERS)) for each in shown]
    if hidden := len(document.warnings) - len(shown):
        notes.append(("warning", f"and {count(hidden, 'more warning')}"))
    return [*notes, *([("relation", shorten(relation, _NOTE_LETTERS))] if relation else [])]


def _act(document: Document, kind: str) -> tuple[str, str] | None:
    if document.state is DocumentState.PENDING:
        return "stop", "Stop"
    if document.state is DocumentState.FAILED:
        if document.cure is Cure.AGAIN:
            return "again", "Try again"
        return "opened", "Unlock" if asks_for_password(document) else "Replace"
    return ("opened", "Check") if kind == "read" else None
