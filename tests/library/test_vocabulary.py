"""The words of a workspace count alike everywhere, for nobody else, in versions one can come back to."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from string import ascii_lowercase

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.coverage.board_view import by_domain
from core.domain.coverage import Topic
from core.domain.documents import Authority, Document, EvidenceSource, Truth
from core.domain.errors import BadRequest, NotFound, Outdated
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.domain.vocabulary import BUILT_IN, AuthorityNames, DomainWords, JurisdictionNames, Vocabulary
from core.knowledge.workspace_terms import BUILT_IN_TERMS, WorkspaceTerms
from core.search.query.route import read_route
from core.text.tokenize import STOP_WORDS, stem
from core.workbench import Workbench
from tests.search.library import WordEmbedder
from tests.workbench import Stores, built

PRIVACY = Vocabulary(
    (DomainWords("privacy", "Privacy", ("data subject", "erasure request", "processing register"), (), ("dpia",)),),
    (AuthorityNames(Authority.GOVERNMENT, ("Tidewater Council",)),),
    (JurisdictionNames("country:XK", "Kosovo", ("Kosova",), ("Ministry of Northern Roads",)),),
)
NOTICE = """# How we answer people
Every data subject may send an erasure request. The processing register names each data subject group.
An erasure request is answered within a month, and the processing register is kept up to date.
Managers must enter each erasure request in the processing register on the day it arrives.
"""
PRODUCT = tuple(
    stem(part) for words in BUILT_IN_TERMS.domains.keywords.values() for word in words for part in word.lower().split()
)


@pytest.fixture
def library(tmp_path: Path) -> Workbench:
    """An empty library in memory."""
    return built(Stores(WordEmbedder()), tmp_path)


def upload(library: Workbench, name: str = "answers.md", text: str = NOTICE) -> Document:
    """A document, read."""
    return library.documents.get(library.documents.upload(name, text.encode()).document_id)


invented = st.text(ascii_lowercase, min_size=5, max_size=12).filter(
    lambda word: word not in STOP_WORDS and stem(word) not in PRODUCT and not word.isdigit()
)


@given(words=st.lists(invented, min_size=2, max_size=4, unique_by=stem), title=invented)
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_domain_of_ones_own_counts_in_classifier_router_filters_and_coverage_alike(
    words: list[str], title: str, tmp_path: Path
) -> None:
    library = built(Stores(WordEmbedder()), tmp_path)
    own = DomainWords(f"own_{title}", title.capitalize(), tuple(words))
    library.vocabulary.save(Vocabulary((own,)), who="Ann")
    text = " ".join(f"Every {word} is kept in the file of the {words[0]}." for word in words * 4)
    document = upload(library, "kept.md", f"# How it is kept\n{text}\n")
    other = upload(library, "taxes.md", "# Taxes\nEmployers withhold income tax. The tax return is due in April.\n")

    assert document.labels.domain.value == own.name
    assert {passage.domain for passage in library.documents.passages(document.id)} == {own.name}
    result = library.search.run(SearchRequest(f"what about the {words[0]}"))
    assert [chip.value for chip in result.route.chips if chip.kind == "domain"] == [own.name]
    assert library.search.facets(SearchFilters())["domains"][own.name] == len(library.documents.passages(document.id))
    narrowed = library.search.run(SearchRequest(f"{words[0]} tax domain:{title}"))
    assert narrowed.filters.domains == (own.name,)
    assert {hit.candidate.passage.document_id for hit in narrowed.hits} <= {document.id}
    assert other.labels.domain.value == "taxes"
    (topic,) = library.coverage.add_topics([Topic(f"keeping the {words[0]}")])
    assert topic.domain == own.name
    assert [share.name for share in by_domain(library.coverage.glance([topic]))] == [own.name]


def test_names_of_authorities_and_places_are_read_in_documents_and_questions(library: Workbench) -> None:
    library.vocabulary.save(PRIVACY, who="Ann")
    requested = library.search.run(SearchRequest("what does the ministry of northern roads ask for in Kosova?"))
    assert requested.route.jurisdiction == "country:XK"
    text = "# Guidance for hauliers\n" + "The Ministry of Northern Roads recommends rest in Kosova every day. " * 6
    document = upload(library, "hauliers.md", text)
    assert document.labels.jurisdiction.value == "country:XK"
    assert library.search.run(SearchRequest("rest jurisdiction:Kosovo")).filters.jurisdictions == ("country:XK",)


def test_a_name_of_an_authority_speaks_for_it(library: Workbench) -> None:
    text = "We recommend this best practice as a guideline. The Tidewater Council suggests a standard approach. " * 6
    tried = library.vocabulary.tried(text, PRIVACY)
    without, named = (each.labels["authority"] for each in (tried.now, tried.then))
    assert without.value != "government" == named.value
    assert "is named so in this workspace's vocabulary" in {item.rule for item in named.evidence}


def test_a_word_of_file_names_counts_there_and_not_in_the_text(library: Workbench) -> None:
    assert "privacy" not in WorkspaceTerms(PRIVACY).domains.hits("the dpia is done")
    library.vocabulary.save(PRIVACY, who="Ann")
    named, plain = upload(library, "DPIA_2026.md"), upload(library, "plain 2026.md", NOTICE.replace("month", "week"))
    sources = [{item.source for item in each.labels.domain.evidence} for each in (named, plain)]
    assert [EvidenceSource.NAME in each for each in sources] == [True, False]


def test_a_text_that_reads_like_a_domain_of_ones_own_counts_for_it_as_for_the_products(library: Workbench) -> None:
    label = library.vocabulary.tried(NOTICE, PRIVACY).then.labels["domain"]
    sources = {item.source for item in label.evidence if item.value == "privacy"}
    assert sources >= {EvidenceSource.TEXT, EvidenceSource.MEANING}


def test_a_domain_switched_off_is_given_to_nothing_and_kept_by_what_carries_it(library: Workbench) -> None:
    before = upload(library, "tax.md", "# Tax\nEmployers withhold income tax. The tax return of the taxpayer is due.\n")
    assert before.labels.domain.value == "taxes"
    library.vocabulary.save(Vocabulary((DomainWords("taxes", off=True),)), who="Ann")
    after = upload(library, "tax2.md", "# Tax\nTaxpayers file a tax return. Withholding of income tax is monthly.\n")
    assert after.labels.domain.value != "taxes"
    assert library.search.run(SearchRequest("income tax")).route.domain is None
    assert library.documents.get(before.id).labels.domain.value == "taxes"
    domains = library.vocabulary.terms().domains
    assert "taxes" not in domains.keywords
    assert domains.title("taxes") == "Taxes"
    found = library.search.run(SearchRequest("income tax", SearchFilters(domains=("taxes",))))
    assert {hit.candidate.passage.document_id for hit in found.hits} == {before.id}


def test_what_documents_carry_is_switched_off_and_never_lost(library: Workbench) -> None:
    library.vocabulary.save(PRIVACY, who="Ann")
    document = upload(library)
    assert library.vocabulary.in_use()["privacy"].documents == 1
    library.vocabulary.restore(0, who="Bob", after=1)
    assert library.vocabulary.current().domain("privacy").off
    assert library.vocabulary.terms().domains.titles["privacy"] == "Privacy"
    assert library.documents.get(document.id).labels.domain.value == "privacy"


def test_an_uncertain_label_is_no_use_of_a_domain(tmp_path: Path) -> None:
    stores = Stores(WordEmbedder())
    library = built(stores, tmp_path)
    document = upload(library, "taxes.md", "# Taxes\nEmployers withhold income tax.\n")
    stores.catalogue.edit_labels(
        document.id, lambda known, all_of_it: (known, [replace(p, possible_labels=("domain:time",)) for p in all_of_it])
    )
    assert library.search.facets(SearchFilters())["domains"]["time"] == 1
    assert set(library.vocabulary.in_use()) == {"taxes"}


def test_every_save_is_a_version_with_who_when_and_why_and_can_be_restored(library: Workbench) -> None:
    desk = library.vocabulary
    first = desk.save(PRIVACY, who=" Ann ", note="for the\nprivacy team")
    second = desk.save(PRIVACY.with_changes(DomainWords("learning", "Academy", off=True)), who="Bob", after=1)
    assert [each.number for each in desk.versions()] == [2, 1]
    assert (first.who, first.note) == ("Ann", "for the privacy team")
    assert desk.changes(2) == ("Learning is now called Academy.", "Academy switched off.")
    third = desk.restore(1, who="Ann", after=2)
    assert third.vocabulary == first.vocabulary != second.vocabulary
    assert desk.newest() == third and third.note == "as in version 1"
    with pytest.raises(NotFound, match="version 9"):
        desk.restore(9, who="Ann", after=3)


def test_nobody_overwrites_anothers_version_and_nothing_is_saved_twice(library: Workbench) -> None:
    desk = library.vocabulary
    desk.save(PRIVACY, who="Ann")
    with pytest.raises(Outdated, match="meanwhile"):
        desk.save(Vocabulary((DomainWords("time", off=True),)), who="Bob", after=0)
    with pytest.raises(BadRequest, match="says already"):
        desk.save(PRIVACY, who="Ann", after=1)
    with pytest.raises(BadRequest, match="too common"):
        desk.save(Vocabulary((DomainWords("x", "X", ("the",)),)), who="Ann", after=1)
    assert len(desk.versions()) == 1


def test_what_another_process_saves_is_heard_within_two_seconds(tmp_path: Path) -> None:
    from core.library.vocabulary.service import CurrentVocabulary
    from core.ports.own_changes import ChangeCount

    stores = Stores(WordEmbedder())
    library, seconds = built(stores, tmp_path), [0.0]
    own = ChangeCount()
    there, told = (CurrentVocabulary(stores.vocabularies, lambda: seconds[0], each) for each in (ChangeCount(), own))
    assert told.terms().vocabulary == BUILT_IN
    assert there.terms().vocabulary == BUILT_IN
    library.vocabulary.save(PRIVACY, who="Ann")
    assert library.vocabulary.current() == PRIVACY
    assert there.terms().vocabulary == told.terms().vocabulary == BUILT_IN
    own.follow(1)  # the program that this one works for has changed something
    assert told.terms().vocabulary == PRIVACY
    assert there.terms().vocabulary == BUILT_IN
    seconds[0] = 2.1
    assert there.terms().vocabulary == PRIVACY


def test_words_can_be_tried_before_they_are_saved(library: Workbench) -> None:
    document = upload(library)
    tried = library.vocabulary.tried(NOTICE, PRIVACY)
    assert "domain" in tried.moved and tried.then.labels["domain"].value == "privacy"
    assert [chip.value for chip in tried.then.chips] == ["privacy"]
    on = library.vocabulary.tried_on(document.id, PRIVACY)
    assert on.now.labels["domain"] == document.labels.domain
    assert on.then.labels["domain"].value == "privacy"
    assert library.vocabulary.current() == BUILT_IN
    assert library.documents.get(document.id) == document
    with pytest.raises(BadRequest, match="nothing to try"):
        library.vocabulary.tried("  ", PRIVACY)


def test_labels_are_decided_anew_but_for_what_people_confirmed(library: Workbench) -> None:
    first, second = upload(library), upload(library, "again.md", NOTICE.replace("month", "week"))
    plain = upload(library, "tax.md", "# Tax\nEmployers withhold income tax. The tax return of the taxpayer is due.\n")
    library.documents.correct(second.id, "domain", "learning")
    library.vocabulary.save(PRIVACY, who="Ann")
    run = library.vocabulary.relabelling.start("Ann")
    assert run.ended is not None and (run.total, run.done, run.changed, run.version) == (3, 3, 1, 1)
    assert library.documents.get(first.id).labels.domain.value == "privacy"
    assert {passage.domain for passage in library.documents.passages(first.id)} == {"privacy"}
    assert library.documents.get(second.id).labels.domain.value == "learning"
    assert library.documents.get(plain.id).labels.domain.value == "taxes"
    assert library.documents.get(first.id).labels.truth == first.labels.truth
    found = library.search.run(SearchRequest("erasure request", SearchFilters(domains=("privacy",))))
    assert {hit.candidate.passage.document_id for hit in found.hits} == {first.id}


def test_a_run_stops_when_asked_goes_on_where_it_was_and_ends_once(tmp_path: Path) -> None:
    stores = Stores(WordEmbedder())
    library = built(stores, tmp_path)
    upload(library)
    upload(library, "again.md", NOTICE.replace("month", "week"))
    library.vocabulary.save(PRIVACY, who="Ann")
    work: Callable[..., object] = stores.jobs.work
    stores.jobs.work = lambda kind, number: None
    waiting = library.vocabulary.relabelling.start("Ann")
    assert waiting.ended is None and waiting.done == 0
    assert library.vocabulary.relabelling.start("Bob").id == waiting.id
    library.vocabulary.relabelling.stop(waiting.id)
    stopped = library.vocabulary.relabelling.latest()
    assert stopped is not None and stopped.stopped and stopped.ended is not None and stopped.done == 0
    stores.jobs.work = work
    again = library.vocabulary.relabelling.start("Ann")
    assert (again.done, again.changed) == (2, 2) and again.id != stopped.id
    library.vocabulary.relabelling.carry_on(again.id)
    assert library.vocabulary.relabelling.latest() == again


def test_an_empty_library_has_nothing_to_label_anew(library: Workbench) -> None:
    run = library.vocabulary.relabelling.start("Ann")
    assert run.ended is not None and run.total == 0


def test_every_pack_labels_a_text_of_its_subject_and_is_read_in_a_question(library: Workbench) -> None:
    from core.library.vocabulary.edits import merge_vocabularies
    from core.library.vocabulary.toml_csv import packs

    texts = {
        "finance": "The general ledger is closed at month-end. Each journal entry needs two approvals, and accounts"
        " payable reconciles the bank statement before the balance sheet is drawn up.",
        "privacy": "The controller answers each data subject. A personal data breach is reported by the data protection"
        " officer, and the privacy notice names the lawful basis of all processing of personal data.",
        "procurement": "Every tender is opened by two people. The award criteria stand in the invitation to tender, and"
        " a purchase order is sent to the supplier after the contract award.",
    }
    everything = BUILT_IN
    for pack in packs().values():
        everything = merge_vocabularies(everything, pack.vocabulary)
    library.vocabulary.save(everything, who="Ann")
    for name, text in texts.items():
        assert library.vocabulary.tried(text, BUILT_IN).now.labels["domain"].value == name
        assert read_route(text, date(2026, 1, 1), WorkspaceTerms(everything)).domain == name


def test_truths_are_what_they_are_whatever_the_words(library: Workbench) -> None:
    before = upload(library).labels.truth
    library.vocabulary.save(PRIVACY, who="Ann")
    library.vocabulary.relabelling.start("Ann")
    (document,) = library.documents.list()
    assert document.labels.truth == before
    assert document.labels.truth.value in {*Truth, None}
