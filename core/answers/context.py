"""The numbered context block a language model reads, and the way back: what a text makes of such numbers."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from core.answers.support import support_of
from core.documents import Span
from core.five_truths import Figure, FiveTruthsAnswer
from core.ingest.sentences import sentences
from core.results import Citation, SearchResult
from core.search.cite import CitationStyle, written

__all__ = [
    "CheckedSentence",
    "ContextBlock",
    "cited_ids",
    "context_of",
    "context_of_hits",
    "figure_words",
    "supported",
]

_ID = r"(?:\d+\.\d+|[fF]\d+)"
_CITED = re.compile(rf"[ \t]*\[\s*({_ID}(?:\s*[,;]\s*{_ID})*)\s*\]")
_SAYS = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class ContextBlock:
    """text: one sentence per line, "[42.3] sentence", under the name of its truth. question: what was asked.

    citations, figures: what each id stands for. An id of `citations` is a citation_id, of `figures` "f1", "f2" …
    """

    text: str
    question: str = ""
    citations: Mapping[str, Citation] = field(default_factory=dict)
    figures: Mapping[str, Figure] = field(default_factory=dict)

    def said(self, citation_id: str) -> str | None:
        """The words an id stands for; None when it stands for nothing here."""
        if citation_id in self.citations:
            return self.citations[citation_id].quote
        return figure_words(self.figures[citation_id]) if citation_id in self.figures else None

    def place(self, citation_id: str) -> str:
        """The names that may be used with an id: of its document and section, or of its table."""
        if citation_id in self.citations:
            return f"{self.citations[citation_id].document_name}\n{self.citations[citation_id].section}"
        return f"{self.figures[citation_id].table}\n{self.figures[citation_id].citation}"


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """One sentence of a text, without its ids, and what its citations are worth.

    cited: the ids that exist, in order; unknown: the ids that do not. support: how well each cited sentence supports it
    by itself; score: all of them together; both in [0, 1]. problems: why it is not supported, in words.
    """

    text: str
    cited: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    support: tuple[float, ...] = ()
    score: float = 0.0
    problems: tuple[str, ...] = ()

    @property
    def supported(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.problems


def context_of(answer: FiveTruthsAnswer) -> ContextBlock:
    """Every sentence and figure the answer stands on, grouped by truth. Text is data: no line of it can pose as another
    sentence's number.
    """
    lines: list[str] = []
    citations: dict[str, Citation] = {}
    figures: dict[str, Figure] = {}
    for told in answer.truths:
        held = {citation.citation_id: citation for citation in answer.cited(told.truth)}
        counted = {f"f{number}": figure for number, figure in enumerate(told.figures, len(figures) + 1)}
        if held or counted:
            lines.append(f"# {told.truth.value}")
        lines += [f"[{name}] {_line(citation.quote)}" for name, citation in held.items()]
        lines += [f"[{name}] {_line(figure_words(figure))}" for name, figure in counted.items()]
        citations |= held
        figures |= counted
    return ContextBlock("\n".join(lines), answer.question, citations, figures)


def context_of_hits(result: SearchResult) -> ContextBlock:
    """The cited sentences of a search result, best hit first, each hit under its number, place and truth. Text is data
    here too: neither a sentence nor the name of a file can pose as another sentence's number.
    """
    lines: list[str] = []
    citations: dict[str, Citation] = {}
    for hit in result.hits:
        held = {citation.citation_id: citation for citation in hit.citations}
        if held:
            place = written(next(iter(held.values())), CitationStyle.BRIEF)
            truth = hit.candidate.passage.truth
            lines.append(f"# {hit.rank}. {_line(place)}{f', {truth.value}' if truth else ''}")
        lines += [f"[{name}] {_line(citation.quote)}" for name, citation in held.items()]
        citations |= held
    return ContextBlock("\n".join(lines), result.request.question, citations)


def figure_words(figure: Figure) -> str:
    """A figure as a sentence: "employees in California: 1,204"."""
    return f"{figure.words}: {figure.value}"


def _line(text: str) -> str:
    return _CITED.sub(lambda match: f" ({match[1]})", " ".join(text.split()))


def cited_ids(text: str) -> tuple[str, ...]:
    """The ids a text cites, in order, each once.

    >>> cited_ids("Paid weekly [42.3, 43.0]. See [F1] and [7].")
    ('42.3', '43.0', 'f1')
    """
    return tuple(dict.fromkeys(name for match in _CITED.finditer(text) for name in _names(match)))


def _names(match: re.Match[str]) -> list[str]:
    return [name.lower() for name in re.split(r"\s*[,;]\s*", match[1])]


def supported(text: str, block: ContextBlock) -> tuple[CheckedSentence, ...]:
    """Each sentence of a text against what it cites. An id belongs to the sentence it follows on its line, before or
    after the stop; at the start of a line, to the sentence that begins there.

    A sentence is unsupported when it cites nothing that exists, cites an id that does not, or says what its citations
    do not (see `core.answers.support`).
    """
    return tuple(_checked(sentence, ids, block) for sentence, ids in _parts(text))


def _checked(sentence: str, ids: tuple[str, ...], block: ContextBlock) -> CheckedSentence:
    said = {name: words for name in ids if (words := block.said(name)) is not None}
    unknown = tuple(name for name in ids if name not in said)
    problems = [f"[{name}] is not among the sentences given." for name in unknown]
    if not said:
        return CheckedSentence(sentence, (), unknown, problems=(*problems, "It cites no sentence given."))
    known = "\n".join((block.question, *map(block.place, said)))
    together = support_of(sentence, list(said.values()), known)
    each = tuple(support_of(sentence, [words], known).score for words in said.values())
    return CheckedSentence(sentence, tuple(said), unknown, each, together.score, (*problems, *together.problems))


def _parts(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The sentences of a text without their ids, each with the ids it cites."""
    bare, marks = _without_ids(text)
    spans = [span for span in sentences(bare) if _SAYS.search(span.of(bare))]
    cited: dict[Span, list[str]] = {span: [] for span in spans}
    for at, names in marks:
        line = bare[bare.rfind("\n", 0, at) + 1 : at]
        before = [span for span in spans if span.start < at]
        after = [span for span in spans if span.start >= at]
        owner = before[-1:] if _SAYS.search(line) else after[:1] or before[-1:]
        for span in owner:
            cited[span] += names
    for span, names in cited.items():
        yield " ".join(span.of(bare).split()), tuple(dict.fromkeys(names))


def _without_ids(text: str) -> tuple[str, list[tuple[int, list[str]]]]:
    """The text without its ids, and where each stood in what is left."""
    kept, marks, end = "", [], 0
    for match in _CITED.finditer(text):
        kept += text[end : match.start()]
        marks.append((len(kept), _names(match)))
        end = match.end()
    return kept + text[end:], marks
