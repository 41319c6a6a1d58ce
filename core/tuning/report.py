"""An experiment as data and as text, for what leaves the product."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from core.experiments import Change, Experiment, Interval, Optimised
from core.printed import aligned, shown
from core.tuning.metrics import MEASURES
from core.tuning.profile_text import differences
from core.tuning.significance import changed, compared

__all__ = ["experiment_data", "experiment_text", "optimised_data", "optimised_text"]

_LEAST_CHANCE = 0.001
_LISTED = 20
_SHOWN = 100


# A measurement


def experiment_data(now: Experiment, before: Experiment | None = None) -> dict[str, Any]:
    """A measurement as plain data for JSON, with its outcomes; before: an earlier one to hold it against, with its."""
    data = _about(now) | {
        "measures": {name: asdict(held) for name, held in now.measures.items()},
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


def _moved(key: str, moved: Mapping[str, Change]) -> dict[str, Any]:
    first = next(iter(moved.values()))
    values = {name: [change.before, change.after] for name, change in moved.items()}
    return {"key": key, "question": first.question, "kind": first.kind, "measures": values}


def experiment_text(now: Experiment, before: Experiment | None = None) -> str:
    """The measures with their intervals; with `before` also what has changed, how likely that is chance, and which
    questions are worse."""
    head = f"{now.set_name}: {now.total} questions with {now.profile.ref}, kept as experiment {now.id}."
    unjudged = "–" if now.unjudged is None else f"{now.unjudged:.0%}"
    lines = [head, "", _measures(now, before), "", f"Nobody has judged {unjudged} of the first ten results."]
    if before is not None:
        worse, better = (_moves(before, now, better=way) for way in (False, True))
        lines += ["", f"Held against {_told(before, now)}: {len(worse)} questions are worse, {len(better)} better."]
        lines += _listed(
            f"worse: {key}: {_values(moved)}: {_beginning(next(iter(moved.values())).question)}"
            for key, moved in worse.items()
        )
    return "\n".join(lines)


def _measures(now: Experiment, before: Experiment | None) -> str:
    columns: tuple[str, ...] = ("measure", "mean", "low", "high", "questions")
    rows: list[list[Any]] = [[name, *_numbers(held)] for name, held in now.measures.items()]
    if before is not None:
        columns += ("change", "p")
        pairs = compared(before.outcomes, now.outcomes)
        for row in rows:
            pair = pairs.get(row[0])
            row += [pair.gain.mean, _chance(pair.p_value)] if pair else [None, "–"]
    return aligned(columns, rows)


def _chance(p_value: float) -> str:
    return f"{p_value:.3f}" if p_value >= _LEAST_CHANCE else f"< {_LEAST_CHANCE:g}"


def _numbers(held: Interval) -> tuple[float, float, float, int]:
    return held.mean, held.low, held.high, held.n


def _told(before: Experiment, now: Experiment) -> str:
    """Which experiment it is held against, and what else is not as it was."""
    said = f"experiment {before.id} of {before.started_at:%Y-%m-%d %H:%M}"
    since = [
        words
        for words, differs in (
            (f"the profile was {before.profile.ref}", bool(differences(before.profile, now.profile))),
            ("the library has changed since", before.corpus_hash != now.corpus_hash),
            ("the judgments have changed since", before.judgments_version != now.judgments_version),
        )
        if differs
    ]
    return f"{said} ({', '.join(since)})" if since else said


def _moves(before: Experiment, now: Experiment, *, better: bool) -> dict[str, dict[str, Change]]:
    """Question key → measure → its change for the worse, or the better; the largest change first."""
    found: dict[str, dict[str, Change]] = {}
    for name in MEASURES:
        for change in changed(before.outcomes, now.outcomes, name)[better]:
            found.setdefault(change.key, {})[name] = change
    order = sorted(found, key=lambda key: (-max(abs(each.after - each.before) for each in found[key].values()), key))
    return {key: found[key] for key in order}


def _values(moved: Mapping[str, Change]) -> str:
    return ", ".join(f"{name} {shown(change.before)} → {shown(change.after)}" for name, change in moved.items())


# A search for weights


def optimised_data(experiment: Experiment, found: Optimised) -> dict[str, Any]:
    """What a search for weights found, as plain data for JSON."""
    return _about(experiment) | {
        "optimising": asdict(experiment.optimising) if experiment.optimising else None,
        **asdict(found),
        "before": dict(experiment.profile.weights),
        "after": dict(found.profile.weights),
    }


def optimised_text(experiment: Experiment, found: Optimised) -> str:
    """The verdict, what it stands on, the weights before and after, and the questions that got worse.

    low and high of a weight: the least and the most it got over the folds; wide means that the questions do not decide
    it.
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


def _change_line(each: Change) -> str:
    said = f"{shown(each.before)} → {shown(each.after)}"
    return f"worse: {each.key} ({each.kind}): {said}: {_beginning(each.question)}"


def _weights(before: Mapping[str, float], found: Optimised) -> str:
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
