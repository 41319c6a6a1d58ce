"""Taking a judged file over into a set: a preview of what it would change, and nothing before that is accepted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from core.errors import BadRequest
from core.filters import SearchFilters
from core.judged import JudgedQuestion, Judgment
from core.tuning.judged_checks import DEFAULT_KIND, checked_judge, free_keys
from core.tuning.judged_rows import Refusal, Row, Said, read_rows
from core.tuning.judged_text import KeptSet
from core.tuning.unit_index import UnitIndex

__all__ = ["Given", "Preview", "read_judged"]


@dataclass(frozen=True, slots=True)
class Given:
    """A judgment that would be added, to the question of this key. at: None for the moment it is accepted."""

    line: int
    key: str
    unit: str
    grade: int | None
    who: str
    at: datetime | None
    blind: bool


@dataclass(frozen=True, slots=True)
class Preview:
    """What taking a file over would do. changed: (as it is, as it would be); its judgments stay with it. unchanged:
    questions the set has already; known: judgments it has already. refused: lines, or single judgments of them, that
    are left out. unheld: questions with a known answer in a document the library does not hold.
    """

    set_id: int
    name: str
    new: tuple[JudgedQuestion, ...] = ()
    changed: tuple[tuple[JudgedQuestion, JudgedQuestion], ...] = ()
    unchanged: int = 0
    judgments: tuple[Given, ...] = ()
    known: int = 0
    refused: tuple[Refusal, ...] = ()
    unheld: int = 0

    @property
    def empty(self) -> bool:
        """Whether there is nothing to take over."""
        return not (self.new or self.changed or self.judgments)

    def judged(self, ids: dict[str, int], now: datetime) -> Sequence[Judgment]:
        """Its judgments as they are stored. ids: key → question id."""
        return [
            Judgment(self.set_id, ids[each.key], each.unit, each.grade, each.who, each.at or now, each.blind)
            for each in self.judgments
        ]


def read_judged(data: bytes, name: str, kept: KeptSet, index: UnitIndex, who: str) -> Preview:
    """What a file called `name` would change in a set. who: the judge where the file names none, "" for nobody.

    Raises BadRequest for a file that cannot be read at all; a bad line is refused, and the others go on.
    """
    rows = list(read_rows(data, name))
    reading = _Reading(kept, index, who, [row.key for row in rows if isinstance(row, Row)])
    for row in rows:
        if isinstance(row, Refusal):
            reading.refused.append(row)
        else:
            reading.take(row)
    return reading.preview(name)


@dataclass(slots=True)
class _Reading:
    """A file half read: questions by key, judgments by what they are about."""

    kept: KeptSet
    index: UnitIndex
    who: str
    keys: Sequence[str]
    questions: dict[str, JudgedQuestion] = field(default_factory=dict)
    given: dict[tuple[str, str, str], Given] = field(default_factory=dict)
    refused: list[Refusal] = field(default_factory=list)
    unchanged: int = 0
    _known: dict[str, JudgedQuestion] = field(init=False)
    _held: dict[tuple[str, str, str], Judgment] = field(init=False)
    _lines: dict[str, int] = field(default_factory=dict)
    _texts: dict[str, str] = field(init=False)
    _free: Iterator[str] = field(init=False)

    def __post_init__(self) -> None:
        self._known = {each.key: each for each in self.kept.questions}
        names = {each.id: each.key for each in self.kept.questions}
        self._held = {
            (names[each.question_id], each.unit, each.who): each
            for each in self.kept.judgments
            if each.question_id in names
        }
        self._texts = {each.question.casefold(): each.key for each in reversed(self.kept.questions)}
        self._free = free_keys([*self.keys, *self._known])

    def take(self, row: Row) -> None:
        """Take one row over, or refuse it; of its judgments each by itself."""
        try:
            key = self._question(row)
        except BadRequest as problem:
            self._refuse(row, problem)
            return
        for said in row.said:
            try:
                self._judged(row, key, said)
            except BadRequest as problem:
                self._refuse(row, problem)

    def _refuse(self, row: Row, problem: BadRequest) -> None:
        reason = problem.message[:1].upper() + problem.message[1:]
        self.refused.append(Refusal(row.line, reason, row.text))

    def _question(self, row: Row) -> str:
        """The key of the row's question, which is noted when the row says something of it."""
        if row.question is None:
            if row.key in self.questions or row.key in self._known:
                return row.key
            said = f"the set has no question '{row.key}', and this line does not say what it asks."
            raise BadRequest(said if row.key else "it has neither a key nor a question.")
        key = row.key or self._key_of(row.question)
        before = self.questions.get(key)
        if before is not None and (row.whole or before.question.casefold() != row.question.casefold()):
            raise BadRequest(f"'{key}' stands in line {self._lines[key]} already.")
        if before is None:
            self.questions[key], self._lines[key] = self._asked(row, key), row.line
            self._texts.setdefault(row.question.casefold(), key)
        return key

    def _key_of(self, question: str) -> str:
        """The key of the same question in the file or the set, else a new one."""
        asked = question.casefold()
        return self._texts[asked] if asked in self._texts else next(self._free)

    def _asked(self, row: Row, key: str) -> JudgedQuestion:
        """The question as the row has it; what the row is silent about stays as it is."""
        known = self._known.get(key) or JudgedQuestion(self.kept.questions_set.id, key, "", DEFAULT_KIND)
        asked = replace(
            known,
            question=row.question or known.question,
            kind=row.kind if row.kind is not None else known.kind,
            filters=row.filters if row.filters is not None else known.filters,
            relevant=row.relevant if row.relevant is not None else known.relevant,
        )
        if asked.relevant and not asked.answerable:
            raise BadRequest(f"'{key}' is of the kind '{asked.kind}', that nothing answers, and names an answer.")
        self._must_hold(asked.filters)
        return asked

    def _must_hold(self, filters: SearchFilters) -> None:
        here = self.index.ids
        for number in (*filters.documents, *filters.exclude_documents):
            if number not in here:
                raise BadRequest(f"its filters name document {number}, which is not in this library.")

    def _judged(self, row: Row, key: str, said: Said) -> None:
        level = self.kept.questions_set.level
        unit = self.index.named(said.name, level, page=said.page, words=said.words)
        who = checked_judge(said.who or self.who)
        before = self.given.get((key, unit, who))
        if before is not None:
            if before.grade != said.grade:
                raise BadRequest(f"{who} has graded this result otherwise in line {before.line}.")
            return
        self.given[key, unit, who] = Given(row.line, key, unit, said.grade, who, said.at, said.blind)

    def preview(self, name: str) -> Preview:
        """All of it, beside what the set has."""
        changed = [
            (self._known[key], each)
            for key, each in self.questions.items()
            if key in self._known and each != self._known[key]
        ]
        fresh = [
            each
            for about, each in self.given.items()
            if about not in self._held or self._held[about].grade != each.grade
        ]
        new = tuple(each for key, each in self.questions.items() if key not in self._known)
        return Preview(
            set_id=self.kept.questions_set.id,
            name=name,
            new=new,
            changed=tuple(changed),
            unchanged=len(self.questions) - len(new) - len(changed),
            judgments=tuple(fresh),
            known=len(self.given) - len(fresh),
            refused=tuple(sorted(self.refused, key=lambda each: each.line)),
            unheld=sum(self._unheld(each) for each in (*new, *(after for _, after in changed))),
        )

    def _unheld(self, question: JudgedQuestion) -> bool:
        return any(self.index.document(entry.sha256) is None for entry in question.relevant)
