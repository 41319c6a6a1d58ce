"""What has changed since an experiment: the questions of its set, the judgments, or the library."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import streamlit as st

from bootstrap.environment import utc_now
from core.domain.evaluation import Experiment
from core.evaluation.experiments import ExperimentSettings
from pages.components.tuning.judge_state import GROUND, judgment_service
from pages.components.tuning.state import evaluation_service

__all__ = ["changed_since", "changed_words"]

_FRESH = timedelta(seconds=30)  # how long what was read is used again; chosen by hand


def changed_since(experiments: Sequence[Experiment], set_id: int) -> list[list[str]]:
    """For each experiment of a set what has changed since. Of one without outcomes, as in lists, only the number of
    questions is compared."""
    now = _settings_now(set_id, experiments)
    current = {(each.id, each.question, each.kind) for each in judgment_service().questions(set_id)}
    return [_changes(each, now, current) for each in experiments]


def _changes(each: Experiment, now: ExperimentSettings, current: set[tuple[int, str, str]]) -> list[str]:
    outcomes = {(one.question_id, one.question, one.kind) for one in each.outcomes}
    checks = (
        ("questions", outcomes != current if outcomes else _question_count(each) != len(current)),
        ("judgments", each.judgments_version != now.judgments_version),
        ("library", each.corpus_hash != now.corpus_hash),
    )
    return [words for words, differs in checks if differs]


def _question_count(each: Experiment) -> int:
    settings = each.optimising
    return each.total - (settings.trials * (settings.folds + 1) if settings else 0)


def changed_words(changes: Sequence[str]) -> str:
    """What has changed since, as a part of a line; "" when nothing has.

    >>> changed_words(["library"]), changed_words(["questions", "judgments", "library"]), changed_words([])
    ('the library has changed since', 'questions, judgments and the library have changed since', '')
    """
    if not changes:
        return ""
    named = ["the library" if each == "library" else each for each in changes]
    words = f"{', '.join(named[:-1])} and {named[-1]}" if len(named) > 1 else named[0]
    return f"{words} {'has' if named == ['the library'] else 'have'} changed since"


def _settings_now(set_id: int, experiments: Sequence[Experiment]) -> ExperimentSettings:
    """The judgments and library a measurement would use now: read again after half a minute, after a grade, and after
    an experiment that ended since, because reading takes long in a large library."""
    known: tuple[int, datetime, ExperimentSettings] | None = st.session_state.get(GROUND)
    ended = max((each.finished_at or each.started_at for each in experiments), default=None)
    now = utc_now()
    if known is None or known[0] != set_id or now - known[1] > _FRESH or (ended is not None and ended > known[1]):
        known = st.session_state[GROUND] = (set_id, now, evaluation_service().experiments.ground(set_id))
    return known[2]
