"""Experiments and their comparison as JSON data, text and table rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from core.domain.evaluation import Experiment, Interval, MetricChange, OptimiserResult, QuestionOutcome
from core.evaluation.metrics.comparison import comparison
from core.evaluation.metrics.measures import MEASURES
from core.evaluation.metrics.significance import changed, compared
from core.evaluation.tuning.profile_registry import differences
from core.formats.terminal import aligned, printable

__all__ = [
    "comparison_data",
    "comparison_table",
    "experiment_data",
    "experiment_text",
    "optimised_data",
    "optimised_text",
]

_LEAST_CHANCE = 0.001  # smaller p values are shown as "< 0.001"

_LISTED = 20  # questions listed in text. Chosen by hand, not fitted.

_SHOWN = 100  # characters of a question in text. Chosen by hand, not fitted.


# A measurement
def experiment_data(now: Experiment, before: Experiment | None = None) -> dict[str, Any]:
    """An experiment with its outcomes as JSON-compatible data; before: an earlier one with outcomes to compare with."""
    data = _about(now) | {
        "measures": {name: asdict(interval) for name, interval in now.measures.items()},
        "unjudged": now.unjudged,
        "before": None,
        "outcomes": [asdict(outcome) for outcome in now.outcomes],
    }
    if before is not None:
        data["before"] = _about(before) | {
            "changes": {
                name: asdict(pair.gain) | {"p_value": pair.p_value}
                for name, pair in compared(before.outcomes, now.outcomes).items()
            },
            "worse": [_moved(key, moved) for key, moved in _moves(before, now, better=False).items()],
            "better": [_moved(key, moved) for key, moved in _moves(before, now, better=True).items()],
        }
    return data


def _about(experiment: Experiment) -> dict[str, Any]:
    return {
        "experiment": experiment.id,
        "set": experiment.set_name,
        "project": experiment.project,
        "profile": experiment.profile.ref,
        "who": experiment.who,
        "started_at": experiment.started_at.isoformat(),
        "milliseconds": experiment.milliseconds,
        "judgments_version": experiment.judgments_version,
        "corpus_hash": experiment.corpus_hash,
        "note": experiment.note,
    }


def _moved(key: str, moved: Mapping[str, MetricChange]) -> dict[str, Any]:
    first = next(iter(moved.values()))
    values = {name: [change.before, change.after] for name, change in moved.items()}
    return {"key": key, "question": first.question, "kind": first.kind, "measures": values}


def experiment_text(now: Experiment, before: Experiment | None = None) -> str:
    """The metrics with their intervals; with `before` also changes, p values, and the questions that got worse."""
    head = f"{now.set_name}: {now.total} questions with {now.profile.ref}, kept as experiment {now.id}."
    unjudged = "–" if now.unjudged is None else f"{now.unjudged:.0%}"
    lines = [head, "", _measures(now, before), "", f"{unjudged} of the first ten results are not judged."]
    if before is not None:
        worse, better = (_moves(before, now, better=way) for way in (False, True))
        lines += [
            "",
            f"Compared with {_previous_run(before, now)}: {len(worse)} questions are worse, {len(better)} better.",
        ]
        lines += _listed(
            f"worse: {key}: {_values(moved)}: {_beginning(next(iter(moved.values())).question)}"
            for key, moved in worse.items()
        )
    return "\n".join(lines)


def _measures(now: Experiment, before: Experiment | None) -> str:
    columns: tuple[str, ...] = ("measure", "mean", "low", "high", "questions")
    rows: list[list[Any]] = [[name, *_numbers(interval)] for name, interval in now.measures.items()]
    if before is not None:
        columns += ("change", "p")
        pairs = compared(before.outcomes, now.outcomes)
        for row in rows:
            pair = pairs.get(row[0])
            row += [pair.gain.mean, _chance(pair.p_value)] if pair else [None, "–"]
    return aligned(columns, rows)


def _chance(p_value: float) -> str:
    return f"{p_value:.3f}" if p_value >= _LEAST_CHANCE else f"< {_LEAST_CHANCE:g}"


def _numbers(interval: Interval) -> tuple[float, float, float, int]:
    return interval.mean, interval.low, interval.high, interval.n


def _previous_run(before: Experiment, now: Experiment) -> str:
    """Which experiment it is compared with, and what else has changed since."""
    run = f"experiment {before.id} of {before.started_at:%Y-%m-%d %H:%M}"
    since = [
        words
        for words, differs in (
            (f"the profile was {before.profile.ref}", bool(differences(before.profile, now.profile))),
            ("the library has changed since", before.corpus_hash != now.corpus_hash),
            ("the judgments have changed since", before.judgments_version != now.judgments_version),
        )
        if differs
    ]
    return f"{run} ({', '.join(since)})" if since else run


def _moves(before: Experiment, now: Experiment, *, better: bool) -> dict[str, dict[str, MetricChange]]:
    """Question key → metric → its loss, or gain if `better`; largest change first."""
    found: dict[str, dict[str, MetricChange]] = {}
    for name in MEASURES:
        for change in changed(before.outcomes, now.outcomes, name)[better]:
            found.setdefault(change.key, {})[name] = change
    order = sorted(found, key=lambda key: (-max(abs(each.after - each.before) for each in found[key].values()), key))
    return {key: found[key] for key in order}


def _values(moved: Mapping[str, MetricChange]) -> str:
    return ", ".join(f"{name} {printable(change.before)} → {printable(change.after)}" for name, change in moved.items())


# Weight optimisation
def optimised_data(experiment: Experiment, found: OptimiserResult) -> dict[str, Any]:
    """The result of a weight optimisation as JSON-compatible data."""
    return _about(experiment) | {
        "optimising": asdict(experiment.optimising) if experiment.optimising else None,
        **asdict(found),
        "before": dict(experiment.profile.weights),
        "after": dict(found.profile.weights),
    }


def optimised_text(experiment: Experiment, found: OptimiserResult) -> str:
    """The recommendation, its basis, the weights before and after, and the questions that got worse.

    low and high of a weight: its minimum and maximum over the folds; wide: the questions do not determine it.
    """
    measure = experiment.optimising.measure if experiment.optimising else "measure"
    rows = [
        ("current weights", *_numbers(found.baseline)),
        ("found, on the questions it was found on", *_numbers(found.training)),
        ("found, on questions it had not seen", *_numbers(found.held_out)),
        ("gain on those over the current weights", *_numbers(found.gain)),
    ]
    lines = [found.verdict, "", aligned((measure, "mean", "low", "high", "questions"), rows), ""]
    lines += [_weights(experiment.profile.weights, found), ""]
    lines += [f"Of questions it had not seen {len(found.worse)} are worse, {len(found.better)} better."]
    return "\n".join([*lines, *_listed(map(_change_line, found.worse))])


def _change_line(each: MetricChange) -> str:
    change = f"{printable(each.before)} → {printable(each.after)}"
    return f"worse: {each.key} ({each.kind}): {change}: {_beginning(each.question)}"


def _weights(before: Mapping[str, float], found: OptimiserResult) -> str:
    after = found.profile.weights
    rows = []
    for name in dict.fromkeys([*before, *after, *found.spread]):
        least, most = found.spread.get(name, (0.0, 0.0))
        rows.append((name, before.get(name, 0.0), after.get(name, 0.0), least, most))
    rows.sort(key=lambda row: -max(row[1], row[2]))
    return aligned(("weight", "before", "after", "low", "high"), rows)


def _listed(lines: Iterable[str]) -> Sequence[str]:
    """The first lines, and how many more there are."""
    every = list(lines)
    more = len(every) - _LISTED
    return [*every[:_LISTED], f"… and {more} more."] if more > 0 else every


def _beginning(text: str) -> str:
    tidy = " ".join(text.split())
    return tidy if len(tidy) <= _SHOWN else f"{tidy[: _SHOWN - 1]}…"


_ABOUT = ("key", "question", "kind", "answerable")

_BESIDE = ("hits", "unjudged", "first")


def comparison_data(experiments: Sequence[Experiment]) -> dict[str, Any]:
    """Experiments with outcomes as JSON-compatible data, and their differences from the first."""
    found = comparison(experiments)
    return {
        "experiments": [experiment_data(each) | {"scored_with": asdict(each.profile)} for each in experiments],
        "differences": [
            {
                "experiment": each.id,
                "from": experiments[0].id,
                "measures": {
                    row.measure.name: asdict(pair.gain) | {"p_value": pair.p_value}
                    for row in found.rows
                    if (pair := row.gains[index]) is not None
                },
            }
            for index, each in enumerate(experiments)
            if index
        ],
        "questions_in_common": found.shared,
        "doubts": list(found.doubts),
    }


def comparison_table(experiments: Sequence[Experiment]) -> tuple[list[str], list[list[object]]]:
    """Header and one row per question with the metrics of every experiment side by side. None: not measured."""
    used = [name for name in MEASURES if any(name in each.measures for each in experiments)]
    heads = [*_ABOUT]
    for each in experiments:
        called = each.profile.ref if len(experiments) == 1 else f"{each.profile.ref} #{each.id}"
        heads += [f"{called} {name}" for name in (*used, *_BESIDE)]
    outcomes = [{outcome.question_id: outcome for outcome in each.outcomes} for each in experiments]
    known = {number: outcome for run in outcomes for number, outcome in run.items()}
    rows: list[list[object]] = []
    for number, outcome in known.items():
        row: list[object] = [getattr(outcome, name) for name in _ABOUT]
        for run in outcomes:
            row += _cells(run.get(number), used)
        rows.append(row)
    return heads, rows


def _cells(outcome: QuestionOutcome | None, measures: Sequence[str]) -> list[object]:
    if outcome is None:
        return [None] * (len(measures) + len(_BESIDE))
    return [*(outcome.measures.get(name) for name in measures), *(getattr(outcome, name) for name in _BESIDE)]
