"""Ranking quality on judged collections: each leg and profile `balanced` beside the stock pipeline, in the same run."""

import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.stock import StockPipeline, read_text
from bootstrap.scratch_library import NamedFile, fill, scratch_workbench
from bootstrap.workbench import settings_from_environment
from core.domain.queries import SearchRequest
from core.domain.results import SearchResult
from core.evaluation.judgments.folders import FolderQuestion, JudgedFolder, read_judged_folder
from core.evaluation.metrics.measures import auroc, mean, ranking_measures
from core.evaluation.metrics.significance import paired
from core.formats.terminal import aligned

__all__ = ["run"]

_DEPTH, _SHOWN = 100, 5
_PEERS = {"dense": "stock dense", "sparse": "stock sparse", "fused": "stock fused", "balanced": "stock fused"}

Ranking = Sequence[tuple[str, str]]
"""(SHA-256 of the document, text) of passages, best first."""


@dataclass(frozen=True, slots=True)
class _Measured:
    """Values per question with an answer, in their order: hit@5 and answer@5 of the first five passages, and nDCG@10 of
    the documents."""

    hit: Sequence[float]
    answer: Sequence[float]
    ndcg: Sequence[float]


def run(folders: Sequence[Path]) -> str:
    """One table per collection; p: paired randomisation test of nDCG@10 against the stock pipeline's same leg. Each is
    printed to stderr as soon as it is measured, because a large collection takes minutes."""
    tables = []
    for folder in folders:
        tables.append(_table(read_judged_folder(folder), folder))
        print(f"{tables[-1]}\n", file=sys.stderr, flush=True)
    return "\n\n".join(tables)


def _table(judged: JudgedFolder, folder: Path) -> str:
    questions = [each for each in judged.questions if each.grades]
    rankings = {f"stock {leg}": found for leg, found in _stock(judged, folder, questions).items()}
    ours, answers = _ours(judged)
    rankings |= ours
    measured = {name: _measured(questions, found) for name, found in rankings.items()}
    rows = []
    for name, values in measured.items():
        peer = measured.get(_PEERS.get(name, ""))
        p_value = "" if peer is None else f"{paired(peer.ndcg, values.ndcg).p_value:.3f}"
        answer = mean(values.answer) if judged.answers_known else "–"
        rows.append((name, mean(values.hit), answer, mean(values.ndcg), p_value))
    head = f"{judged.name}: {len(judged.documents)} documents, {len(questions)} questions with an answer"
    return f"{head}\n{aligned(('ranking', 'hit@5', 'answer@5', 'nDCG@10', 'p'), rows)}\n{answers}"


def _measured(questions: Sequence[FolderQuestion], found: Mapping[str, Ranking]) -> _Measured:
    documents = {each.key: list(dict.fromkeys(sha for sha, _ in found[each.key])) for each in questions}
    ndcg = ranking_measures({each.key: each.grades for each in questions}, documents, ["nDCG@10"])
    first = [(each, found[each.key][:_SHOWN]) for each in questions]
    return _Measured(
        [float(any(sha in each.grades for sha, _ in top)) for each, top in first],
        [float(any(each.answered_by(sha, text) for sha, text in top)) for each, top in first],
        [ndcg[each.key]["nDCG@10"] for each in questions],
    )


def _stock(judged: JudgedFolder, folder: Path, questions: Sequence[FolderQuestion]) -> dict[str, dict[str, Ranking]]:
    """Leg → question → ranking of the stock pipeline, which has no filters."""
    from hashlib import sha256

    with tempfile.TemporaryDirectory() as temporary:
        stock = StockPipeline(Path(temporary) / "stock.sqlite")
        stock.load()
        if (folder / "files").is_dir():
            for path in sorted((folder / "files").rglob("*")):
                if path.is_file():
                    stock.add(sha256(path.read_bytes()).hexdigest(), read_text(path))
        else:
            for sha, (_, data) in judged.documents.items():
                stock.add(sha, data.decode())
        stock.index_words()
        found: dict[str, dict[str, Ranking]] = {}
        for each in questions:
            for leg, chunks in stock.legs(each.text).items():
                ranking = [(stock.sources[chunk], stock.chunks[chunk]) for chunk in chunks]
                found.setdefault(leg, {})[each.key] = ranking
    return found


def _ours(judged: JudgedFolder) -> tuple[dict[str, dict[str, Ranking]], str]:
    """Leg or profile → question → ranking, and how well the probability of an answer tells what has none."""
    found: dict[str, dict[str, Ranking]] = {}
    there, missing, called, reached = [], [], [], []
    with scratch_workbench(settings_from_environment()) as workbench:
        documents = fill(workbench, [NamedFile(*each) for each in judged.documents.values()])
        shas = {document.id: sha for sha, document in documents.items()}
        workbench.search.warm()
        for each in judged.questions:
            request = SearchRequest(each.text, each.filters, "balanced", top_k=_DEPTH)
            result = workbench.search.run(request, remember=False)
            if not each.grades:
                missing.append(result.answer_probability or 0.0)
                continue
            there.append(result.answer_probability or 0.0)
            called.append(float(not result.answered))
            for name, ranking in _rankings(result, shas).items():
                found.setdefault(name, {})[each.key] = ranking
            answering = tuple(documents[sha].id for sha in each.grades if sha in documents)
            without = each.filters.replace(exclude_documents=(*each.filters.exclude_documents, *answering))
            bare = workbench.search.run(SearchRequest(each.text, without, "balanced"), remember=False)
            missing.append(bare.answer_probability or 0.0)
            if any(hit.candidate.passage.document_id in answering for hit in result.hits[:_SHOWN]):
                reached.append((there[-1], missing[-1]))
    return found, f"{_answered_words(there, missing, reached)}; answerable ones called unanswered {mean(called):.3f}"


def _answered_words(there: Sequence[float], missing: Sequence[float], reached: Sequence[tuple[float, float]]) -> str:
    """How well the probability tells questions with an answer from those without. reached: probabilities with and
    without the answering documents, where one of these is among the first passages."""
    alone = f"{auroc(*zip(*reached, strict=True)):.3f}" if reached else "–"
    judged = (1 + len(reached) / len(there)) / 2
    return (
        f"AUROC {auroc(there, missing):.3f} of {len(there)} answerable questions against {len(missing)} that are not;"
        f" {alone} of the {len(reached)} with an answering document among the first {_SHOWN} passages"
        f" (who knew which of these answer would reach {judged:.3f} of all)"
    )


def _rankings(result: SearchResult, shas: Mapping[int, str]) -> dict[str, Ranking]:
    """The legs by their own ranks, and the hits."""
    rankings: dict[str, Ranking] = {}
    for leg in ("dense", "sparse", "fused"):
        ranked = sorted((c.signals.ranks[leg], c.passage.id) for c in result.candidates if leg in c.signals.ranks)
        passages = {candidate.passage.id: candidate.passage for candidate in result.candidates}
        rankings[leg] = [(shas[passages[i].document_id], passages[i].text) for _, i in ranked]
    hits = [hit.candidate.passage for hit in result.hits]
    return rankings | {"balanced": [(shas[passage.document_id], passage.text) for passage in hits]}
