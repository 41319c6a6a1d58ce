"""Search, the five truths side: each truth heard, silent or failed, both sides of a conflict, and texts checked."""

import re
from collections.abc import Sequence
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.documents import Truth
from core.domain.errors import StoreFailed
from core.domain.filters import SearchFilters
from core.domain.five_truths import Figure, FiveTruthsAnswer
from core.domain.queries import SearchRequest
from tests.answers.endpoints import KEY, Behaviour, completion, served
from tests.screens.conftest import Opened, Stack, words

QUESTION = "Within how many days must employees submit expense reports?"
RULE = "Employees must submit expense reports within 30 days."
PAPERS = {
    "rule.md": ("regulatory", f"# Expense rule\n{RULE} An employer must repay expenses.\n"),
    "policy.md": ("compliance", "# Expense policy\nEmployees must submit expense reports within 60 days.\n"),
    "guide.md": ("reference", "# Expense guide\nEmployees submit expense reports within 30 days.\n"),
    "sow.md": ("intent", "# Scope\nThe customer wants three locations set up.\n"),
}


@pytest.fixture
def expenses(library: Stack) -> Stack:
    """Law and guide say 30 days, policy says 60, the customer speaks of something else, reality is empty."""
    for name, (truth, text) in PAPERS.items():
        library.workbench.documents.correct(library.add(name, text), "truth", truth)
    return library


def answer_of(library: Stack) -> FiveTruthsAnswer:
    """The answer the page shows."""
    return library.workbench.answers.ask(QUESTION, filters=SearchFilters(), profile="balanced")


def shown(screen: AppTest) -> str:
    """All that a page says, without the signs that keep data from being markup."""
    return words(screen).replace("\\", "")


def break_truth(library: Stack, monkeypatch: pytest.MonkeyPatch, truth: str, *, times: int = 10**6) -> None:
    """Let the search of one truth fail."""
    search, left = library.workbench.search._pipeline.search_many, [times]

    def broken(requests: Sequence[SearchRequest], now: Any) -> Any:
        if left[0] and any(request.filters.truths == (truth,) for request in requests):
            left[0] -= 1
            raise StoreFailed("The database went away.", "Start it again.")
        return search(requests, now)

    monkeypatch.setattr(library.workbench.search._pipeline, "search_many", broken)


def test_the_switch_writes_the_view_into_the_url_and_keeps_question_and_filters(
    expenses: Stack, opened: Opened
) -> None:
    screen = opened("search.py", q=QUESTION, jurisdictions=["global"])
    assert screen.segmented_control(key="search.view").value == "results"
    screen.segmented_control(key="search.view").set_value("five").run()
    assert screen.query_params["view"] == "five" and screen.query_params["q"] == QUESTION
    assert screen.query_params["jurisdictions"] == "global"
    assert "Confidence" in [metric.label for metric in screen.metric]
    screen.segmented_control(key="search.view").set_value("results").run()
    assert "view" not in screen.query_params and screen.text_input(key="question").value == QUESTION


def test_an_unknown_view_is_the_results(expenses: Stack, opened: Opened) -> None:
    assert opened("search.py", q=QUESTION, view="odd").segmented_control(key="search.view").value == "results"


def test_without_a_question_the_switch_waits(expenses: Stack, opened: Opened) -> None:
    screen = opened("search.py", view="five")
    assert "Ask a question above" in words(screen)
    screen.text_input(key="question").set_value(QUESTION).run()
    assert not screen.exception and screen.query_params["view"] == "five" and screen.metric


def test_each_truth_has_its_sentences_and_a_way_to_inspect_each(expenses: Stack, opened: Opened) -> None:
    screen = opened("search.py", q=QUESTION, view="five")
    for truth in ("Regulatory", "Compliance", "Intent", "Reference", "Reality"):
        assert re.search(rf"-badge\[:material/\w+: {truth}\]", words(screen)), truth
    quotes = [re.sub(r":primary-background\[\*\*(\w+)\*\*\]", r"\1", str(each.value)) for each in screen.markdown]
    assert f"“{RULE[:-1]}\\.”" in quotes
    links = [link.proto.query_string for link in screen.page_link if link.label == "rule\\.md"]
    assert links and "truths=regulatory" in links[0] and "passage=" in links[0]


def test_silence_says_what_to_obtain(expenses: Stack, opened: Opened) -> None:
    text = shown(opened("search.py", q=QUESTION, view="five"))
    assert "**Probably no reality source answers this.**" in text
    assert "Obtain an export of the records or the set-up table" in text
    assert "Missing for a complete answer" in text


def test_both_sides_of_conflicts_and_agreements_are_quoted(expenses: Stack, opened: Opened) -> None:
    text = shown(opened("search.py", q=QUESTION, view="five"))
    assert "Where they disagree" in text and "Where they agree" in text
    for conflict in answer_of(expenses).conflicts:
        assert conflict.words in text
    assert text.count("reports :primary-background[**within 60 days**]") >= 1
    assert text.count("reports :primary-background[**within 30 days**]") >= 3


def test_each_side_of_a_conflict_opens_in_its_document(expenses: Stack, opened: Opened) -> None:
    screen = opened("search.py", q=QUESTION, view="five")
    sides = [side for each in answer_of(expenses).conflicts for side in (each.first, each.second)]
    places = [each.proto.query_string for each in screen.page_link if each.label.startswith(":small[")]
    assert sides and all(any(f"mark={side.citation.citation_id}" in place for place in places) for side in sides)


def test_confidence_is_a_number_with_its_reason(expenses: Stack, opened: Opened) -> None:
    screen = opened("search.py", q=QUESTION, view="five")
    answer = answer_of(expenses)
    assert float(screen.metric[0].value) == pytest.approx(answer.confidence, abs=0.01)
    assert answer.confidence_reason in shown(screen)


def test_a_failed_truth_is_failed_and_not_silent_and_can_be_retried(
    expenses: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_truth(expenses, monkeypatch, "compliance", times=2)  # all at once, then alone
    screen = opened("search.py", q=QUESTION, view="five")
    assert "could not be searched" in screen.error[0].value and "Start it again" in screen.error[0].value
    assert words(screen).count("The database went away") == 1
    assert "no compliance source answers this" not in words(screen)
    assert f"“{RULE[:9]}" in re.sub(r":primary-background\[\*\*(\w+)\*\*\]", r"\1", words(screen))
    screen.button(key="retry.compliance").click().run()
    assert not screen.error and "within 60 days" in shown(screen)


def test_a_search_that_fails_for_every_truth_is_told_once(
    expenses: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    for truth in Truth:
        break_truth(expenses, monkeypatch, truth.value)
    screen = opened("search.py", q=QUESTION, view="five")
    assert words(screen).count("The database went away") == 1 and screen.button(key="retry")


def test_a_truth_the_filters_leave_out_was_not_asked(expenses: Stack, opened: Opened) -> None:
    text = shown(opened("search.py", q=QUESTION, view="five", truths=["regulatory", "compliance"]))
    assert "Reality not asked" in text and "The filters leave this truth out." in text
    assert "No reality source" not in text


def test_a_figure_stands_with_its_query_and_leads_to_the_tables(
    expenses: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    figure = Figure("late *reports*", "37", "SELECT count(*) FROM expenses", "expenses", "[expenses.csv]", 1)
    _count(expenses, figure, monkeypatch)
    screen = opened("search.py", q=QUESTION, view="five", projects=["Tallgrass"])
    assert "37" in [metric.value for metric in screen.metric]
    assert "late \\*reports\\*" in words(screen) and figure.sql in [each.value for each in screen.code]
    (link,) = [link for link in screen.page_link if link.label == "Ask the tables"]
    assert "view=Ask" in link.proto.query_string and "project=Tallgrass" in link.proto.query_string


def _count(library: Stack, figure: Figure, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library.workbench.answers, "figures", lambda question, project: (figure,))


def test_tables_that_do_not_answer_are_told_by_reality(
    expenses: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dead() -> None:
        raise StoreFailed("The tables did not answer.", "Start their database.")

    monkeypatch.setattr(expenses.workbench.tables._store, "tables", dead)
    screen = opened("search.py", q=QUESTION, view="five")
    assert not screen.warning and shown(screen).count("The tables did not answer") == 1
    assert "within 60 days" in shown(screen) and "no reality source answers this" not in shown(screen)
    assert screen.button(key="retry.reality")


def test_text_with_markup_is_shown_as_it_stands(stocked: Stack, opened: Opened) -> None:
    (hostile,) = [each for each in stocked.workbench.documents.list() if each.name == "hostile_notes.md"]
    stocked.workbench.documents.correct(hostile.id, "truth", "reference")
    text = words(opened("search.py", q="overtime rate per hour", view="five"))
    assert "bold" in text and "<b>" not in text
    assert "\\[link\\]\\(javascript" in text


def test_documents_of_unknown_truth_are_not_passed_over_in_silence(stocked: Stack, opened: Opened) -> None:
    stocked.add("scan.txt", "Overtime. Blue. Seven.")
    unknown = stocked.workbench.documents.statistics().by_truth[None]
    assert unknown and f"{unknown} document" in shown(opened("search.py", q="overtime", view="five"))


def test_the_brief_leaves_in_three_formats(expenses: Stack, opened: Opened) -> None:
    screen = opened("search.py", q=QUESTION, view="five")
    assert {each.label.split()[0] for each in screen.download_button} == {"Markdown", "HTML", "JSON"}


def test_the_context_block_holds_every_id_with_and_without_its_rules(expenses: Stack, opened: Opened) -> None:
    screen = opened("search.py", q=QUESTION, view="five")
    ids = {citation.citation_id for each in answer_of(expenses).truths for citation in each.citations}
    (block,) = [each.value for each in screen.code if "# regulatory" in each.value]
    assert ids and all(f"[{name}]" in block for name in ids) and f"Question: {QUESTION}" in block
    screen.toggle(key="answer.rules").set_value(False).run()
    (bare,) = [each.value for each in screen.code if "# regulatory" in each.value]
    assert bare.startswith("# regulatory")


def test_a_pasted_answer_is_checked_sentence_by_sentence(expenses: Stack, opened: Opened) -> None:
    screen = opened("search.py", q=QUESTION, view="five")
    (name,) = [each.citation_id for each in answer_of(expenses).truths[0].citations if "30 days" in each.quote]
    text = f"{RULE} [{name}] They are due within 5 days [{name}]. Nobody *checks* them [999.7]."
    screen.text_area(key="answer.text").set_value(text)
    screen.button(key="answer.do_check").click().run()
    shown_text = shown(screen)
    assert "**3 sentences**, 2 not supported by what it cites" in shown_text
    assert (
        "Ids that do not exist here: 999.7" in shown_text and "[999.7] is not among the sentences given." in shown_text
    )
    assert "“within 5 days” is not in what it cites." in shown_text
    assert "supported 1.00" in shown_text and "Nobody \\*checks\\* them" in words(screen)


def test_a_check_belongs_to_its_question(expenses: Stack, opened: Opened) -> None:
    screen = opened("search.py", q=QUESTION, view="five")
    screen.text_area(key="answer.text").set_value("All is well [1.0].")
    screen.button(key="answer.do_check").click().run()
    assert "1 sentence" in shown(screen)
    screen.text_input(key="question").set_value("What does the customer want?").run()
    assert "1 sentence" not in shown(screen)


def test_nothing_to_check_is_said(expenses: Stack, opened: Opened) -> None:
    screen = opened("search.py", q=QUESTION, view="five")
    screen.text_area(key="answer.text").set_value(" ... [1.0] ")
    screen.button(key="answer.do_check").click().run()
    assert any("no sentence" in each.value for each in screen.info)


def test_without_a_language_model_nothing_offers_to_write(expenses: Stack, opened: Opened) -> None:
    screen = opened("search.py", q=QUESTION, view="five")
    assert "Write a synthesis" not in [button.label for button in screen.button]


def written(library: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch, model: Behaviour) -> AppTest:
    """The page after the model was asked to write."""
    monkeypatch.setattr(library.workbench.answers, "writer", model.endpoint(timeout_seconds=1.0))
    screen = opened("search.py", q=QUESTION, view="five")
    screen.button(key="answer.write").click().run()
    assert not screen.exception and KEY not in shown(screen)
    return screen


def test_what_a_language_model_adds_is_marked(expenses: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = [each.citation_id for each in answer_of(expenses).truths[0].citations if "30 days" in each.quote]
    text = f"{RULE[:-1]} [{name}]. Late reports cost $500 [{name}]."
    with served(Behaviour(completion(text))) as model:
        screen = written(expenses, opened, monkeypatch, model)
        screen.run()
        assert len(model.requests) == 1
    shown_text = shown(screen)
    assert "1 of 2 sentences by tiny at 127.0.0.1 is not supported" in shown_text
    assert "“$500” is not in what it cites." in shown_text and "Written by tiny at 127.0.0.1." in shown_text


@pytest.mark.parametrize("model", [Behaviour(status=500), Behaviour(body=b"no json"), Behaviour(silent=True)])
def test_a_language_model_that_fails_leaves_the_sources_own_words(
    expenses: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch, model: Behaviour
) -> None:
    with served(model):
        screen = written(expenses, opened, monkeypatch, model)
    assert any("made of the sentences found alone" in each.value for each in screen.warning)
    assert "In the words of the sources." in shown(screen)


def test_a_question_nothing_answers_shows_five_silences(expenses: Stack, opened: Opened) -> None:
    screen = opened("search.py", q="zebra xylophone quark", view="five")
    assert words(screen).count("source answers this.**") == 5 and not screen.error
    assert screen.metric[0].value == "0.00"


def test_a_very_long_question_is_no_error(stocked: Stack, opened: Opened) -> None:
    assert not opened("search.py", q="overtime " * 400, view="five").exception
