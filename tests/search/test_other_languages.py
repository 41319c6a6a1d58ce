"""Files in other languages are found by questions in English and in their own language, with the embedding model."""

import pytest

from bootstrap.scratch_library import NamedFile, fill
from core.domain.coverage import Topic
from core.domain.documents import Truth
from core.domain.queries import SearchRequest
from core.knowledge.gaps import evidence_row
from core.knowledge.profiles import profiles
from core.ports.stores import Embedder
from core.workbench import Workbench
from tests.workbench import Stores, built

FILES = {
    "urlaub.txt": "Der Arbeitgeber gewährt jedem Arbeitnehmer im Jahr dreißig Tage Urlaub. Der Antrag ist schriftlich.",
    "оплата.txt": "Срок оплаты по договору составляет десять рабочих дней. Оплата производится в рублях.",
    "加班.txt": "员工加班须经主管书面批准。加班工资按小时工资的百分之一百五十支付。",
    "छुट्टी.txt": "कर्मचारी को वर्ष में बारह दिन का अवकाश मिलता है। वेतन मासिक दिया जाता है।",
    "travel.txt": "Travel expenses are reimbursed within two weeks after the receipt was handed in.",
    "badges.txt": "Visitors wear a badge, and are met at the entrance by the person who invited them.",
    "laptops.txt": "A lost laptop is reported to the help desk at once, and its disk is erased from afar.",
}


@pytest.fixture(scope="module")
def library(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    """One file per language, and English files about other things."""
    workbench = built(Stores(embedder), tmp_path_factory.mktemp("library"))
    fill(workbench, [NamedFile(name, text.encode()) for name, text in FILES.items()])
    return workbench


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("How many days of vacation does the employer grant in a year?", "urlaub.txt"),
        ("What is the payment deadline of the contract?", "оплата.txt"),
        ("Who approves overtime of an employee?", "加班.txt"),
        ("Wie viele Tage Urlaub bekommt ein Arbeitnehmer?", "urlaub.txt"),
        ("Какие сроки оплаты договора?", "оплата.txt"),
        ("加班工资怎么支付？", "加班.txt"),
        ("कर्मचारियों का अवकाश", "छुट्टी.txt"),
        ("Comment sont remboursés les frais de voyage ?", "travel.txt"),
    ],
)
def test_a_question_finds_the_file_whatever_its_language(library: Workbench, question: str, name: str) -> None:
    assert _found(library, question)[0] == name


@pytest.mark.slow
@pytest.mark.parametrize(("phrase", "name"), [("加班工资", "加班.txt"), ("वेतन मासिक", "छुट्टी.txt"), ("资", "加班.txt")])
def test_a_phrase_in_quotes_is_found_where_words_have_no_spaces(library: Workbench, phrase: str, name: str) -> None:
    assert _found(library, f'"{phrase}"') == [name]


@pytest.mark.slow
def test_the_cited_sentence_is_one_sentence(library: Workbench) -> None:
    result = library.search.run(SearchRequest("加班工资怎么支付？"))
    assert result.hits[0].citations[0].quote == "加班工资按小时工资的百分之一百五十支付。"


@pytest.mark.slow
def test_a_word_that_means_the_same_in_another_language_is_named(library: Workbench) -> None:
    result = library.search.run(SearchRequest("How many days of vacation does the employer grant in a year?"))
    assert {"jahr", "tage"} <= {each.word for each in result.hits[0].candidate.signals.near_words}


@pytest.mark.slow
def test_words_in_another_language_count_as_keywords_by_what_they_mean(library: Workbench) -> None:
    result = library.search.run(SearchRequest("How many days of vacation does the employer grant in a year?"))
    told = {hit.candidate.passage.document_name: hit.candidate.signals.other_language for hit in result.hits}
    assert told["urlaub.txt"] and told["оплата.txt"] and not told["travel.txt"]
    (factor,) = (each for each in result.hits[0].score.factors if each.name == "keyword")
    assert factor.value == result.hits[0].candidate.signals.synonym_match
    assert factor.reason == "in another language than the question: counts as synonym match"
    own = library.search.run(SearchRequest("Wie viele Tage Urlaub bekommt ein Arbeitnehmer?"))
    assert not own.hits[0].candidate.signals.other_language
    assert own.hits[0].candidate.passage.document_name == "urlaub.txt"


@pytest.mark.slow
def test_a_topic_is_covered_by_a_file_in_another_language(library: Workbench) -> None:
    (german,) = (each for each in library.documents.list() if each.name == "urlaub.txt")
    library.documents.correct(german.id, "truth", "compliance", "tester")
    (weighed,) = library.coverage.weighed([Topic("days of vacation a year")], Truth.COMPLIANCE)
    best = next(each for each in weighed if each.passage.document_id == german.id)
    assert best.other_language and best.detail.endswith("in another language")
    assert best.score >= evidence_row(profiles()["balanced"]).covered
    assert not any(each.other_language for each in weighed if each.passage.document_name == "travel.txt")
    (weighed,) = library.coverage.weighed([Topic("Urlaub der Arbeitnehmer im Jahr")], Truth.COMPLIANCE)
    own = next(each for each in weighed if each.passage.document_id == german.id)
    assert not own.other_language and not own.detail.endswith("language")


def _found(library: Workbench, question: str) -> list[str]:
    result = library.search.run(SearchRequest(question))
    return [hit.candidate.passage.document_name for hit in result.hits]


@pytest.mark.slow
def test_only_files_in_other_languages_are_read_again(library: Workbench) -> None:
    before = {each.id for each in library.documents.list()}
    assert library.documents.read_all_again(other_languages=True) == 4
    assert {each.id for each in library.documents.list()} == before
    assert _found(library, "Who approves overtime of an employee?")[0] == "加班.txt"
