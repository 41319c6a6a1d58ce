"""Upload: labels are checked beside the text, one document after the other, and every change can be undone."""

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.documents import Evidence, EvidenceSource, Label
from core.library.documents import DocumentService
from core.library.upload_queue import UploadQueueView
from pages.components.cards import SURE
from pages.components.upload.evidence import excerpts, quotes_of, text_data
from tests.screens.conftest import POLICY, Opened, Stack, words


def text_of(screen: AppTest) -> str:
    return words(screen).replace("\\", "")


def component(screen: AppTest, name: str) -> dict[str, Any]:
    """What a component of the page is drawn from."""
    (found,) = [each.proto for each in screen.get("bidi_component") if each.proto.component_name == name]
    data: dict[str, Any] = json.loads(found.json)
    return data


def uncertain(library: Stack) -> list[int]:
    """The documents whose truth is uncertain, in the order of the list."""
    queue = library.workbench.upload_queue
    return [each.id for each in queue.page(UploadQueueView.DOUBTFUL, "", SURE, 100, 0)]


def named(library: Stack, name: str) -> int:
    return next(each.id for each in library.workbench.documents.list() if each.name == name)


def chosen(screen: AppTest, document_id: int) -> bool:
    """Whether another value is chosen for a document and not saved."""
    return "Choose another value" not in screen.button(key=f"save.{document_id}").help


def history(library: Stack) -> list[str]:
    return [each.what for each in library.workbench.bulk_edit.history()]


def test_the_uncertain_labels_are_checked_one_after_the_other(stocked: Stack, opened: Opened) -> None:
    ids = uncertain(stocked)
    assert len(ids) >= 2
    screen = opened("upload.py")
    screen.button(key="upload.check").click().run()
    names = {each.id: each.name for each in stocked.workbench.documents.list()}
    for place, document_id in enumerate(ids, start=1):
        assert f"{place} of {len(ids)} uncertain" in text_of(screen) and f"**{names[document_id]}**" in text_of(screen)
        assert screen.query_params["file"] == str(document_id)
        if place < len(ids):
            screen.button(key="check.arrow_forward").click().run()
    assert screen.button(key="check.arrow_forward").disabled
    screen.button(key="check.arrow_back").click().run()
    assert f"{len(ids) - 1} of {len(ids)} uncertain" in text_of(screen)
    screen.button(key="check.close").click().run()
    assert "file" not in screen.query_params and component(screen, "fivefold_files")["rows"]


def test_all_uncertain_labels_are_checked_whatever_the_list_is_narrowed_to(stocked: Stack, opened: Opened) -> None:
    ids = uncertain(stocked)
    screen = opened("upload.py", words="no such name")
    screen.button(key="upload.check").click().run()
    assert f"1 of {len(ids)} uncertain" in text_of(screen)


def test_the_rows_of_a_table_are_lines_of_their_own(library: Stack) -> None:
    rows = "\n".join(f"name: Worker {number}; shift: day; pay: {number}" for number in range(4))
    document_id = library.add(
        "rota.csv", "name,shift,pay\n" + "\n".join(f"Worker {each},day,{each}" for each in range(4))
    )
    document = library.workbench.documents.get(document_id)
    drawn = ["".join(run[0] for run in block) for block in text_data(document, {1: rows}, [])["parts"][0]["blocks"]]
    assert drawn == rows.split("\n")


def test_a_label_is_confirmed_as_proposed_and_undone(stocked: Stack, opened: Opened) -> None:
    document_id = named(stocked, "overtime_policy.md")
    before = stocked.workbench.documents.get(document_id).labels
    screen = opened("upload.py", file=str(document_id))
    screen.button(key=f"confirm.{document_id}").click().run()
    after = stocked.workbench.documents.get(document_id).labels
    assert (after.truth.value, after.truth.confirmed) == (before.truth.value, True)
    assert after.authority == before.authority, "only what was looked at is confirmed"
    assert "Saved **overtime_policy.md**" in text_of(screen)
    assert screen.query_params.get("file") != str(document_id), "the next document comes"
    screen.button(key="upload.undo").click().run()
    assert stocked.workbench.documents.get(document_id).labels == before
    assert screen.query_params["file"] == str(document_id) and "upload.undo" not in {b.key for b in screen.button}
    assert len(history(stocked)) == 1


def test_corrections_are_saved_together_and_undone_together(stocked: Stack, opened: Opened) -> None:
    document_id = named(stocked, "flsa_section_207.md")
    before = stocked.workbench.documents.get(document_id).labels
    screen = opened("upload.py", file=str(document_id))
    assert not chosen(screen, document_id)
    screen.button(key=f"truth.{document_id}.intent").click().run()
    next(each for each in screen.selectbox if each.label.startswith("Authority")).set_value("vendor").run()
    assert stocked.workbench.documents.get(document_id).labels == before, "nothing is saved before it is asked for"
    assert screen.button(key=f"confirm.{document_id}").disabled
    screen.button(key=f"save.{document_id}").click().run()
    after = stocked.workbench.documents.get(document_id).labels
    assert [(each.value, each.confirmed) for each in (after.truth, after.authority)] == [
        ("intent", True),
        ("vendor", True),
    ]
    assert after.domain == before.domain and history(stocked) == ["Labels corrected"]
    screen.button(key="upload.undo").click().run()
    assert stocked.workbench.documents.get(document_id).labels == before


def test_a_correction_never_reaches_the_next_document(stocked: Stack, opened: Opened) -> None:
    second, first = (stocked.add(name, f"# {name}\nNothing much.\n") for name in ("plain two.md", "plain one.md"))
    screen = opened("upload.py", show="doubtful", words="plain", file=str(first))
    assert "1 of 2 uncertain" in text_of(screen) and "**plain one.md**" in text_of(screen)
    screen.button(key=f"truth.{first}.intent").click().run()
    screen.button(key="check.arrow_forward").click().run()
    assert "**plain two.md**" in text_of(screen) and not chosen(screen, second)
    screen.button(key="check.arrow_back").click().run()
    assert not chosen(screen, first), "what was not saved is forgotten"
    screen.button(key=f"truth.{first}.intent").click().run()
    screen.button(key=f"save.{first}").click().run()
    assert "**plain two.md**" in text_of(screen) and "2 of 2 uncertain" in text_of(screen)
    assert not chosen(screen, second)
    labels = stocked.workbench.documents.get(second).labels
    assert not labels.truth.confirmed
    screen.button(key=f"truth.{second}.reference").click().run()
    screen.button(key=f"save.{second}").click().run()
    assert "You went through all of them" in text_of(screen)
    values = [stocked.workbench.documents.get(each).labels.truth.value for each in (first, second)]
    assert values == ["intent", "reference"]
    for document_id in (second, first):
        screen.button(key="upload.undo").click().run()
        assert screen.query_params["file"] == str(document_id)
        assert not chosen(screen, document_id), "what was undone is not chosen any more"
    assert not [each for each in (first, second) if stocked.workbench.documents.get(each).labels.truth.confirmed]
    screen.button(key="check.close").click().run()
    assert screen.text_input(key="upload.words").value == "plain"
    assert [row["id"] for row in component(screen, "fivefold_files")["rows"]] == [first, second]


def test_saving_what_was_not_changed_changes_nothing(stocked: Stack, opened: Opened) -> None:
    document_id = named(stocked, "overtime_policy.md")
    screen = opened("upload.py", file=str(document_id))
    screen.button(key=f"save.{document_id}").click().run()
    assert "Nothing was changed" in screen.toast[0].value and not history(stocked)
    assert screen.query_params["file"] == str(document_id)


def test_another_label_is_confirmed_in_place_and_given_back(stocked: Stack, opened: Opened) -> None:
    document_id = named(stocked, "overtime_policy.md")
    screen = opened("upload.py", file=str(document_id))
    screen.button(key=f"icon.check.{document_id}.authority").click().run()
    assert stocked.workbench.documents.get(document_id).labels.authority.confirmed
    assert screen.query_params["file"] == str(document_id), "its truth is still to be checked"
    screen.button(key=f"icon.undo.{document_id}.authority").click().run()
    assert not stocked.workbench.documents.get(document_id).labels.authority.confirmed


def test_a_date_that_is_none_is_told_and_nothing_is_saved(stocked: Stack, opened: Opened) -> None:
    document_id = named(stocked, "overtime_policy.md")
    before = stocked.workbench.documents.get(document_id).labels
    screen = opened("upload.py", file=str(document_id))
    (field,) = [each for each in screen.text_input if each.label.startswith("Effective date")]
    field.set_value("next spring").run()
    screen.button(key=f"save.{document_id}").click().run()
    assert "next spring" in screen.warning[0].value
    assert stocked.workbench.documents.get(document_id).labels == before
    assert screen.query_params["file"] == str(document_id)
    (field,) = [each for each in screen.text_input if each.label.startswith("Effective date")]
    field.set_value("2026-06").run()
    screen.button(key=f"save.{document_id}").click().run()
    assert stocked.workbench.documents.get(document_id).labels.effective_date.value == "2026-06"


def test_a_document_deleted_while_its_labels_are_open_is_told(stocked: Stack, opened: Opened) -> None:
    document_id = named(stocked, "overtime_policy.md")
    screen = opened("upload.py", file=str(document_id))
    stocked.workbench.bulk_edit.delete(document_id)
    screen.button(key=f"confirm.{document_id}").click().run()
    assert "no longer in the library" in " ".join(each.value for each in screen.warning)
    assert history(stocked) == ["Deleted"]
    assert document_id not in {row["id"] for row in component(screen, "fivefold_files")["rows"]}
    screen.run()
    assert not screen.warning and not screen.exception


def test_a_document_that_is_still_read_is_not_checked_yet(stocked: Stack, opened: Opened) -> None:
    stocked.jobs.held = True
    document_id = stocked.add("later.md", "# Later\nIt waits for its turn.")
    screen = opened("upload.py", file=str(document_id))
    assert "as soon as it is read" in text_of(screen) and not [
        b for b in screen.button if b.key == f"confirm.{document_id}"
    ]
    stocked.jobs.run_held()
    screen.run()
    assert [b for b in screen.button if b.key == f"confirm.{document_id}"]


def test_a_document_without_text_can_be_labelled(
    stocked: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    document_id = named(stocked, "overtime_policy.md")
    monkeypatch.setattr(DocumentService, "texts", lambda self, document: {1: " \n"})
    screen = opened("upload.py", file=str(document_id))
    assert "No text was found in this file" in text_of(screen)
    screen.button(key=f"truth.{document_id}.reality").click().run()
    screen.button(key=f"save.{document_id}").click().run()
    assert stocked.workbench.documents.get(document_id).labels.truth.value == "reality"


def test_the_quotes_are_marked_in_the_text_letter_for_letter(stocked: Stack, opened: Opened) -> None:
    document_id = named(stocked, "overtime_policy.md")
    screen = opened("upload.py", file=str(document_id))
    text, reasons = component(screen, "fivefold_label_text"), component(screen, "fivefold_label_quotes")
    drawn = [run for part in text["parts"] for block in part["blocks"] for run in block]
    assert POLICY.split("\n")[1] in " ".join("".join(run[0] for run in drawn).split("\n"))
    listed = {quote["number"]: quote["words"] for group in reasons["groups"] for quote in group["quotes"]}
    marked = {run[1] for run in drawn if run[1]}
    assert marked and marked == {number for number in listed if number}
    document = stocked.workbench.documents.get(document_id)
    shares = [quote["share"] for quote in reasons["groups"][0]["quotes"] if quote["share"] is not None]
    assert reasons["groups"][0]["title"].startswith("Truth:") and 0 < sum(shares) <= 1.001
    for quote in quotes_of(document, {1: "no such words"}):
        assert quote.number is None and quote.page is None


def test_a_long_text_is_cut_to_what_surrounds_the_quotes(stocked: Stack) -> None:
    document = stocked.workbench.documents.get(named(stocked, "overtime_policy.md"))
    quote = "Workers want a seat at the window."
    texts = {1: "Opening words. " * 300, 2: "", 3: f"{'Filler. ' * 900}{quote} {'More filler. ' * 900}"}
    evidence = Evidence(quote, EvidenceSource.TEXT, "intent", 1.0, "reads like intent")
    labels = type(document.labels)(truth=Label("intent", 0.5, evidence=(evidence,)))
    own = type(document)(
        1, "long.pdf", "", 1, document.state, document.uploaded_at, "application/pdf", True, labels=labels, pages=3
    )
    quotes = quotes_of(own, texts)
    found = excerpts(texts, quotes)
    assert [page for page, _, _ in found] == [1, 3] and sum(end - start for _, start, end in found) < 2_500
    data = text_data(own, texts, quotes)
    assert [part["title"] for part in data["parts"]] == ["Page 1", "Page 3"] and data["colour"] == "orange"
    marks = [run for part in data["parts"] for block in part["blocks"] for run in block if run[1]]
    assert [(words, number) for words, number, *_ in marks] == [(quote, 1)]
