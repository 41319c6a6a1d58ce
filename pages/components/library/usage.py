"""How a document was used: opened, cited and shown, when last, and for which questions."""

from urllib.parse import urlencode

import streamlit as st

from bootstrap.environment import utc_now
from core.domain.documents import Document
from core.search.store import QuestionUsage
from pages.components import session
from pages.components.library.table import TableColumn, draw_table
from pages.components.wording import ago, count, shorten

__all__ = ["draw_usage"]

_MOST_QUESTIONS = 50
"""Questions listed, the latest ones: as many as ranking by use remembers (core.search.store.KEPT_QUESTIONS)."""
_QUESTION_LENGTH = 160  # characters of a question: two lines

_COLUMNS = (
    TableColumn("name", "Question", "name"),
    TableColumn("opened", "Opened", "number"),
    TableColumn("cited", "Cited", "number"),
    TableColumn("shown", "Shown", "number", help="Passages shown as results"),
    TableColumn("last", "Last", "short"),
)


def draw_usage(document: Document) -> None:
    """The totals of a document, then its questions."""
    usage = session.workbench().usage.of_document(document.id)
    if usage.last is None:
        st.caption("Not used yet. It is counted here when somebody opens, cites or finds it.")
        return
    opened, cited, shown = st.columns(3)
    opened.metric("Opened", f"{usage.opened:,}")
    cited.metric("Cited", f"{usage.cited:,}")
    shown.metric("Passages shown", f"{usage.shown:,}", help="As results of a search")
    st.caption(f"Last {ago(usage.last, utc_now())}. Opening it again within ten minutes counts once.")
    questions = [each for each in usage.questions if each.question]
    if not questions:
        return
    more = f", the latest {_MOST_QUESTIONS}" if len(questions) > _MOST_QUESTIONS else ""
    st.markdown(f"**For {count(len(questions), 'question')}**{more}")
    draw_table(
        f"usage.{document.id}",
        "Questions",
        _COLUMNS,
        [_row(number, each) for number, each in enumerate(questions[:_MOST_QUESTIONS])],
        on={"chosen": lambda number: None},
        keys=False,
    )


def _row(number: int, usage: QuestionUsage) -> dict[str, object]:
    return {
        "id": number,
        "name": shorten(usage.question, _QUESTION_LENGTH),
        "full": usage.question,
        "address": f"search?{urlencode({'q': usage.question})}",
        "sentence": [],
        "cells": {
            "opened": f"{usage.opened:,}" if usage.opened else "",
            "cited": f"{usage.cited:,}" if usage.cited else "",
            "shown": f"{usage.shown:,}" if usage.shown else "",
            "last": ago(usage.last, utc_now()),
        },
    }
