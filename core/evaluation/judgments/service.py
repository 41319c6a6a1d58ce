"""Service for relevance judgments: question sets, questions, pools to judge, judgments, import and export."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from threading import Lock

from core.domain.coverage import RunState
from core.domain.errors import BadRequest, Outdated
from core.domain.evaluation import JudgedQuestion, Judgment, Level, QuestionSet
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.domain.results import SearchResult
from core.evaluation.experiments import DEPTH, request_of
from core.evaluation.judgments.agreement import DisputedResult, JudgeAgreement, agreement, disputed
from core.evaluation.judgments.files import QuestionSetFile, SetFile
from core.evaluation.judgments.imports import JudgmentImportPreview, read_judged
from core.evaluation.judgments.pools import JudgingProgress, Pool, pooled, progress_of
from core.evaluation.judgments.units import UnitIndex
from core.evaluation.judgments.validation import (
    DEFAULT_KIND,
    checked_grade,
    checked_judge,
    checked_key,
    checked_kind,
    checked_name,
    checked_note,
    checked_question,
    free_keys,
)
from core.evaluation.store import EvaluationStore, no_question
from core.ports.catalogue import Catalogue

__all__ = ["JudgmentService"]

_POOLED = 10  # first results judged per profile. Chosen by hand, not fitted.
_EVERYTHING = SearchFilters()


class JudgmentService:
    """Question sets, their questions and judgments. Judgments are append-only: judge again to correct one.

    search: answers a request without recording it in the search history. project None is the whole library. Every
    method raises StoreFailed when the store fails, and NotFound for an unknown set or question.
    """

    def __init__(
        self,
        store: EvaluationStore,
        search: Callable[[SearchRequest], SearchResult],
        catalogue: Catalogue,
        now: Callable[[], datetime],
    ) -> None:
        self._store, self._search, self._catalogue, self._now = store, search, catalogue, now
        self._adding = Lock()

    # Sets

    def sets(self, project: str | None, *, retired: bool = False) -> Sequence[QuestionSet]:
        """Active (or retired) sets of a project and those of the whole library; None: every set. Oldest first."""
        return self._store.sets(project, retired=retired)

    def question_set(self, set_id: int) -> QuestionSet:
        """One set, as it is now."""
        return self._store.question_set(set_id)

    def add_set(self, name: str, project: str | None, level: Level, who: str, note: str = "") -> QuestionSet:
        """Store a new set. Raises BadRequest for a name that is taken or invalid, or without `who`."""
        return self._store.add_set(
            QuestionSet(checked_name(name), project, level, checked_judge(who), self._now(), note=checked_note(note))
        )

    def rename(self, questions: QuestionSet, name: str) -> QuestionSet:
        """Rename a set. Raises BadRequest, and Outdated when someone else changed it since it was read."""
        return self._store.change_set(replace(questions, name=checked_name(name)))

    def annotate(self, questions: QuestionSet, note: str) -> QuestionSet:
        """Set the note of a set. Raises what `rename` raises."""
        return self._store.change_set(replace(questions, note=checked_note(note)))

    def schedule(self, questions: QuestionSet, every_hours: int) -> QuestionSet:
        """Measure a set automatically at this interval; 0: only on request. Raises what `rename` raises."""
        if every_hours < 0:
            raise BadRequest(f"{every_hours} hours cannot lie between two measurements.", "Give 0 or more.")
        return self._store.change_set(replace(questions, every_hours=every_hours))

    def retire(self, questions: QuestionSet) -> QuestionSet:
        """Retire a set with its questions and judgments. Raises Outdated."""
        return self._store.change_set(replace(questions, retired=True))

    def restore(self, questions: QuestionSet) -> QuestionSet:
        """Reactivate a retired set. Raises Outdated, and BadRequest when its name was taken meanwhile."""
        return self._store.change_set(replace(questions, retired=False))

    # Questions

    def questions(self, set_id: int) -> Sequence[JudgedQuestion]:
        """The active questions of a set, in the order they were added."""
        return self._store.questions(set_id)

    def question(self, set_id: int, question_id: int) -> JudgedQuestion:
        """An active question of a set."""
        for each in self._store.questions(set_id):
            if each.id == question_id:
                return each
        raise no_question(question_id)

    def find_question(self, set_id: int, question: str, filters: SearchFilters = _EVERYTHING) -> JudgedQuestion | None:
        """The question of the set with this text and these filters; None when there is none."""
        questions = self._store.question_set(set_id)
        searched = _asks(questions, JudgedQuestion(set_id, "", question.strip(), filters=filters))
        living = self._store.questions(set_id)
        return next((each for each in living if _asks(questions, each) == searched), None)

    def add_question(
        self,
        set_id: int,
        question: str,
        kind: str = DEFAULT_KIND,
        filters: SearchFilters = _EVERYTHING,
        key: str = "",
    ) -> JudgedQuestion:
        """Add a question to a set; if it is there already with the same filters, give that one back unchanged.

        key: "" for the next of "q1", "q2" … Raises BadRequest for an invalid question or a key that is taken.
        """
        text, kind = checked_question(question), checked_kind(kind)
        with self._adding:  # two people who add at once get two keys
            known = self.find_question(set_id, text, filters)
            if known is not None:
                return known
            taken = [each.key for each in self._store.questions(set_id)]
            if key and checked_key(key) in taken:
                raise BadRequest(f"The key '{key}' is taken.", "Choose another one, or leave it out.")
            new = JudgedQuestion(set_id, checked_key(key) if key else next(free_keys(taken)), text, kind, filters)
            return self._store.add_questions([new])[0]

    def change_questions(self, questions: Sequence[JudgedQuestion]) -> Sequence[JudgedQuestion]:
        """Store changed questions under their keys; their judgments stay. Raises BadRequest."""
        clean = [
            replace(each, question=checked_question(each.question), kind=checked_kind(each.kind)) for each in questions
        ]
        for each in clean:
            if each.relevant and not each.answerable:
                problem = f"'{each.key}' has a known answer, so it is not of the kind '{each.kind}'."
                raise BadRequest(problem, "Choose another kind.")
        with self._adding:
            return self._store.add_questions(clean)

    def retire_question(self, question_id: int) -> None:
        """Retire a question; its judgments stay."""
        self._store.retire_question(question_id)

    # Judging

    def judge(
        self,
        set_id: int,
        question_id: int,
        units: str | Sequence[str],
        grade: int | None,
        who: str,
        *,
        blind: bool = False,
    ) -> Sequence[Judgment]:
        """Store a judge's grade for one or several results. grade None: "can't judge".

        Raises BadRequest for an invalid grade, or without `who`.
        """
        named = (units,) if isinstance(units, str) else units
        if not all(named):
            raise BadRequest("There is no result to judge.", "Choose one.")
        grade, who, now = checked_grade(grade), checked_judge(who), self._now()
        return self._store.judge([Judgment(set_id, question_id, unit, grade, who, now, blind) for unit in named])

    def judgments(self, set_id: int) -> Sequence[Judgment]:
        """The current judgments: the latest per question, unit and judge, by id ascending."""
        return self._store.judgments(set_id)

    def pool(
        self,
        set_id: int,
        question_id: int,
        profiles: Sequence[str],
        *,
        depth: int = _POOLED,
        who: str,
        blind: bool = False,
        reveal: bool = False,
    ) -> Pool:
        """The first `depth` results of a question under each profile, with their judgments.

        If no profile shows a result, the pool holds the nearest misses, so that the refusal can be judged. reveal: show
        the grades of other judges. Raises BadRequest for an unknown profile, and what a search raises.
        """
        questions, question = self._store.question_set(set_id), self.question(set_id, question_id)
        # A document can have several passages: ranking ten documents needs more than ten passages.
        limit = depth if questions.level is Level.PASSAGE else max(depth, DEPTH)
        results = {
            profile: self._search(request_of(question, questions, profile, limit))
            for profile in dict.fromkeys(profiles)
        }
        pool = pooled(question, results, level=questions.level, depth=depth, who=who.strip(), blind=blind)
        return replace(pool, reveal=reveal).with_judgments(self._store.judgments(set_id))

    def progress(self, set_id: int, who: str, pools: Mapping[int, Sequence[str]] | None = None) -> JudgingProgress:
        """How much of a set is judged, by anyone and by one judge, without searching.

        Counts the units of each question's pool: those in `pools` (question id → units), else the first ten results of
        the last two profiles the set was measured with; a question in neither has no known pool. Known answers do not
        count as judged, because nobody has looked at the result.
        """
        known = {**self._last_pools(set_id), **(pools or {})}
        return progress_of(self._store.questions(set_id), self._store.judgments(set_id), who.strip(), known)

    def _last_pools(self, set_id: int) -> Mapping[int, Sequence[str]]:
        pools: dict[int, dict[str, None]] = {}
        seen: set[str] = set()
        for listed in self._store.experiments(set_id):
            if listed.state is RunState.DONE and listed.profile.ref not in seen and len(seen) < 2:
                seen.add(listed.profile.ref)
                for outcome in self._store.experiment(listed.id).outcomes:
                    pools.setdefault(outcome.question_id, {}).update(dict.fromkeys(outcome.ranking[:_POOLED]))
        return {question_id: tuple(units) for question_id, units in pools.items()}

    def next_unjudged(
        self, set_id: int, who: str, after: int = 0, pools: Mapping[int, Sequence[str]] | None = None
    ) -> JudgedQuestion | None:
        """The next question after id `after` with results left for this judge; None when all are done."""
        return self.progress(set_id, who, pools).next_open(after)

    def agreement(self, set_id: int) -> JudgeAgreement:
        """Agreement of the judges of a set on its active questions."""
        return agreement(self._counted(set_id))

    def disputed(self, set_id: int) -> tuple[DisputedResult, ...]:
        """The results of active questions whose grades differ most, worst first."""
        return disputed(self._counted(set_id))

    def _counted(self, set_id: int) -> Sequence[Judgment]:
        """The judgments of the active questions of a set."""
        active = {each.id for each in self._store.questions(set_id)}
        return [each for each in self._store.judgments(set_id) if each.question_id in active]

    def index(self) -> UnitIndex:
        """Index of the library's current units."""
        return UnitIndex(self._catalogue)

    # Files

    def written(self, set_id: int, file: SetFile) -> str:
        """A set in one of the formats of core.evaluation.judgments.files.FILES."""
        return file.written(self._set_file(set_id), self.index())

    def _set_file(self, set_id: int) -> QuestionSetFile:
        questions = self._store.question_set(set_id)
        return QuestionSetFile(questions, tuple(self._store.questions(set_id)), tuple(self._store.judgments(set_id)))

    def preview(self, set_id: int, data: bytes, name: str, who: str) -> JudgmentImportPreview:
        """Preview of importing a file; stores nothing. who: the judge where the file names none.

        Raises BadRequest for a file that cannot be read at all.
        """
        return read_judged(data, name, self._set_file(set_id), self.index(), who)

    def accept(self, preview: JudgmentImportPreview) -> Sequence[Judgment]:
        """Import what a preview shows; gives the judgments added. Raises Outdated when the set has changed since."""
        with self._adding:
            known = {each.key: each for each in self._store.questions(preview.set_id)}
            self._must_stand(preview, known)
            stored = self._store.add_questions([*preview.new, *(after for _, after in preview.changed)])
        ids = {key: each.id for key, each in known.items()} | {each.key: each.id for each in stored}
        return self._store.judge(preview.judged(ids, self._now())) if preview.judgments else ()

    def _must_stand(self, preview: JudgmentImportPreview, known: Mapping[str, JudgedQuestion]) -> None:
        """Raises Outdated when a question of the preview has changed."""
        moved = [each.key for each in preview.new if each.key in known]
        moved += [before.key for before, _ in preview.changed if known.get(before.key) != before]
        new = {each.key for each in preview.new}
        moved += [each.key for each in preview.judgments if each.key not in known and each.key not in new]
        if moved:
            problem = f"'{moved[0]}' has been changed by someone else meanwhile; nothing was imported."
            raise Outdated(problem, "Look at the preview again.")


def _asks(questions: QuestionSet, question: JudgedQuestion) -> tuple[str, SearchFilters]:
    """Identity of a question in its set: its text, ignoring case, and its filters."""
    request = request_of(question, questions, "")
    return " ".join(request.question.casefold().split()), request.filters
