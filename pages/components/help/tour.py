"""The tour: five steps on the sample library, each with a link to the page and what to look at there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

import sample
from core.domain.documents import Document
from pages.components import session
from pages.components.urls import page_path
from pages.components.wording import shorten

__all__ = ["TourStep", "draw_tour", "tour_steps"]

_LABELLED = "Overtime_and_Timekeeping_Policy.pdf"
_CITED, _SENTENCE = "Federal_Employment_Rules_Digest.pdf", "one and one-half times the regular rate"
"""The documents of the sample library the tour opens, and what the cited sentence says."""


@dataclass(frozen=True, slots=True)
class TourStep:
    """name: of the step in the session. page and params: where its link leads. look: what to look at there."""

    name: str
    title: str
    page: str
    params: Mapping[str, str]
    link: str
    look: str


# Longer than 40 lines: a list of five values.
def tour_steps() -> Sequence[TourStep]:
    """The five steps, with links to the sample documents as this library holds them."""
    known = {each.name: each for each in session.workbench().documents.list()}
    question = sample.questions()[0]
    labelled, cited = known.get(_LABELLED), known.get(_CITED)
    return (
        TourStep(
            "sample",
            "Load the sample library",
            "home",
            {},
            "Open Home",
            "Press **Load the sample library**: fourteen documents of an invented company, ready after a minute.",
        ),
        TourStep(
            "label",
            "Read a label",
            "library",
            {"document": str(labelled.id)} if labelled else {},
            "Open a policy in Library",
            "See which truth the document states, how likely the label is, and the quoted sentences that decided it.",
        ),
        TourStep(
            "question",
            "Ask a question",
            "search",
            {"q": question},
            f"Search “{shorten(question, 40)}”",
            "Five cells at the top say which truths answer. Choose a result to read it and see why it ranks there.",
        ),
        TourStep(
            "citation",
            "Open a citation",
            "document",
            _citation_of(cited),
            "Open the cited sentence in its page",
            "The sentence is marked where it is printed. `n` and `p` go to the next and the previous mark.",
        ),
        TourStep(
            "coverage",
            "Look at the coverage board",
            "coverage",
            {},
            "Open Coverage",
            "Add the sample library's topics, then press **Assess**. A red cell is a truth without evidence for its"
            " topic; click it to see what to obtain.",
        ),
    )


def _citation_of(document: Document | None) -> Mapping[str, str]:
    """The parameters that open the sentence the tour cites, marked in its document."""
    if document is None:
        return {}
    for passage in session.workbench().documents.passages(document.id):
        for index, span in enumerate(passage.sentences):
            if _SENTENCE in " ".join(span.of(passage.text).split()):
                return {"id": str(document.id), "mark": f"{passage.id}.{index}"}
    return {"id": str(document.id)}


def draw_tour() -> None:
    """The steps with their progress, which lasts as long as the session."""
    loaded, steps = session.sample_loaded(), tour_steps()
    if loaded:
        st.session_state.setdefault("tour.sample", True)
    done = sum(bool(st.session_state.get(f"tour.{step.name}")) for step in steps)
    st.progress(done / len(steps), f"{done} of {len(steps)} steps done")
    for number, step in enumerate(steps, 1):
        _draw_step(number, step, open=loaded or step.name == "sample")


def _draw_step(number: int, step: TourStep, *, open: bool) -> None:
    """One step: what to look at, where, and a box to tick."""
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
            st.markdown(f"**{number} {step.title}**", width="stretch")
            if open:
                st.page_link(
                    page_path(step.page), label=step.link, icon=":material/arrow_forward:", width="content",
                    query_params=dict(step.params),
                )  # fmt: skip
            else:
                st.caption("Load the sample library first.", width="content")
            st.checkbox("Done", key=f"tour.{step.name}", persist_state="session")
        st.markdown(step.look)
