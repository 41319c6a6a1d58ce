"""The numbered context block for a language model, and the check of a text against the sentences it cites."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import isclose

from core.answers.agreement import negated
from core.coverage.statements import Quantity, QuantityBound, binding_of, content_stems, days_of_year, quantities
from core.domain.documents import Span
from core.domain.five_truths import Figure, FiveTruthsAnswer
from core.domain.results import Citation, SearchResult
from core.search.citations.cite import CitationStyle, written
from core.search.query.names import named_in
from core.text.sentences import sentences
from core.text.tokenize import word_spans

__all__ = [
    "ENOUGH_WORDS",
    "CheckedSentence",
    "ContextBlock",
    "SupportCheck",
    "cited_ids",
    "context_of",
    "context_of_hits",
    "figure_words",
    "sentences_with_marks",
    "support_of",
    "supported",
]

ENOUGH_WORDS = 0.5
"""Share of a sentence's words that its citations must contain; half may be paraphrased. Chosen by hand, not fitted."""

_DIGITS = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")

_MONTH = re.compile(
    r"\b(?:January|February|March|April|June|July|August|September|October|November|December)\b|\bMay(?=\s+\d)"
)

_UNCOUNTED = frozenset({"one", "half"})  # mostly a pronoun and a word of measure


@dataclass(frozen=True, slots=True)
class SupportCheck:
    """score: share of the sentence's content (words and amounts) found in the text it cites, in [0, 1].

    problems: what the sentence says and its citations do not, in words; empty when nothing was found. absent: the
    amounts, days, numbers and names among them, as the sentence has them. turned: whether it binds or denies otherwise.
    """

    score: float
    problems: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    turned: bool = False


def support_of(sentence: str, cited: Sequence[str], known: str = "") -> SupportCheck:
    """How well the cited sentences support another one. known: text whose names may be used freely (the question, the
    names of the cited documents).

    >>> support_of("Overtime is paid within 5 days.", ["Overtime must be paid within 7 days."]).problems
    ('“within 5 days” is not in what it cites.',)
    """
    together = "\n".join(cited)
    stems, cited_stems = content_stems(sentence), content_stems(together)
    amounts = [(words, is_there) for words, is_there in _amounts(sentence, cited)]
    parts = len(stems) + len(amounts)
    score = (len(stems & cited_stems) + sum(is_there for _, is_there in amounts)) / parts if parts and cited else 0.0
    absent = [words for words, is_there in amounts if not is_there]
    absent += [
        name for name in named_in(sentence) if not _DIGITS.search(name) and not _holds(f"{together}\n{known}", name)
    ]
    turned = tuple(_turned(sentence, cited))
    problems = [*(f"“{words}” is not in what it cites." for words in absent), *turned]
    if not problems and score < ENOUGH_WORDS:
        problems.append("Too few of its words are in what it cites.")
    return SupportCheck(score, tuple(dict.fromkeys(problems)), tuple(dict.fromkeys(absent)), bool(turned))


def _amounts(sentence: str, cited: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Amounts, days, months and plain numbers of a sentence, and whether they stand in what it cites."""
    stated, days = quantities(sentence), days_of_year(sentence)
    known = [amount for text in cited for amount in quantities(text)]
    for amount in stated:
        yield amount.words, any(_same(amount, other) for other in known)
    dated = {(day.month, day.day) for text in cited for day in days_of_year(text)}
    for day in days:
        yield day.words, (day.month, day.day) in dated
    taken = [(amount.start, amount.end) for amount in stated] + [(day.start, day.end) for day in days]
    rest = "".join(" " if any(a <= at < b for a, b in taken) else letter for at, letter in enumerate(sentence))
    months = {month for text in cited for month in _MONTH.findall(text)}
    for month in _MONTH.findall(rest):
        yield month, month in months
    numbers = {value for text in cited for _, value in _numbers(text)}
    for words, value in _numbers(rest):
        yield words, value in numbers


def _same(amount: Quantity, other: Quantity) -> bool:
    """Whether the cited amount `other` is this one; a bound may be left out, never turned round."""
    bounds = {amount.bound, other.bound}
    return (
        (len(bounds) == 1 or QuantityBound.EXACT in bounds)
        and amount.unit == other.unit
        and isclose(amount.value, other.value)
    )


def _numbers(text: str) -> Iterator[tuple[str, float]]:
    for match in _DIGITS.finditer(text):
        yield match.group(), float(match.group().replace(",", ""))
    for _, _, word in word_spans(text):
        value = None if word[0].isdigit() or word in _UNCOUNTED else _spelled(word)
        if value is not None:
            yield word, value


@cache
def _spelled(word: str) -> float | None:
    """The value of a number word, as amounts are read."""
    found = quantities(f"{word} times")
    return found[0].value if found and found[0].start == 0 else None


def _holds(text: str, name: str) -> bool:
    return re.search(rf"(?i)(?<![^\W_]){re.escape(name)}(?:s|['’]s)?(?![^\W_])", text.replace("_", " ")) is not None


def _turned(sentence: str, cited: Sequence[str]) -> Iterator[str]:
    """Where it binds or denies otherwise than what it cites."""
    binding, bindings = binding_of(sentence), [binding_of(text) for text in cited]
    known = {each for each in bindings if each is not None}
    if binding is not None and binding in known:
        return
    if binding is not None and known:
        yield f"It says {binding.value}, what it cites says {' and '.join(sorted(known))}."
    elif cited and negated(sentence) and not any(negated(text) for text in cited):
        yield "It denies something that what it cites does not deny."
    elif cited and not negated(sentence) and all(negated(text) for text in cited):
        yield "What it cites denies something, and it does not."


_ID = r"(?:\d+\.\d+|[fF]\d+)"

_CITED = re.compile(rf"[ \t]*\[\s*({_ID}(?:\s*[,;]\s*{_ID})*)\s*\]")

_SAYS = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class ContextBlock:
    """text: one sentence per line, "[42.3] sentence", under the name of its truth. question: the question asked.

    citations, figures: the objects behind the ids. An id of `citations` is a citation_id, of `figures` "f1", "f2" …
    """

    text: str
    question: str = ""
    citations: Mapping[str, Citation] = field(default_factory=dict)
    figures: Mapping[str, Figure] = field(default_factory=dict)

    def quote_of(self, citation_id: str) -> str | None:
        """The text behind an id; None for an unknown id."""
        if citation_id in self.citations:
            return self.citations[citation_id].quote
        return figure_words(self.figures[citation_id]) if citation_id in self.figures else None

    def location(self, citation_id: str) -> str:
        """The names that may be used with an id: of its document and section, or of its table."""
        if citation_id in self.citations:
            return f"{self.citations[citation_id].document_name}\n{self.citations[citation_id].section}"
        return f"{self.figures[citation_id].table}\n{self.figures[citation_id].citation}"


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """One sentence of a text, without its ids, and how well its citations support it.

    cited: the known ids, in order; unknown: ids that do not exist. support: how well each cited sentence supports it
    alone; score: all of them together; both in [0, 1]. problems: why it is not supported, in words.
    """

    text: str
    cited: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    support: tuple[float, ...] = ()
    score: float = 0.0
    problems: tuple[str, ...] = ()

    @property
    def supported(self) -> bool:
        """Whether the sentence has no problem."""
        return not self.problems


def context_of(answer: FiveTruthsAnswer) -> ContextBlock:
    """All sentences and figures of an answer, grouped by truth. Quoted text cannot imitate another sentence's id."""
    lines: list[str] = []
    citations: dict[str, Citation] = {}
    figures: dict[str, Figure] = {}
    for truth_answer in answer.truths:
        cited = {citation.citation_id: citation for citation in answer.cited(truth_answer.truth)}
        counted = {f"f{number}": figure for number, figure in enumerate(truth_answer.figures, len(figures) + 1)}
        if cited or counted:
            lines.append(f"# {truth_answer.truth.value}")
        lines += [f"[{name}] {_line(citation.quote)}" for name, citation in cited.items()]
        lines += [f"[{name}] {_line(figure_words(figure))}" for name, figure in counted.items()]
        citations |= cited
        figures |= counted
    return ContextBlock("\n".join(lines), answer.question, citations, figures)


def context_of_hits(result: SearchResult) -> ContextBlock:
    """The cited sentences of a search result, best hit first, each hit under its number, place and truth. Neither a
    sentence nor a file name can imitate another sentence's id.
    """
    lines: list[str] = []
    citations: dict[str, Citation] = {}
    for hit in result.hits:
        cited = {citation.citation_id: citation for citation in hit.citations}
        if cited:
            location = written(next(iter(cited.values())), CitationStyle.BRIEF)
            truth = hit.candidate.passage.truth
            lines.append(f"# {hit.rank}. {_line(location)}{f', {truth.value}' if truth else ''}")
        lines += [f"[{name}] {_line(citation.quote)}" for name, citation in cited.items()]
        citations |= cited
    return ContextBlock("\n".join(lines), result.request.question, citations)


def figure_words(figure: Figure) -> str:
    """A figure as a sentence: "employees in California: 1,204"."""
    return f"{figure.words}: {figure.value}"


def _line(text: str) -> str:
    return _CITED.sub(lambda match: f" ({match[1]})", " ".join(text.split()))


def cited_ids(text: str) -> tuple[str, ...]:
    """The distinct ids a text cites, in order.

    >>> cited_ids("Paid weekly [42.3, 43.0]. See [F1] and [7].")
    ('42.3', '43.0', 'f1')
    """
    return tuple(dict.fromkeys(name for match in _CITED.finditer(text) for name in _names(match)))


def _names(match: re.Match[str]) -> list[str]:
    return [name.lower() for name in re.split(r"\s*[,;]\s*", match[1])]


def supported(text: str, block: ContextBlock) -> tuple[CheckedSentence, ...]:
    """Check each sentence of a text against its citations. An id belongs to the sentence it follows on its line, before
    or after the full stop; at the start of a line, to the sentence that begins there.

    A sentence is unsupported when it cites no known id, cites an unknown one, or states what its citations do not.
    """
    return tuple(_checked(sentence, ids, block) for sentence, ids in sentences_with_marks(*_without_ids(text)))


def _checked(sentence: str, ids: tuple[str, ...], block: ContextBlock) -> CheckedSentence:
    quotes = {name: words for name in ids if (words := block.quote_of(name)) is not None}
    unknown = tuple(name for name in ids if name not in quotes)
    problems = [f"[{name}] is not among the sentences given." for name in unknown]
    if not quotes:
        return CheckedSentence(sentence, (), unknown, problems=(*problems, "It cites no sentence given."))
    known = "\n".join((block.question, *map(block.location, quotes)))
    together = support_of(sentence, list(quotes.values()), known)
    each = tuple(support_of(sentence, [words], known).score for words in quotes.values())
    return CheckedSentence(sentence, tuple(quotes), unknown, each, together.score, (*problems, *together.problems))


def sentences_with_marks(bare: str, marks: Sequence[tuple[int, list[str]]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The sentences of a text, each with the marks that stood after it. marks: (position in the text, names).

    Marks belong to the sentence they follow on its line; at the start of a line, to the sentence that begins there.
    """
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
    plain, marks, end = "", [], 0
    for match in _CITED.finditer(text):
        plain += text[end : match.start()]
        marks.append((len(plain), _names(match)))
        end = match.end()
    return plain + text[end:], marks
