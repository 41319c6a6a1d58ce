"""Ranking quality on judged collections beside the stock pipeline and beside an earlier run, in one table.

Each leg, profile `balanced`, the same with the included reranker, and the stock pipeline answer the same questions. How
well the probability of an answer tells questions with an answer from those without is measured on each collection left
out.
"""

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from bench.measured import Headline, Report
from bench.stock import StockPipeline, read_text
from bootstrap.answer_cases import answer_cases
from bootstrap.scratch_library import NamedFile, fill, scratch_workbench
from bootstrap.workbench import settings_from_environment
from core.domain.documents import Document
from core.domain.queries import SearchRequest
from core.domain.results import SearchResult
from core.evaluation.judgments.folders import FolderQuestion, JudgedFolder, read_judged_folder
from core.evaluation.metrics.measures import auroc, mean, ranking_measures
from core.evaluation.metrics.significance import paired
from core.evaluation.tuning.answerability_fitting import AnswerCase, LeftOutCollection, left_out
from core.formats.terminal import aligned
from core.workbench import Workbench

__all__ = ["Measured", "Ranking", "filled_stock", "measured", "our_rankings", "run", "stock_rankings"]

_DEPTH, _SHOWN = 100, 5
_STOCK, _OURS, _RERANKED = "stock fused", "balanced", "reranked"
_PEERS = {"dense": "stock dense", "sparse": "stock sparse", "fused": _STOCK, _OURS: _STOCK, _RERANKED: _STOCK}
_RERANKER, _RERANKER_SECONDS = "included", 60.0
_MEASURES = {"hit@5": "hit", "nDCG@10": "ndcg", "answer@5": "answer", "answer@1": "first"}
_OF_ANSWERS = ("answer", "first")
_FOOT = """\
p: paired randomisation test against ours. AUROC: how often the probability of an answer is higher with the answering
documents than without, by weights fitted to the other collections; of stock, of its best cosine. False refusals: share
of the answerable questions called unanswered, by weights and threshold of the other collections."""

Ranking = Sequence[tuple[str, str]]
"""(SHA-256 of the document, text) of passages, best first."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Values per question with an answer, in their order: hit@5 and answer@5 of the first five passages, nDCG@10 of the
    documents, and answer@1 of the first passage."""

    hit: Sequence[float]
    answer: Sequence[float]
    ndcg: Sequence[float]
    first: Sequence[float]


@dataclass(frozen=True, slots=True)
class _Collection:
    """One collection. rankings: name → values; stock_auroc: of the best cosine of the stock pipeline."""

    name: str
    documents: int
    questions: int
    answers_known: bool
    rankings: Mapping[str, Measured]
    stock_auroc: float


def run(folders: Sequence[Path], *, save: Path | None = None, before: Path | None = None) -> Report:
    """The table of all collections. Each collection's own table is printed to stderr as soon as it is measured, because
    a large one takes minutes.

    save: file for the values of this run. before: such a file of an earlier run on the same collections."""
    collections, cases = [], []
    for folder in folders:
        collection, own = _measured_folder(folder)
        collections.append(collection)
        cases += own
        print(f"{_legs_table(collection)}\n", file=sys.stderr, flush=True)
    left_out_values = {each.collection: each for each in left_out(cases)} if len(collections) > 1 else {}
    data = {each.name: _data(each, left_out_values.get(each.name)) for each in collections}
    if save is not None:
        save.write_text(json.dumps(data))
    earlier = json.loads(before.read_text()) if before is not None else {}
    rows = [row for name, own in data.items() for row in _rows(name, own, earlier.get(name))]
    head = ("collection", "measure", "stock", "before", "ours", "p stock", "p before")
    legs = "\n\n".join(_legs_table(each) for each in collections)
    headlines = [
        Headline(
            f"{title}, {name}",
            "share",
            mean(own["rankings"][_OURS][key]),
            _STOCK,
            mean(own["rankings"][_STOCK][key]),
            True,
        )
        for name, own in data.items()
        for title, key in _MEASURES.items()
        if key not in _OF_ANSWERS or own["answers_known"]
    ]
    return Report(headlines, f"{legs}\n\n{aligned(head, rows)}\n{_FOOT}")


def _data(collection: _Collection, apart: LeftOutCollection | None) -> dict[str, Any]:
    return asdict(collection) | {
        "auroc": apart.auroc if apart else None,
        "auroc_found": apart.auroc_found if apart else None,
        "false_refusals": apart.at_threshold.answerable if apart else None,
    }


def _rows(name: str, own: Mapping[str, Any], earlier: Mapping[str, Any] | None) -> Iterator[tuple[object, ...]]:
    """The rows of one collection; "–" for what is not known."""
    for title, key in _MEASURES.items():
        if key in _OF_ANSWERS and not own["answers_known"]:
            continue
        ours, stock = own["rankings"][_OURS][key], own["rankings"][_STOCK][key]
        past = earlier["rankings"][_OURS].get(key) if earlier else None
        yield (
            name,
            title,
            mean(stock),
            "–" if past is None else mean(past),
            mean(ours),
            f"{paired(stock, ours).p_value:.3f}",
            "–" if past is None else f"{paired(past, ours).p_value:.3f}",
        )
    for title, key, stock_value in (
        ("AUROC", "auroc", own["stock_auroc"]),
        ("AUROC where found", "auroc_found", None),
        ("false refusals", "false_refusals", None),
    ):
        values = (stock_value, earlier[key] if earlier else None, own[key])
        yield (name, title, *("–" if value is None else value for value in values), "", "")


def _legs_table(collection: _Collection) -> str:
    rows = []
    for name, values in collection.rankings.items():
        peer = collection.rankings.get(_PEERS.get(name, ""))
        p_value = "" if peer is None else f"{paired(peer.ndcg, values.ndcg).p_value:.3f}"
        answers = [mean(each) if collection.answers_known else "–" for each in (values.answer, values.first)]
        rows.append((name, mean(values.hit), *answers, mean(values.ndcg), p_value))
    head = f"{collection.name}: {collection.documents} documents, {collection.questions} questions with an answer"
    return f"{head}\n{aligned(('ranking', 'hit@5', 'answer@5', 'answer@1', 'nDCG@10', 'p of nDCG@10'), rows)}"


def _measured_folder(folder: Path) -> tuple[_Collection, Sequence[AnswerCase]]:
    judged = read_judged_folder(folder)
    answerable = [each for each in judged.questions if each.grades]
    rankings, stock_auroc = _stock(judged, folder)
    ours, cases = _ours(judged)
    values = {name: measured(answerable, found) for name, found in (rankings | ours).items()}
    known = judged.answers_known
    return _Collection(judged.name, len(judged.documents), len(answerable), known, values, stock_auroc), cases


def measured(questions: Sequence[FolderQuestion], found: Mapping[str, Ranking]) -> Measured:
    documents = {each.key: list(dict.fromkeys(sha for sha, _ in found[each.key])) for each in questions}
    ndcg = ranking_measures({each.key: each.grades for each in questions}, documents, ["nDCG@10"])
    first = [(each, found[each.key][:_SHOWN]) for each in questions]
    return Measured(
        [float(any(sha in each.grades for sha, _ in top)) for each, top in first],
        [float(any(each.answered_by(sha, text) for sha, text in top)) for each, top in first],
        [ndcg[each.key]["nDCG@10"] for each in questions],
        [float(any(each.answered_by(sha, text) for sha, text in top[:1])) for each, top in first],
    )


def _stock(judged: JudgedFolder, folder: Path) -> tuple[dict[str, dict[str, Ranking]], float]:
    """Leg → question → ranking of the stock pipeline, which has no filters, and the AUROC of its best cosine."""
    with filled_stock(judged, folder) as stock:
        there, missing = [], []
        for each in judged.questions:
            (missing if not each.grades else there).append(stock.best_cosine(each.text))
            if each.grades:
                missing.append(stock.best_cosine(each.text, without=frozenset(each.grades)))
        return stock_rankings(stock, judged.questions), auroc(there, missing)


@contextmanager
def filled_stock(judged: JudgedFolder, folder: Path) -> Iterator[StockPipeline]:
    """The stock pipeline with the folder's documents."""
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
        yield stock


def stock_rankings(stock: StockPipeline, questions: Sequence[FolderQuestion]) -> dict[str, dict[str, Ranking]]:
    """Leg → question → ranking of the stock pipeline, for the questions with an answer."""
    found: dict[str, dict[str, Ranking]] = {}
    for each in questions:
        for leg, chunks in stock.legs(each.text).items() if each.grades else ():
            ranking = [(stock.sources[chunk], stock.chunks[chunk]) for chunk in chunks]
            found.setdefault(f"stock {leg}", {})[each.key] = ranking
    return found


def _ours(judged: JudgedFolder) -> tuple[dict[str, dict[str, Ranking]], Sequence[AnswerCase]]:
    """Leg or profile → question → ranking, and the signals of the questions with and without what
    answers them."""
    with scratch_workbench(settings_from_environment()) as workbench:
        documents = fill(workbench, [NamedFile(*each) for each in judged.documents.values()])
        found = our_rankings(workbench, documents, judged.questions)
        return found, list(answer_cases(workbench, judged, documents))


def our_rankings(
    workbench: Workbench, documents: Mapping[str, Document], questions: Sequence[FolderQuestion]
) -> dict[str, dict[str, Ranking]]:
    """Leg or profile → question → ranking, for the questions with an answer. documents: by SHA-256."""
    found: dict[str, dict[str, Ranking]] = {}
    shas = {document.id: sha for sha, document in documents.items()}
    workbench.search.warm()
    patient = {"rerank": _RERANKER, "reranker_deadline": _RERANKER_SECONDS}
    for each in (question for question in questions if question.grades):
        request = SearchRequest(each.text, each.filters, _OURS, top_k=_DEPTH)
        result = workbench.search.run(request, remember=False)
        for name, ranking in _rankings(result, shas).items():
            found.setdefault(name, {})[each.key] = ranking
        reread = workbench.search.run(replace(request, **patient), remember=False)
        found.setdefault(_RERANKED, {})[each.key] = _hits(reread, shas)
    return found


def _rankings(result: SearchResult, shas: Mapping[int, str]) -> dict[str, Ranking]:
    """The legs by their own ranks, and the hits."""
    rankings: dict[str, Ranking] = {}
    for leg in ("dense", "sparse", "fused"):
        ranked = sorted((c.signals.ranks[leg], c.passage.id) for c in result.candidates if leg in c.signals.ranks)
        passages = {candidate.passage.id: candidate.passage for candidate in result.candidates}
        rankings[leg] = [(shas[passages[i].document_id], passages[i].text) for _, i in ranked]
    return rankings | {_OURS: _hits(result, shas)}


def _hits(result: SearchResult, shas: Mapping[int, str]) -> Ranking:
    passages = [hit.candidate.passage for hit in result.hits]
    return [(shas[passage.document_id], passage.text) for passage in passages]
