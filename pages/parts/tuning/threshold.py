"""The Threshold view: which scores relevant and irrelevant results have, where to cut, and what that would cost."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from core.experiments import Experiment, ExperimentKind
from core.judged import QuestionSet
from core.moments import right_now
from core.queries import ScoreProfile
from core.tuning.cuts import Cut, Cuts, cuts_of
from pages.parts import notices
from pages.parts.tuning import sets
from pages.parts.tuning.compare import ground_now
from pages.parts.tuning.keep import keep
from pages.parts.tuning.lab_running import running
from pages.parts.tuning.lab_state import begin, busy, finished, lab, profile_chooser, remembered, tell, whole
from pages.parts.tuning.measure_looks import share
from pages.parts.tuning.threshold_charts import Mark, threshold_picture
from pages.parts.wording import ago, count, plain

__all__ = ["view"]

_SAME = 5e-4
_NAMED = 12


def view(project: str | None) -> None:
    """Whose scores; then their distribution, what every threshold would do, and the way to keep one."""
    tell()
    with notices.told():
        _room(project)


def _room(project: str | None) -> None:
    chosen, one, press = st.columns([4, 4, 2], vertical_alignment="bottom")
    with chosen:
        questions = sets.chooser(project)
    if questions is None:
        sets.first_set(project)
        return
    with one:
        profile = profile_chooser("Profile", "a", project)
    assert profile is not None  # one is always chosen
    listed = list(lab().experiments(questions.id))
    press.button(
        "Measure", key="threshold.begin", icon=":material/straighten:", width="stretch", on_click=begin,
        args=(questions, [profile.ref]), help="Asks every question again; what is graded since counts then.",
        disabled=busy(listed, ExperimentKind.MEASURED, [profile.ref]),
    )  # fmt: skip
    under_way = running(listed, ExperimentKind.MEASURED)
    latest = finished(listed, profile.ref)
    if latest is not None:
        _measured(questions, whole(latest.id), profile)
    elif not under_way:
        notices.empty(
            ":material/vertical_align_center:",
            f"{plain(profile.ref)} has not been measured with this set",
            "Press *Measure*: the scores of what people have graded tell where to cut.",
        )


def _measured(questions: QuestionSet, experiment: Experiment, profile: ScoreProfile) -> None:
    cuts = remembered("cuts", experiment.id, lambda: cuts_of(experiment))
    parts = [
        f"Measured {ago(experiment.finished_at or experiment.started_at, right_now())}",
        count(len(experiment.outcomes), "question"),
        f"{cuts.relevant:,} relevant and {cuts.irrelevant:,} irrelevant results graded",
        f"{share(experiment.unjudged)} of the first ten unjudged",
    ]
    now = ground_now(questions.id)
    if now.judgments_version != experiment.judgments_version or now.corpus_hash != experiment.corpus_hash:
        parts.append(":orange[:material/history: judgments or the library have changed since]")
    st.caption(" · ".join(parts))
    if cuts.help.suggested is None:
        st.info(f"{cuts.help.words} Judge some results, then measure again.", icon=":material/gavel:")
    if cuts.doubts:
        st.warning("\n\n".join(cuts.doubts), icon=":material/balance:")
    if cuts.triples:
        _cut(cuts, experiment, profile)


@st.fragment
def _cut(cuts: Cuts, experiment: Experiment, profile: ScoreProfile) -> None:
    """The slider, the pictures it is marked in, and what it would do beside the threshold in use."""
    with notices.told():
        tell()
        value = _slider(cuts, experiment, profile)
        marks = _marks(cuts, profile, value)
        st.plotly_chart(
            threshold_picture(cuts.help, marks, dark=st.context.theme.type == "dark"),
            config={"displayModeBar": False},
            key="threshold.picture",
            alt="Scores of relevant and irrelevant results, and precision and recall over the threshold",
        )
        st.caption("Precision: share of what is shown that is relevant. Recall: share of the relevant that is shown.")
        tried = cuts.at(value)
        st.markdown(_words(tried, cuts.at(profile.threshold), profile))
        _table(cuts, marks)
        _named(tried, {outcome.key: outcome.question for outcome in experiment.outcomes})
        _save(tried, cuts, experiment, profile)


def _slider(cuts: Cuts, experiment: Experiment, profile: ScoreProfile) -> float:
    """The threshold that is tried, at first the suggested one."""
    start = profile.threshold if cuts.help.suggested is None else cuts.help.suggested
    return st.slider(
        "Threshold: what scores less is not shown", 0.0, 1.0, round(start, 3), 0.005, format="%.3f",
        key=f"threshold.at.{experiment.id}",
    )  # fmt: skip


def _marks(cuts: Cuts, profile: ScoreProfile, value: float) -> Sequence[Mark]:
    """The threshold in use, the suggested one, and the slider's where it stands elsewhere."""
    marks = [Mark(profile.threshold, "in use", "use")]
    if cuts.help.suggested is not None:
        marks.append(Mark(cuts.help.suggested, "suggested", "offer"))
    if all(abs(mark.value - value) > _SAME for mark in marks):
        marks.append(Mark(value, "slider", "try"))
    return marks


def _words(tried: Cut, used: Cut, profile: ScoreProfile) -> str:
    """What the slider's threshold does, and how that differs from the one in use."""
    counts = tried.counts
    relevant = counts.relevant_kept + counts.relevant_lost
    irrelevant = counts.irrelevant_kept + counts.irrelevant_dropped
    said = (
        f"From **{tried.threshold:.3f}** on, **{counts.relevant_kept:,} of {relevant:,} relevant** results are kept and"
        f" **{counts.irrelevant_dropped:,} of {irrelevant:,} irrelevant** ones dropped."
    )
    new_losing = [key for key in tried.losing if key not in used.losing]
    found_again = [key for key in used.losing if key not in tried.losing]
    changes = [
        (new_losing, "lose their last relevant result", "loses its last relevant result"),
        (found_again, "get a relevant result back", "gets a relevant result back"),
        ([key for key in tried.silent if key not in used.silent], "are left without any", "is left without any"),
        (
            [key for key in used.answered if key not in tried.answered],
            "that nothing answers would rightly be shown nothing",
            "that nothing answers would rightly be shown nothing",
        ),
    ]
    told = [f"{count(len(keys), 'question')} {many if len(keys) > 1 else one}" for keys, many, one in changes if keys]
    if abs(tried.threshold - profile.threshold) <= _SAME:
        return f"{said} It is the threshold in use."
    against = f" Against {profile.threshold:.3f}, in use now: "
    return said + against + (f"{'; '.join(told)}." if told else "no question is answered otherwise.")


def _table(cuts: Cuts, marks: Sequence[Mark]) -> None:
    rows = []
    for mark in marks:
        cut = cuts.at(mark.value)
        counts = cut.counts
        nothing = len(cut.refused) + len(cut.answered)
        rows.append(
            {
                "Threshold": f"**{mark.value:.3f}** {mark.words}",
                "Relevant kept": f"{counts.relevant_kept:,}",
                "Relevant lost": f"{counts.relevant_lost:,}",
                "Irrelevant dropped": f"{counts.irrelevant_dropped:,}",
                "Irrelevant kept": f"{counts.irrelevant_kept:,}",
                "Lose their last relevant": f"{len(cut.losing):,}",
                "Left without any": f"{len(cut.silent):,}",
                "Rightly shown nothing": f"{len(cut.refused):,} of {nothing:,}" if nothing else "–",
            }
        )
    st.table(rows, border="horizontal", hide_index=True)


def _named(cut: Cut, questions: Mapping[str, str]) -> None:
    """Which questions a threshold costs something, and which are shown something although nothing answers them."""
    groups = (
        ("Lose their last relevant result", cut.losing),
        ("Have an answer and are shown nothing", cut.silent),
        ("Nothing answers them, and they are shown something", cut.answered),
    )
    some = [(head, keys) for head, keys in groups if keys]
    if not some:
        return
    with st.expander("Which questions these are, at the slider", icon=":material/quiz:"):
        for head, keys in some:
            st.markdown(f"**{head}** · {len(keys):,}")
            lines = [f"- {plain(questions.get(key, key))} :gray[{plain(key)}]" for key in keys[:_NAMED]]
            more = len(keys) - _NAMED
            st.markdown("\n".join([*lines, *([f"- … and {more:,} more"] if more > 0 else [])]))


def _save(tried: Cut, cuts: Cuts, experiment: Experiment, profile: ScoreProfile) -> None:
    with st.container(border=True):
        st.markdown(f"**Keep {tried.threshold:.3f}** :gray[· all else of {plain(profile.ref)} stays as it is]")
        counts = tried.counts
        note = (
            f"Threshold {profile.threshold:g} → {tried.threshold:g}: {counts.relevant_kept} of {cuts.relevant} relevant"
            f" results kept, {counts.irrelevant_dropped} of {cuts.irrelevant} irrelevant dropped. Experiment"
            f" {experiment.id} on '{experiment.set_name}'."
        )
        keep(
            replace(profile, threshold=tried.threshold),
            profile,
            note,
            f"threshold.keep.{experiment.id}",
            "Save as new version with this threshold",
            ready=abs(tried.threshold - profile.threshold) > _SAME,
        )
