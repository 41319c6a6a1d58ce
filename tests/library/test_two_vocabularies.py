"""Two libraries open in one process, each with a vocabulary of its own: each uses its own terms on every path."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from core.coverage.board_view import by_domain
from core.coverage.topics import topics_from_table
from core.domain.coverage import Topic
from core.domain.documents import Authority, Document
from core.domain.errors import BadRequest
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.domain.vocabulary import AuthorityNames, DomainWords, JurisdictionNames, Vocabulary
from core.library.bulk_edit.plan import BulkEdit
from core.library.vocabulary.toml_csv import to_csv
from core.search.batch.files import filters_from, read_batch
from core.workbench import Workbench
from tests.search.library import WordEmbedder
from tests.workbench import Stores, built

OURS = Vocabulary(
    (DomainWords("privacy", "Privacy", ("data subject", "erasure request", "processing register")),),
    (AuthorityNames(Authority.GOVERNMENT, ("Tidewater Council",)),),
    (JurisdictionNames("country:XK", "Kosovo", ("Kosova",), ("Ministry of Northern Roads",)),),
)
THEIRS = Vocabulary(
    (DomainWords("haulage", "Haulage", ("axle load", "erasure request")), DomainWords("taxes", "Duties")),
    (AuthorityNames(Authority.VENDOR, ("Tidewater Council",)),),
    (JurisdictionNames("country:CA", "Dominion", ("Kosova",), ("Ministry of Northern Roads",)),),
)
NOTICE = """# How we answer people
Every data subject may send an erasure request. The processing register names each data subject group.
An erasure request is answered within a month, and the processing register is kept up to date.
"""
HAULIERS = "# Guidance for hauliers\n" + "The Ministry of Northern Roads recommends rest in Kosova every day. " * 6
COUNCIL = "We recommend this best practice as a guideline. The Tidewater Council suggests a standard approach. " * 6

Both = tuple[Workbench, Workbench]


@pytest.fixture
def both(tmp_path: Path) -> Both:
    """Two libraries in memory, open at once."""
    ours, theirs = (built(Stores(WordEmbedder()), tmp_path / name) for name in ("ours", "theirs"))
    ours.vocabulary.save(OURS, who="Ann")
    theirs.vocabulary.save(THEIRS, who="Bob")
    return ours, theirs


def each(both: Both, what: Callable[[Workbench], object]) -> list[object]:
    """What a path gives in either library: first in turn, then in threads of one process, which must be the same."""
    in_turn = [what(library) for library in both]
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(what, both)) == in_turn
    return in_turn


def upload(library: Workbench, name: str, text: str) -> Document:
    """A document, read."""
    return library.documents.get(library.documents.upload(name, text.encode()).document_id)


def test_documents_are_labelled_on_upload_by_their_own_librarys_vocabulary(both: Both) -> None:
    assert each(both, lambda library: upload(library, "notice.md", NOTICE).labels.domain.value) == [
        "privacy",
        "haulage",
    ]
    placed = [upload(library, "hauliers.md", HAULIERS).labels.jurisdiction for library in both]
    assert [label.value for label in placed] == ["country:XK", "country:CA"]
    assert ["Kosovo" in label.evidence[0].rule for label in placed] == [True, False]
    assert ["Dominion" in label.evidence[0].rule for label in placed] == [False, True]
    speakers = [upload(library, "council.md", COUNCIL).labels.authority for library in both]
    named = [{item.value for item in label.evidence if "vocabulary" in item.rule} for label in speakers]
    assert named == [{"government"}, {"vendor"}]


def test_questions_are_routed_by_their_own_librarys_vocabulary(both: Both) -> None:
    request = SearchRequest("which erasure request came from Kosova?")

    def route(library: Workbench) -> object:
        found = library.search.run(request).route
        return found.domain, found.jurisdiction, [chip.value for chip in found.chips]

    first, second = each(both, route)
    assert first == ("privacy", "country:XK", ["privacy", "country:XK"])
    assert second == ("haulage", "country:CA", ["haulage", "country:CA"])
    assert each(both, lambda library: library.search.run_many([request])[0].route.domain) == ["privacy", "haulage"]


def test_field_terms_take_the_titles_of_their_own_library(both: Both) -> None:
    def narrowed(question: str) -> list[object]:
        return each(both, lambda library: library.search.run(SearchRequest(question)).filters.domains)

    assert narrowed("answers domain:privacy") == [("privacy",), ()]
    assert narrowed("answers domain:Haulage") == [(), ("haulage",)]
    assert narrowed("answers domain:duties") == [(), ("taxes",)]
    places = each(
        both, lambda library: library.search.run(SearchRequest("rest jurisdiction:Kosova")).filters.jurisdictions
    )
    assert places == [("country:XK",), ("country:CA",)]
    notices = each(both, lambda library: " ".join(library.search.run(SearchRequest("answers domain:none")).notices))
    assert ["privacy" in str(statement) for statement in notices] == [True, False]
    assert ["haulage" in str(statement) for statement in notices] == [False, True]


def test_files_of_questions_and_filters_take_the_titles_of_their_own_library(both: Both) -> None:
    table = b"question,domains,jurisdictions\nwho answers?,Privacy|Duties,Kosovo|Dominion\n"

    def read(library: Workbench) -> object:
        filters = read_batch(table, "questions.csv", terms=library.vocabulary.terms()).questions[0].filters
        return filters.domains, filters.jurisdictions

    first, second = each(both, read)
    assert first == (("privacy", "Duties"), ("country:XK", "Dominion"))
    assert second == (("Privacy", "taxes"), ("Kosovo", "country:CA"))
    requested = each(both, lambda library: filters_from(["domains=Duties"], library.vocabulary.terms()).domains)
    assert requested == [("Duties",), ("taxes",)]


def test_facets_count_and_titles_name_each_librarys_own_domains(both: Both) -> None:
    for library in both:
        upload(library, "notice.md", NOTICE)
    assert [set(library.search.facets(SearchFilters())["domains"]) for library in both] == [{"privacy"}, {"haulage"}]

    def titles(library: Workbench) -> object:
        terms = library.vocabulary.terms()
        return [terms.domains.title(name) for name in ("privacy", "haulage", "taxes")] + [
            terms.jurisdictions.title("country:CA")
        ]

    assert each(both, titles) == [
        ["Privacy", "haulage", "Taxes", "Canada"],
        ["privacy", "Haulage", "Duties", "Dominion"],
    ]


def test_coverage_reads_and_tells_topics_in_each_librarys_own_terms(both: Both) -> None:
    topics = [library.coverage.add_topics([Topic("erasure request in Kosova")])[0] for library in both]
    assert [(topic.domain, topic.jurisdiction) for topic in topics] == [
        ("privacy", "country:XK"),
        ("haulage", "country:CA"),
    ]
    for library in both:
        upload(library, "law.md", "# Act 7\nEvery employer shall keep a wage book. Whoever violates this is fined.\n")
    boards = [library.coverage.glance([topic]) for library, topic in zip(both, topics, strict=True)]
    assert [[share.name for share in by_domain(board)] for board in boards] == [["privacy"], ["haulage"]]
    needed = [" ".join(gap.recommendation for gap in board.gaps) for board in boards]
    assert ["Kosovo" in words for words in needed] == [True, False]
    assert ["Dominion" in words for words in needed] == [False, True]
    table = b"topic,jurisdiction\nrest,Kosova\n"
    read = each(both, lambda library: topics_from_table(table, library.vocabulary.terms())[0].jurisdiction)
    assert read == ["country:XK", "country:CA"]


def test_answers_name_what_to_obtain_in_each_librarys_own_terms(both: Both) -> None:
    def needed(library: Workbench) -> object:
        answer = library.answers.ask("what is the rest of hauliers in Kosova?", filters=SearchFilters(), profile="")
        return " ".join(truth.needed for truth in answer.truths)

    first, second = (str(words) for words in each(both, needed))
    assert "Kosovo" in first and "Dominion" not in first
    assert "Dominion" in second and "Kosovo" not in second


def test_labels_set_by_hand_are_checked_against_each_librarys_own_domains(both: Both) -> None:
    ours, theirs = both
    documents = [upload(library, "notice.md", NOTICE) for library in both]
    assert ours.documents.correct(documents[0].id, "domain", "privacy").labels.domain.value == "privacy"
    with pytest.raises(BadRequest, match=r"not a domain of this workspace.*Duties.*Haulage"):
        theirs.documents.correct(documents[1].id, "domain", "privacy")
    plans = [
        library.bulk_edit.plan({document.id: [BulkEdit("domain", "haulage")]})
        for library, document in zip(both, documents, strict=True)
    ]
    assert [bool(plan.problems) for plan in plans] == [True, False]


def test_previews_relabelling_and_lessons_stay_with_their_own_library(both: Both) -> None:
    for library in both:
        upload(library, "notice.md", NOTICE)
    ours, _ = both
    trial = ours.vocabulary.tried(NOTICE, THEIRS)
    assert trial.moved == ("domain",) and trial.then.labels["domain"].value == "haulage"
    ours.vocabulary.save(OURS.with_changes(DomainWords("privacy", "Secrecy", ("hush money",))), who="Ann", after=1)
    ours.vocabulary.relabelling.start("Ann")
    assert [library.documents.list()[0].labels.domain.value == "haulage" for library in both] == [False, True]
    assert ours.documents.list()[0].labels.domain.value != "privacy"
    assert [library.vocabulary.terms().domains.title("privacy") for library in both] == ["Secrecy", "privacy"]
    assert [library.active_learning.label_changes.preview().changes for library in both] == [(), ()]


def test_exports_hold_each_librarys_own_vocabulary(both: Both) -> None:
    first, second = (str(text) for text in each(both, lambda library: to_csv(library.vocabulary.current())))
    assert "privacy" in first and "haulage" not in first
    assert "haulage" in second and "privacy" not in second


def test_a_library_without_a_vocabulary_uses_the_built_in_terms_beside_the_others(both: Both, tmp_path: Path) -> None:
    third = built(Stores(WordEmbedder()), tmp_path / "third")
    assert third.search.run(SearchRequest("which erasure request came from Kosova?")).route.chips == ()
    assert upload(third, "notice.md", NOTICE).labels.domain.value not in ("privacy", "haulage")
    with pytest.raises(BadRequest, match="'privacy' is not a domain of this workspace"):
        third.documents.correct(third.documents.list()[0].id, "domain", "privacy")
