"""How often people found the automatic labels right, week by week or month by month."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from core.library.lessons_store import Verdict
from core.tuning.classifier_report import Rate

__all__ = ["ENOUGH", "Period", "accuracy_over_time"]

ENOUGH = 10
"""Labels a period needs before its share is more than a hint."""


@dataclass(frozen=True, slots=True)
class Period:
    """The labels people looked at from a day on, a week (from Monday) or a month long, and how many were right."""

    start: date
    right: Rate


def accuracy_over_time(verdicts: Iterable[Verdict], field: str | None, *, by_month: bool = False) -> Sequence[Period]:
    """A period per week or month in which people said something of labels the classifier had given, oldest first.

    Of each label its first verdict counts: later ones are about what a person said. A verdict taken back counts as not
    given. A label the classifier had left open and a person filled in counts as wrong. field None: all fields.
    """
    standing: dict[tuple[int, str], Verdict] = {}
    for each in verdicts:
        if field is not None and each.field != field:
            continue
        key = (each.document_id, each.field)
        if not each.said:
            standing.pop(key, None)
        elif each.automatic:
            standing[key] = each
    counts: dict[date, list[bool]] = {}
    for each in standing.values():
        counts.setdefault(_start(each.at.date(), by_month), []).append(each.given == each.said)
    return [Period(start, Rate(sum(right), len(right))) for start, right in sorted(counts.items())]


def _start(day: date, by_month: bool) -> date:
    """The first day of its month, or the Monday of its week.

    >>> _start(date(2024, 5, 16), True).isoformat(), _start(date(2024, 5, 16), False).isoformat()
    ('2024-05-01', '2024-05-13')
    """
    return day.replace(day=1) if by_month else day - timedelta(days=day.weekday())
