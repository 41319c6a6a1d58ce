"""Benchmark of one slider move: re-scoring and all derived figures, against a full search of the same question."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from bench.measured import Headline, Report, clock, quantile
from bootstrap.scratch_library import files_of, fill, scratch_workbench
from bootstrap.workbench import settings_from_environment
from core.domain.queries import ScoreProfile, SearchRequest
from core.domain.results import Candidate, SearchResult
from core.evaluation.tuning.sliders import tried
from core.evaluation.tuning.trial import compared
from core.formats.terminal import aligned
from core.workbench import Workbench
from pages.components.charts import score_strip
from pages.components.tuning.rank_changes import rank_lines

__all__ = ["run"]

_QUESTIONS = 60  # Chosen by hand.
_SIZES = (100, 200)

Move = Callable[[SearchResult, ScoreProfile], object]


def run(files: Sequence[Path]) -> Report:
    """p50 and p95 in milliseconds, and how many times faster than the search; the questions are sentences of the text
    itself, and every one is looked at under another weight."""
    with scratch_workbench(settings_from_environment()) as workbench:
        fill(workbench, files_of(files))
        workbench.search.warm()
        requests = [SearchRequest(question) for question in _sentences(workbench)]
        results = [workbench.search.run(request, remember=False) for request in requests]
        searched = [_milliseconds(lambda each=each: workbench.search.run(each, remember=False)) for each in requests]
        stock = list({c.passage.id: c for result in results for c in result.candidates}.values())
        rows = [("full search", round(quantile([len(each.candidates) for each in results], 0.5)), *_row(searched, 1.0))]
        for size in _SIZES:
            resized = [_resized(each, stock, size) for each in results]
            grown = [workbench.evaluation.rescored(each, each.profile) for each in resized]
            for name, move in (("re-scored", workbench.evaluation.rescored), ("whole move", _full_move(workbench))):
                taken = _moves(grown, move)
                rows.append((name, size, *_row(taken, quantile(searched, 0.5) / quantile(taken, 0.5))))
    headlines = [
        Headline(f"move a slider over {row[1]} candidates, p50", "ms", row[2], "full search", rows[0][2])
        for row in rows
        if row[0] == "whole move"
    ]
    return Report(headlines, aligned(("step", "candidates", "p50 ms", "p95 ms", "× faster"), rows))


def _sentences(workbench: Workbench) -> list[str]:
    """Sentences spread over the library."""
    sentences = [
        span.of(passage.text)
        for document in workbench.documents.list()
        for passage in workbench.documents.passages(document.id)
        for span in passage.sentences
    ]
    usable = [" ".join(each.split()) for each in sentences if 40 <= len(each) <= 160]
    return usable[:: max(1, len(usable) // _QUESTIONS)][:_QUESTIONS]


def _resized(result: SearchResult, stock: Sequence[Candidate], size: int) -> SearchResult:
    """The result with so many candidates: its own, then those of other questions, then others read backwards."""
    own = {each.passage.id for each in result.candidates}
    found = [*result.candidates, *(each for each in stock if each.passage.id not in own)]
    last = max(each.passage.id for each in stock)
    found += [_backwards(each, last + number) for number, each in enumerate(found[: max(0, size - len(found))], 1)]
    return replace(result, candidates=tuple(found[:size]))


def _backwards(candidate: Candidate, passage_id: int) -> Candidate:
    text = " ".join(reversed(candidate.passage.text.split()))
    return replace(candidate, passage=replace(candidate.passage, id=passage_id, text=text))


def _full_move(workbench: Workbench) -> Move:
    """What the page works out when a slider was moved, up to its pictures."""

    def move(before: SearchResult, profile: ScoreProfile) -> object:
        after = workbench.evaluation.rescored(before, profile)
        trial = compared(before, after)
        strips = [score_strip(hit.score, profile.threshold) for hit in after.hits]
        return rank_lines(trial, ("base", "trial"), lambda move: move.candidate.passage.section), strips

    return move


def _moves(results: Sequence[SearchResult], move: Move) -> list[float]:
    """Milliseconds of one move each, after one that is not counted."""
    profiles = [tried(each.profile, {"w.authority": n / len(results)}) for n, each in enumerate(results)]
    move(results[0], profiles[0])
    return [
        _milliseconds(lambda each=each, profile=profile: move(each, profile))
        for each, profile in zip(results, profiles, strict=True)
    ]


def _milliseconds(work: Callable[[], object]) -> float:
    with clock() as one:
        work()
    return one.seconds * 1000


def _row(taken: Sequence[float], faster: float) -> tuple[float, float, float]:
    return quantile(taken, 0.5), quantile(taken, 0.95), faster
