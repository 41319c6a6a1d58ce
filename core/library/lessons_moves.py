"""A label moved and moved back: the document, and exactly the passages that went along."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.documents import Authority, Document, Label, Passage, TemporalClass, Truth
from core.ingest.relabel import relabelled
from core.library.lessons_store import Move, OddPassage

__all__ = ["moved", "moved_back"]

_TYPES: Mapping[str, type[Truth] | type[Authority] | type[TemporalClass]] = {
    "truth": Truth,
    "authority": Authority,
    "temporal_class": TemporalClass,
}


def moved(
    document: Document, passages: Sequence[Passage], labels: Mapping[str, Label]
) -> tuple[Document, tuple[Passage, ...], tuple[Move, ...]]:
    """The document with these labels, its passages, and a move per field. Raises BadRequest as `relabelled` does."""
    moves: list[Move] = []
    now = tuple(passages)
    for field, label in labels.items():
        was, before = document, now
        document, now = relabelled(was, before, {field: label})
        old: Label = getattr(was.labels, field)
        went = [one for one, other in zip(before, now, strict=True) if one != other]
        told = (old.probability, old.evidence)
        odd = [each for each in went if field == "truth" and (each.truth_probability, each.truth_evidence) != told]
        kept = tuple(OddPassage(each.id, each.truth_probability, each.truth_evidence) for each in odd)
        ids = tuple(each.id for each in went)
        moves.append(Move(was.id, was.name, field, old, label, ids, kept, was.date))
    return document, now, tuple(moves)


def moved_back(document: Document, passages: Sequence[Passage], move: Move) -> tuple[Document, tuple[Passage, ...]]:
    """The document with the label it had before, and with it the passages that had moved. Where these were replaced
    since (the document was read again), those that have its label now follow."""
    if move.passages and not {each.id for each in passages} & set(move.passages):
        return relabelled(document, passages, {move.field: move.before})
    labels = replace(document.labels, **{move.field: move.before})
    changed = replace(document, labels=labels)
    if move.field == "effective_date":
        changed = replace(changed, date=move.date)
    went, odd = set(move.passages), {each.id: each for each in move.odd}
    back = tuple(_back(each, move, odd.get(each.id)) if each.id in went else each for each in passages)
    return changed, back


def _back(passage: Passage, move: Move, odd: OddPassage | None) -> Passage:
    if move.field == "effective_date":
        return replace(passage, date=move.date)
    value = move.before.value
    typed = _TYPES[move.field](value) if move.field in _TYPES and value is not None else value
    back = replace(passage, **{move.field: typed})  # type: ignore[arg-type]
    if move.field != "truth":
        return back
    told = (odd.probability, odd.evidence) if odd else (move.before.probability, move.before.evidence)
    return replace(back, truth_probability=told[0], truth_evidence=told[1])
