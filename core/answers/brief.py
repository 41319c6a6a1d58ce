"""Exports an answer as a brief: Markdown, HTML and JSON, with a bibliography.

Quotes cannot inject markup: Markdown and HTML escape every special character, and no line or table cell begins with a
character that a spreadsheet takes for a formula. JSON holds every quote verbatim.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from core.answers.service import Synthesis
from core.coverage.gaps import score_in_words
from core.domain.coverage import Conflict, Statement
from core.domain.documents import Truth
from core.domain.five_truths import FiveTruthsAnswer, TruthAgreement, TruthAnswer
from core.domain.results import Citation, web_address
from core.formats.csv import inert
from core.knowledge.truths import truths
from core.search.citations.cite import CitationStyle, citation_data, display_quote, linked, written

__all__ = ["SCHEMA", "BriefSource", "bibliography", "brief_data", "brief_html", "brief_markdown"]

SCHEMA = "fivefold.five-truths/1"
_TEMPLATE = Path(__file__).with_name("brief.html")
_SIGNS = re.compile(r"([\\`*_\[\]|~#$!{}])")
_LEADING = re.compile(r"^(?=[-+=@])|^(\d+)(?=[.)])")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


@dataclass(frozen=True, slots=True)
class BriefSource:
    """One document or table cited by the answer. number: 1-based; written: every cited place in full style, without
    repetition; ids: the citation ids ("42.3"). sha256, title, url, source_type: "" for a table.
    """

    number: int
    name: str
    sha256: str
    written: tuple[str, ...]
    ids: tuple[str, ...] = ()
    title: str = ""
    url: str = ""
    source_type: str = ""
    date: datetime | None = None


def bibliography(answer: FiveTruthsAnswer) -> tuple[BriefSource, ...]:
    """Every source once, in the order of first citation; tables of figures last."""
    by_document: dict[int, list[Citation]] = {}
    for truth in Truth:
        for citation in answer.cited(truth):
            by_document.setdefault(citation.document_id, []).append(citation)
    documents = [
        BriefSource(
            number,
            citations[0].document_name,
            citations[0].sha256,
            tuple(dict.fromkeys(written(each, CitationStyle.FULL) for each in citations)),
            tuple(dict.fromkeys(each.citation_id for each in citations)),
            citations[0].title,
            citations[0].url,
            citations[0].source_type or "",
            citations[0].date,
        )
        for number, citations in enumerate(by_document.values(), 1)
    ]
    tables: dict[str, list[str]] = {}
    for figure in answer.figures:
        tables.setdefault(figure.table, []).append(figure.citation or figure.table)
    counted = enumerate(tables.items(), len(documents) + 1)
    return (
        *documents,
        *(BriefSource(n, table, "", tuple(dict.fromkeys(locations))) for n, (table, locations) in counted),
    )


def brief_data(answer: FiveTruthsAnswer, synthesis: Synthesis | None = None) -> dict[str, Any]:
    """The brief as JSON data."""
    return {
        "schema": SCHEMA,
        "question": answer.question,
        "asked_at": answer.asked_at.isoformat(),
        "profile": answer.profile,
        "filters": list(answer.filters_in_words),
        "confidence": answer.confidence,
        "confidence_reason": answer.confidence_reason,
        "truths": [_truth_data(each) for each in answer.truths],
        "agreements": [_pair_data(each) for each in answer.agreements],
        "conflicts": [{"key": each.key, **_pair_data(each)} for each in answer.conflicts],
        "to_raise": list(answer.to_raise),
        "notices": list(answer.notices),
        "bibliography": [
            {
                "number": source.number,
                "name": source.name,
                "sha256": source.sha256 or None,
                "title": source.title,
                "url": source.url,
                "source_type": source.source_type or None,
                "date": source.date.isoformat() if source.date else None,
                "written": list(source.written),
                "citation_ids": list(source.ids),
            }
            for source in bibliography(answer)
        ],
        "synthesis": None if synthesis is None else _synthesis_data(synthesis),
    }


def _truth_data(truth_answer: TruthAnswer) -> dict[str, Any]:
    return {
        "truth": truth_answer.truth.value,
        "state": truth_answer.state.value,
        "evidence_score": truth_answer.evidence_score,
        "citations": [_cited(citation) for citation in truth_answer.citations],
        "figures": [
            {
                "words": figure.words,
                "value": figure.value,
                "sql": figure.sql,
                "table": figure.table,
                "citation": figure.citation,
                "rows": figure.rows,
                "notes": list(figure.notes),
            }
            for figure in truth_answer.figures
        ],
        "silence": truth_answer.silence,
        "needed": truth_answer.needed,
    }


def _cited(citation: Citation) -> dict[str, Any]:
    return {
        **citation_data(citation),
        "section": citation.section,
        "rows": list(citation.rows) if citation.rows else None,
        "authority": citation.authority,
        "jurisdiction": citation.jurisdiction,
        "written": written(citation, CitationStyle.FULL),
    }


def _pair_data(pair: TruthAgreement | Conflict) -> dict[str, Any]:
    def side(statement: Statement) -> dict[str, Any]:
        return {"truth": statement.truth.value, "said": statement.text, **_cited(statement.citation)}

    return {
        "kind": pair.kind.value,
        "words": pair.words,
        "strength": pair.strength,
        "first": side(pair.first),
        "second": side(pair.second),
    }


def _synthesis_data(synthesis: Synthesis) -> dict[str, Any]:
    return {
        "text": synthesis.text,
        "written_by": synthesis.written_by or None,
        "notices": list(synthesis.notices),
        "sentences": [
            {
                "text": each.text,
                "cited": list(each.cited),
                "unknown": list(each.unknown),
                "support": list(each.support),
                "score": each.score,
                "supported": each.supported,
                "problems": list(each.problems),
            }
            for each in synthesis.sentences
        ],
    }


def brief_markdown(answer: FiveTruthsAnswer, synthesis: Synthesis | None = None) -> str:
    """The brief as Markdown that renders alike with and without tables and raw HTML enabled."""
    return "\n".join([*_head(answer), *_written(synthesis), *_body(answer), *_end(answer)]) + "\n"


def _md(text: str) -> str:
    """Plain text on one line that Markdown shows as it is.

    >>> _md("=1+1 <b> [a](b)"), _md("1. *x*")
    ("'=1+1 &lt;b&gt; \\\\[a\\\\](b)", '1\\\\. \\\\*x\\\\*')
    """
    line = _SIGNS.sub(r"\\\1", " ".join(str(inert(text)).split()).translate(_ENTITIES))
    return _LEADING.sub(lambda match: f"{match[1] or ''}\\", line)


def _head(answer: FiveTruthsAnswer) -> Iterator[str]:
    yield f"# {_md(answer.question)}"
    yield ""
    yield f"Asked {answer.asked_at:%Y-%m-%d %H:%M} UTC, profile {_md(answer.profile)}."
    if answer.filters_in_words:
        yield f"Only: {_md('; '.join(answer.filters_in_words))}."
    yield ""
    yield f"**Confidence {score_in_words(answer.confidence)}.** {_md(answer.confidence_reason)}"
    yield from (f"\n> ⚠ {_md(notice)}" for notice in answer.notices)


def _written(synthesis: Synthesis | None) -> Iterator[str]:
    if synthesis is None:
        return
    yield from ("", "## In short", "")
    yield from (f"> ⚠ {_md(notice)}\n" for notice in synthesis.notices)
    for each in synthesis.sentences:
        ids = "".join(f" \\[{name}\\]" for name in each.cited)
        doubt = "" if each.supported else f" **⚠ not supported:** {_md(' '.join(each.problems))}"
        yield f"- {_md(each.text)}{ids}{doubt}"
    yield ""
    yield f"Written by {_md(synthesis.written_by)}." if synthesis.written_by else "In the words of the sources."


def _body(answer: FiveTruthsAnswer) -> Iterator[str]:
    numbers = {name: source.number for source in bibliography(answer) for name in source.ids}
    for truth_answer in answer.truths:
        yield from (
            "",
            f"## {truth_answer.truth.value.capitalize()}: {truth_answer.state.value}",
            "",
            f"*{truths()[truth_answer.truth].question}*",
        )
        for citation in truth_answer.citations:
            yield f"\n> “{_md(display_quote(citation.quote))}” {_location(citation, numbers)}"
        for figure in truth_answer.figures:
            yield f"\n**{_md(figure.words)}: {_md(figure.value)}** {_md(figure.citation)}, {figure.rows} rows read"
            yield from (f"\n{_md(note)}" for note in figure.notes)
            fence = "`" * max(3, 1 + max(map(len, re.findall("`+", figure.sql)), default=0))
            yield f"\n{fence}sql\n{figure.sql}\n{fence}"
        yield from (f"\n{_md(words)}" for words in (truth_answer.silence, truth_answer.needed) if words)
    for title, pairs in (("Where they agree", answer.agreements), ("Where they disagree", answer.conflicts)):
        if pairs:
            yield from ("", f"## {title}")
        for pair in pairs:
            yield f"\n**{_md(pair.words)}**"
            for side in (pair.first, pair.second):
                quote, location = _md(display_quote(side.citation.quote)), _location(side.citation, numbers)
                yield f"\n> “{quote}” {side.truth}, {location}"


def _location(citation: Citation, numbers: dict[str, int]) -> str:
    return f"{linked(citation)} ({numbers[citation.citation_id]})"


def _end(answer: FiveTruthsAnswer) -> Iterator[str]:
    if answer.to_raise:
        yield from ("", "## Missing for a complete answer", "")
        yield from (f"- {_md(words)}" for words in answer.to_raise)
    sources = bibliography(answer)
    if sources:
        yield from ("", "## Bibliography", "")
    for source in sources:
        digest = f" SHA-256 {source.sha256}" if source.sha256 else ""
        title = f"{_md(source.title)}. " if source.title not in {"", source.name} else ""
        link = f" <{web_address(source.url)}>" if web_address(source.url) else ""
        yield f"{source.number}. {title}{_md('; '.join(source.written))}{_facts(source)}{link}{digest}"


def _facts(source: BriefSource) -> str:
    """How the document was added, and its date."""
    facts = [source.source_type, source.date.date().isoformat() if source.date else ""]
    return f" ({', '.join(filter(None, facts))})" if any(facts) else ""


def brief_html(answer: FiveTruthsAnswer, synthesis: Synthesis | None = None) -> str:
    """The brief as one self-contained HTML file: it loads nothing, and everything quoted is escaped."""
    from jinja2 import Environment, StrictUndefined

    names = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=inert
    )
    names.filters |= {"score": score_in_words, "quote": display_quote, "facts": _facts, "address": web_address}
    sources: Sequence[BriefSource] = bibliography(answer)
    return names.from_string(_TEMPLATE.read_text("utf-8")).render(
        answer=answer,
        synthesis=synthesis,
        questions={truth: row.question for truth, row in truths().items()},
        sources=sources,
        numbers={name: source.number for source in sources for name in source.ids},
        brief=lambda citation: written(citation, CitationStyle.BRIEF),
    )
