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
    asked = [each for each in usage.questions if each.question]
    if not asked:
        return
    more = f", the latest {_MOST_QUESTIONS}" if len(asked) > _MOST_QUESTIONS else ""
    st.markdown(f"**For {count(len(asked), 'question')}**{more}")
    draw_table(
        f"usage.{document.id}",
        "Questions",
        _COLUMNS,
        [_row(number, each) for number, each in enumerate(asked[:_MOST_QUESTIONS])],
        on={"chosen": lambda number: None},
        keys=False,
    )


def _row(number: int, asked: QuestionUsage) -> dict[str, object]:
    return {
        "id": number,
        "name": shorten(asked.question, _QUESTION_LENGTH),
        "full": asked.question,
        "address": f"search?{urlencode({'q': asked.question})}",
        "sentence": [],
        "cells": {
            "opened": f"{asked.opened:,}" if asked.opened else "",
            "cited": f"{asked.cited:,}" if asked.cited else "",
            "shown": f"{asked.shown:,}" if asked.shown else "",
            "last": ago(asked.last, utc_now()),
        },
    }
