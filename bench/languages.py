"""Search in other languages: `python -m bench.languages XQUAD --languages de,ru,zh`.

XQUAD is a clone of github.com/google-deepmind/xquad, whose files hold the same 240 paragraphs and 1,190 questions in
twelve languages. For each language a library of its paragraphs gets the questions in that language, then those in
English, beside the stock pipeline.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from bench.quality import Measured, filled_stock, measured, our_rankings, stock_rankings
from bootstrap.scratch_library import NamedFile, fill, scratch_workbench
from bootstrap.workbench import settings_from_environment
from core.domain.filters import SearchFilters
from core.evaluation.judgments.folders import FolderQuestion, JudgedFolder
from core.evaluation.metrics.measures import mean
from core.evaluation.metrics.significance import paired
from core.formats.terminal import aligned

__all__ = ["languages_in", "measured_languages"]

_ENGLISH = "en"
_OURS, _STOCK = "balanced", "stock fused"
_PEERS = {_OURS: _STOCK, "dense": "stock dense", "sparse": "stock sparse"}

Row = tuple[str, str, str, float, float, float, float, str]
"""Language of the paragraphs and of the questions, ranking, hit@5 and nDCG@10 of stock and of ours, p of nDCG@10."""


def languages_in(folder: Path) -> list[str]:
    """The languages of a clone of XQuAD, English last."""
    found = {path.name.split(".")[1] for path in folder.glob("xquad.*.json")}
    return [*sorted(found - {_ENGLISH}), *found & {_ENGLISH}]


def measured_languages(folder: Path, languages: Sequence[str], most: int) -> Iterator[Row]:
    """The rows of each language. most: questions of each language, spread over the paragraphs. Raises OSError."""
    for language in languages:
        judged, questions = _judged(folder, language, most)
        with filled_stock(judged, folder) as stock:
            theirs = {own_language: stock_rankings(stock, own) for own_language, own in questions.items()}
        with scratch_workbench(settings_from_environment()) as workbench:
            documents = fill(workbench, [NamedFile(*each) for each in judged.documents.values()])
            ours = {own_language: our_rankings(workbench, documents, own) for own_language, own in questions.items()}
        for own_language, own in questions.items():
            values = {name: measured(own, found) for name, found in (theirs[own_language] | ours[own_language]).items()}
            for name, peer in _PEERS.items():
                yield language, own_language, name, *_compared(values[peer], values[name])


def _compared(stock: Measured, ours: Measured) -> tuple[float, float, float, float, str]:
    p_value = paired(stock.ndcg, ours.ndcg).p_value
    return mean(stock.hit), mean(ours.hit), mean(stock.ndcg), mean(ours.ndcg), f"{p_value:.3f}"


def _judged(folder: Path, language: str, most: int) -> tuple[JudgedFolder, dict[str, list[FolderQuestion]]]:
    """The paragraphs of a language, and the questions about them: in that language, and in English."""
    shas = {}
    documents = {}
    for number, paragraph in enumerate(_paragraphs(folder, language)):
        data = paragraph["context"].encode()
        shas[number] = sha256(data).hexdigest()
        documents[shas[number]] = (f"{number}.txt", data)
    questions = {}
    for own_language in dict.fromkeys((language, _ENGLISH)):
        found = [
            FolderQuestion(each["id"], each["question"], "query", SearchFilters(), {shas[number]: 1}, {})
            for number, paragraph in enumerate(_paragraphs(folder, own_language))
            for each in paragraph["qas"]
        ]
        questions[own_language] = found[:: max(1, len(found) // most)]
    return JudgedFolder(language, documents, ()), questions


def _paragraphs(folder: Path, language: str) -> list[dict[str, object]]:
    data = json.loads((folder / f"xquad.{language}.json").read_text("utf-8"))["data"]
    return [paragraph for article in data for paragraph in article["paragraphs"]]


def main() -> None:
    """Print the table, a language as soon as it is measured."""
    parser = argparse.ArgumentParser(prog="python -m bench.languages", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--languages", help="codes, such as de,ru; without it all")
    parser.add_argument("--questions", type=int, default=300, help="of each language")
    chosen = parser.parse_args()
    languages = chosen.languages.split(",") if chosen.languages else languages_in(chosen.folder)
    head = ("paragraphs", "questions", "ranking", "stock hit@5", "ours", "stock nDCG@10", "ours", "p")
    rows: list[Row] = []
    for row in measured_languages(chosen.folder, languages, chosen.questions):
        rows.append(row)
        print(*row, flush=True)
    print(aligned(head, rows), flush=True)


if __name__ == "__main__":
    main()
