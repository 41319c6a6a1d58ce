"""Which pictures the documentation has: each an address of the app, and what is done there before it is taken."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import sample

__all__ = ["NOTES", "QUESTION", "TUNING", "VIEWS", "View"]

QUESTIONS = Path(__file__).parent / "pictures" / "questions.csv"
"""A batch to ask; one of its rows cannot be asked."""
QUESTION = "When must overtime be paid at one and one-half times the regular rate?"
STATEMENT = """SELECT department, count(*) AS people, round(avg(pay_rate), 2) AS average_rate
FROM employees
WHERE status = 'active' AND pay_type = 'hourly'
GROUP BY department
ORDER BY average_rate DESC"""
TRIAL = "w.authority:0.15,partial:0.4"


@dataclass(frozen=True, slots=True)
class View:
    """One picture: an address of the app, a word that stands there once it is drawn, and what is done before: a name
    typed, a file uploaded, a button pressed, a box opened."""

    name: str
    path: str
    sign: str
    params: Callable[[], dict[str, str | list[str]]] = dict
    press: str = ""
    who: str = ""
    open: str | re.Pattern[str] = ""
    file: Path | None = None


VIEWS = (
    View("home", "", "Your last searches"),
    View("upload", "upload", "Passages"),
    View("upload-check", "upload", "Save correction", open=re.compile(r"Check \d+ uncertain label")),
    View("library", "library", "documents"),
    View("settings", "settings", "Words that name it", lambda: {"domain": "time"}),
    View("search", "search", "results in", lambda: {"q": QUESTION}),
    View("document", "search", "Coverage evidence", lambda: {"q": QUESTION}, open="Open document"),
    View("search-nothing", "search", "Probably not answered", lambda: {"q": sample.questions()[-1]}),
    View("search-five", "search", "Missing for a complete", lambda: {"q": QUESTION, "view": "five"}),
    View("search-batch", "search", "Remove batch", lambda: {"view": "batch"}, "Ask 10 questions", file=QUESTIONS),
    View("inspect", "inspect", "Rank at each stage", lambda: {"q": QUESTION}),
    View("inspect-compare", "inspect", "is ahead by", lambda: {"q": QUESTION, "view": "Compare"}),
    View("inspect-page", "inspect", "Picture of the page", lambda: {"q": QUESTION, "view": "Page"}),
    View("coverage", "coverage", "What to obtain", lambda: {"view": "Board"}),
    View("coverage-review", "coverage", "cells decided", lambda: {"view": "Review"}),
    View("data-ask", "data", "Interpreted as", lambda: {"q": "employees by department"}),
    View("data-tables", "data", "Personal data", lambda: {"view": "Tables", "table": "employees"}),
    View("data-in-use", "data", "Unused", lambda: {"view": "In use"}),
    View("data-sql", "data", "rows in", lambda: {"view": "SQL", "sql": STATEMENT}, "Run"),
)  # fmt: skip
TUNING = (
    View("tuning-tune", "tuning", "the same", lambda: _room("tune", q=QUESTION, base="balanced", trial=TRIAL)),
    View(
        "tuning-judge", "tuning", "Krippendorff", lambda: _room("judge", question="q1"),
        who="Ana Petrov", open="Agreement of",
    ),
    View("tuning-questions", "tuning", "edit in place", lambda: _room("judge", part="set")),
    View("tuning-measure", "tuning", "question by question", lambda: _room("measure", a="balanced", b="relevance")),
    View("tuning-optimise", "tuning", "Not recommended", lambda: _room("optimise", a="balanced")),
    View("tuning-threshold", "tuning", "suggested", lambda: _room("threshold", a="balanced")),
    View("tuning-profiles", "tuning", "version 2", lambda: _room("profiles", profile="who says it")),
    View("tuning-classifier", "tuning", "Calibration error", lambda: _room("classifier")),
)  # fmt: skip
"""What needs judged questions, experiments and confirmed labels, and so is taken after what is above."""
NOTES = (
    View("insights", "insights", "newest first"),
    View("insights-episodes", "insights", "Outcome", lambda: {"view": "episodes"}),
)
"""What needs notes, and so is taken last: every search finds them."""


def _room(view: str, **params: str) -> dict[str, str | list[str]]:
    return {"view": view, **params}
