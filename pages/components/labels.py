"""A document's labels with the evidence for each, editable in place; a manual correction always overrides."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from core.domain.documents import (
    LABEL_FIELDS,
    Authority,
    Document,
    Evidence,
    EvidenceSource,
    Label,
    TemporalClass,
    Truth,
)
from core.domain.queries import Chip
from core.knowledge.glossary import explanation
from core.knowledge.workspace_terms import WorkspaceTerms
from pages.components import notices, rights, session
from pages.components.user_name import who
from pages.components.wording import certainty_words, plain, shorten, shorten_middle

__all__ = [
    "LEARNED",
    "LEAST_SHARE",
    "certainty",
    "chip_title",
    "contested",
    "draw_editor",
    "evidence_shares",
    "field_options",
    "field_title",
    "reasons",
    "value_title",
]

LEARNED = ("truth", "authority")
"""Labels whose evidence adds up to the decision."""
_SHOWN_EVIDENCE = 3  # quotes per label; chosen by hand
_OPTIONS: Mapping[str, Callable[[WorkspaceTerms], Sequence[str]]] = {
    "truth": lambda terms: [each.value for each in Truth],
    "domain": lambda terms: list(terms.domains.keywords),
    "authority": lambda terms: [each.value for each in Authority],
    "jurisdiction": lambda terms: list(terms.jurisdictions.titles),
    "temporal_class": lambda terms: [each.value for each in TemporalClass],
}


def field_options(field: str, terms: WorkspaceTerms) -> Sequence[str]:
    """The values a label field can be given by choosing; () for a field that is written."""
    return _OPTIONS[field](terms) if field in _OPTIONS else ()


def field_title(field: str) -> str:
    """
    >>> field_title("temporal_class")
    'Temporal class'
    """
    return "URL" if field == "url" else field.replace("_", " ").capitalize()


def value_title(field: str, value: str, terms: WorkspaceTerms) -> str:
    """The words a page shows for a label's value.

    >>> from core.knowledge.workspace_terms import BUILT_IN_TERMS
    >>> value_title("jurisdiction", "state:CA", BUILT_IN_TERMS), value_title("truth", "intent", BUILT_IN_TERMS)
    ('California', 'Intent')
    """
    match field:
        case "domain":
            return terms.domains.title(value)
        case "jurisdiction":
            return terms.jurisdictions.title(value)
        case "truth" | "authority" | "temporal_class":
            return value.capitalize()
    return value


def chip_title(chip: Chip, terms: WorkspaceTerms) -> str:
    """The title of a chip: what was recognised, its value, and the words of the question it comes from."""
    kind, _, named = chip.kind.partition(":")
    if named:
        return f"entity: {chip.value}" if kind == "entity" else chip.value
    value = value_title(chip.kind, chip.value, terms).replace("_", " ")
    found = f" (“{chip.words}”)" if chip.words and chip.words.casefold() != value.casefold() else ""
    return f"{chip.kind}: {value}{found}"


def contested(label: Label) -> bool:
    """Whether a runner-up is worth a word: not one that nothing speaks for."""
    return bool(label.runner_up) and round(label.runner_up_probability, 2) > 0


def draw_editor(document: Document) -> None:
    """One line per label: its value, how sure, what decided it; and a way to correct, confirm or undo it."""
    terms = session.terms()
    with st.container(key=f"labels.{document.id}"):  # of this document only: another one draws another container
        for field in LABEL_FIELDS:
            label = getattr(document.labels, field)
            _line(field, label, terms)
            if field in _OPTIONS:
                with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                    _correction(document, field, terms)
                    _confirm_button(document, field, label, terms)
                    _undo_button(document, field, label)
        notices.show_outcome("labels")


def _line(field: str, label: Label, terms: WorkspaceTerms) -> None:
    value = value_title(field, label.value, terms) if label.value else "unknown"
    shares = evidence_shares(label) if field in LEARNED else {}
    lines = reasons(field, label, terms)
    for evidence in [each for each in label.evidence if each.quote][:_SHOWN_EVIDENCE]:
        speaks = "" if evidence.value == label.value else f", for {value_title(field, evidence.value, terms)}"
        share = f", {shares[evidence]:.0%}" if evidence in shares else ""
        lines.append(f"“{shorten(evidence.quote, 200)}” {evidence.rule} ({evidence.source.value}{speaks}{share})")
    with st.container(gap="xxsmall"):
        sure = certainty(field, label, terms)
        st.markdown(
            f"{field_title(field)} **{plain(value)}**{f' :gray[({plain(sure)})]' if sure else ''}",
            help=explanation(field),
        )
        if lines:
            st.caption("  \n".join(plain(line) for line in lines))


def evidence_shares(label: Label) -> dict[Evidence, float]:
    """What speaks for a label's value → its share of all that does, in (0, 1]; their sum is 1.

    >>> from core.domain.documents import EvidenceSource as Source
    >>> kept = [Evidence("Staff must ask.", Source.TEXT, "compliance", 3.0, "reads like compliance")]
    >>> kept += [Evidence("", Source.TEXT, "compliance", 1.0, "the rest of the text")]
    >>> list(evidence_shares(Label("compliance", 0.9, "intent", 0.1, tuple(kept))).values())
    [0.75, 0.25]
    """
    own = [each for each in label.evidence if each.value == (label.value or label.runner_up) and each.weight > 0]
    total = sum(each.weight for each in own)
    return {each: each.weight / total for each in own}


LEAST_SHARE = 0.005
"""The share of what decided a label from which a reason is named: less rounds to 0%."""


def _summary(field: str, label: Label, shares: Mapping[Evidence, float], terms: WorkspaceTerms) -> str:
    """One sentence: what spoke for the value, strongest first; parts with the same reason together."""
    parts: dict[str, float] = {}
    for evidence, share in shares.items():
        quoted = evidence.source is EvidenceSource.TEXT and evidence.rule.startswith("reads like")
        reason = "the sentences below" if quoted else evidence.rule
        parts[reason] = parts.get(reason, 0.0) + share
    strongest = sorted(parts.items(), key=lambda item: -item[1])
    listed = ", ".join(f"{reason} {share:.0%}" for reason, share in strongest if share >= LEAST_SHARE)
    value = value_title(field, label.value or label.runner_up or "", terms)
    other = f" rather than {value_title(field, label.runner_up, terms)}" if label.value and label.runner_up else ""
    return f"What speaks for {value}{other}: {listed}."


def certainty(field: str, label: Label, terms: WorkspaceTerms) -> str:
    """How sure a label is, and what else it may be; "" where nothing is known.

    >>> from core.knowledge.workspace_terms import BUILT_IN_TERMS
    >>> certainty("truth", Label("intent", 0.5, "reference", 0.3), BUILT_IN_TERMS)
    '50%, or Reference 30%'
    """
    if label.confirmed:
        return "confirmed"
    parts = [certainty_words(label.probability)] if label.value is not None else []
    if label.runner_up and contested(label):
        other = f"{value_title(field, label.runner_up, terms)} {label.runner_up_probability:.0%}"
        parts.append(f"{'or' if parts else 'nearest:'} {other}")
    return ", ".join(parts)


def reasons(field: str, label: Label, terms: WorkspaceTerms) -> list[str]:
    """Why a label has its value, in whole sentences: what the classifier says of it, and what spoke for it."""
    shares = evidence_shares(label) if field in LEARNED else {}
    return [*([label.reason] if label.reason else []), *([_summary(field, label, shares, terms)] if shares else [])]


def _correction(document: Document, field: str, terms: WorkspaceTerms) -> None:
    key = f"correct.{document.id}.{field}"
    st.selectbox(
        f"Correct {field_title(field).lower()}",
        _OPTIONS[field](terms),
        index=None,
        key=key,
        placeholder="Change to …",
        label_visibility="collapsed",
        width=190,
        format_func=lambda value: value_title(field, value, terms),
        on_change=_correct,
        args=(document, field, key),
        disabled=not rights.may("bulk_edit.set_labels"),
    )


def _confirm_button(document: Document, field: str, label: Label, terms: WorkspaceTerms) -> None:
    """One click to confirm a correct label; confirmed labels evaluate the classifier."""
    if label.value is None or label.confirmed:
        return
    rights.button(
        "bulk_edit.set_labels",
        "Confirm",
        key=f"agree.{document.id}.{field}",
        icon=":material/check:",
        type="tertiary",
        help=f"The {field_title(field).lower()} is {value_title(field, label.value, terms)}.",
        width="content",
        on_click=_set_label,
        args=(document, field, label.value),
    )


def _undo_button(document: Document, field: str, label: Label) -> None:
    """One click to give a label set by hand back to the classifier."""
    if not label.confirmed:
        return
    rights.button(
        "bulk_edit.withdraw_label",
        "Undo",
        key=f"withdraw.{document.id}.{field}",
        icon=":material/undo:",
        type="tertiary",
        help="Give this label back to the classifier.",
        width="content",
        on_click=_withdraw_label,
        args=(document, field),
    )


def _correct(document: Document, field: str, key: str) -> None:
    value = st.session_state[key]
    if value:
        _set_label(document, field, value)


def _set_label(document: Document, field: str, value: str) -> None:
    """Set one label of the document that was drawn, whatever the page lists now."""
    title = plain(value_title(field, value, session.terms()))
    done = f"{plain(shorten_middle(document.name, 60))}: {field_title(field).lower()} changed to {title}."
    work = session.workbench().bulk_edit.set_labels
    notices.apply_change("labels", lambda: work([(document.id, field, value)], who() or "analyst"), done)
    session.forget_answers()


def _withdraw_label(document: Document, field: str) -> None:
    done = f"{plain(shorten_middle(document.name, 60))}: {field_title(field).lower()} is the classifier’s again."
    work = session.workbench().bulk_edit.withdraw_label
    notices.apply_change("labels", lambda: work(document.id, field, who() or "analyst"), done)
    session.forget_answers()
