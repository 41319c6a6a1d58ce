"""Upload: originals are stored, each file tells what became of it, labels are corrected on the spot."""

from datetime import UTC, datetime
from os import utime

from streamlit.testing.v1 import AppTest

from core.domain.documents import DocumentState
from core.domain.errors import FileTooCostly
from core.library.upload_queue import UploadQueueView
from core.ports.job_queue import FailedWork, JobKind
from pages.components.cards import unsure
from tests.screens.conftest import LAW, POLICY, Opened, Stack, uploaded_rows, words


def test_an_empty_list_says_what_to_do(library: Stack, opened: Opened) -> None:
    text = words(opened("upload.py"))
    assert "No files yet" in text and text.casefold().count("load the sample library") == 1


def test_good_files_are_read_although_bad_ones_stand_beside_them(library: Stack, opened: Opened) -> None:
    screen = opened("upload.py")
    files = [
        ("policy.md", POLICY.encode(), "text/markdown"),
        ("empty.txt", b"", "text/plain"),
        ("broken.pdf", b"%PDF-1.7 no more", "application/pdf"),
        ("law.md", LAW.encode(), "text/markdown"),
    ]
    screen.file_uploader[0].set_value(files).run()
    states = {each.name: each.state for each in library.workbench.documents.list()}
    assert states == {"policy.md": "ready", "law.md": "ready", "broken.pdf": "failed"}
    assert "Files over the limit above are not uploaded" in words(screen)
    assert "empty" in screen.error[0].value and "0 bytes" in screen.error[0].value.replace("\\", "")
    failed = next(each for each in library.workbench.documents.list() if each.state is DocumentState.FAILED)
    (row,) = [row for row in uploaded_rows(screen) if row["id"] == failed.id]
    (note,) = [words for _, words in row["notes"]]
    assert note.startswith(failed.failure.replace("'broken.pdf'", "It")) and failed.remedy.split(".")[0] in note


def test_the_same_bytes_are_recognised(stocked: Stack, opened: Opened) -> None:
    before = len(stocked.workbench.documents.list())
    screen = opened("upload.py")
    screen.file_uploader[0].set_value([("copy_of_law.md", LAW.encode(), "text/markdown")]).run()
    assert "already in the library" in screen.info[0].value
    assert "flsa" in screen.info[0].value
    assert len(stocked.workbench.documents.list()) == before


def test_a_known_file_of_the_same_name_is_named_once(stocked: Stack, opened: Opened) -> None:
    screen = opened("upload.py")
    screen.file_uploader[0].set_value([("flsa_section_207.md", LAW.encode(), "text/markdown")]).run()
    assert screen.info[0].value.count("flsa") == 1


def test_a_running_job_shows_its_step_and_the_share_that_is_done(stocked: Stack, opened: Opened) -> None:
    stocked.jobs.run = lambda document_id: None
    stocked.add("later.md", "# Later\nThis one waits for its turn.")
    screen = opened("upload.py")
    assert "0 of 1 file done" in screen.progress[0].text.replace("\\", "")
    assert "**4** read" in words(screen) and "**1** in progress" in words(screen)
    assert [row["state"] for row in uploaded_rows(screen)].count("Waiting") == 1


def test_a_failed_file_can_be_tried_again_where_that_can_help(library: Stack, opened: Opened) -> None:
    slow = library.add("slow.md", POLICY)
    library.stores.catalogue.mark(slow, step="read", unread=True)
    library.workbench.ingestion.fail(slow, FileTooCostly("Reading it took more than 60 seconds.", "Split it."))
    library.add("broken.pdf", "%PDF-1.7 no more")
    tried: list[int] = []
    library.jobs.run = tried.append
    screen = opened("upload.py")
    acts = {row["id"]: row["act"][0] for row in uploaded_rows(screen)}
    assert [each for each, act in acts.items() if act == "again"] == [slow] and len(acts) == 2
    pressed(screen, "Try 1 of 2 failed again")
    assert tried == [slow] and library.workbench.documents.get(slow).state is DocumentState.PENDING


def test_a_file_that_cannot_be_read_is_replaced_by_one_that_can(library: Stack, opened: Opened) -> None:
    broken = library.add("broken.pdf", "%PDF-1.7 no more", project="Tallgrass", tags=("rules",))
    screen = opened("upload.py", file=str(broken))
    labels = {each.label for each in screen.button}
    assert "Remove" in labels and not [each for each in labels if each.startswith("Try ")]
    _given(screen, broken, ("empty.md", b"", "text/markdown"))
    assert "0 bytes" in screen.error[0].value and library.workbench.documents.get(broken).state is DocumentState.FAILED
    _given(screen, broken, ("law.md", LAW.encode(), "text/markdown"))
    (document,) = library.workbench.documents.list()
    assert (document.name, document.state, document.project, document.tags) == (
        "law.md", DocumentState.READY, "Tallgrass", ("rules",),
    )  # fmt: skip
    assert not screen.error


def test_the_very_same_file_is_tried_once_more_and_not_lost(library: Stack, opened: Opened) -> None:
    broken = library.add("broken.pdf", "%PDF-1.7 no more")
    screen = opened("upload.py", file=str(broken))
    _given(screen, broken, ("copy.pdf", b"%PDF-1.7 no more", "application/pdf"))
    (document,) = library.workbench.documents.list()
    assert (document.id, document.state) == (broken, DocumentState.FAILED)
    assert "the very same file" in screen.toast[0].value.replace("\\", "")


def _given(screen: AppTest, document_id: int, file: tuple[str, bytes, str]) -> None:
    """A file is dropped where it would take a failed document's place."""
    key = f"replace.upload.{document_id}.file."
    next(each for each in screen.file_uploader if str(each.key).startswith(key)).set_value(file)
    screen.run()


def test_the_least_sure_labels_come_first(stocked: Stack, opened: Opened) -> None:
    documents = {each.id: each for each in stocked.workbench.documents.list()}
    shown = [documents[row["id"]].labels.truth for row in uploaded_rows(opened("upload.py"))]
    doubts = [label.probability if label.value else -1.0 for label in shown]
    assert len(doubts) == 4 and doubts == sorted(doubts)


def test_a_row_tells_state_truth_pages_passages_and_warnings(stocked: Stack, opened: Opened) -> None:
    torn = stocked.add("torn.pdf", "%PDF-1.7 no more")
    stocked.add("copy.md", POLICY + "One more line.\n")
    known = {each.id: each for each in stocked.workbench.documents.list()}
    found = {row["id"]: row for row in uploaded_rows(opened("upload.py"))}
    for document_id, row in found.items():
        label, read = known[document_id].labels.truth, document_id != torn
        assert row["state"] == ("Read" if read else "Failed") and row["act"][0] == "opened"
        assert row["truth"] == (
            f"{label.value.capitalize()} {label.probability:.0%}" if label.value else "Unknown" * read
        )
        assert row["passages"] == (str(known[document_id].passages) if read else "")
        assert row["uncertain"] == (read and unsure(known[document_id]))
    assert found[torn]["notes"][0][0] == "failed"
    assert found[torn]["notes"][0][1].startswith(known[torn].failure.replace("'torn.pdf'", "It"))
    (copy,) = [row for row in found.values() if row["name"] == "copy.md"]
    assert "overtime_policy.md" in copy["notes"][0][1]


def pressed(screen: AppTest, label: str) -> AppTest:
    """The page after its button of this label was pressed."""
    next(each for each in screen.button if each.label == label).click()
    return screen.run()


def test_a_long_list_is_shown_page_by_page_and_narrowed_by_kind_and_name(library: Stack, opened: Opened) -> None:
    for number in range(30):
        library.add(f"law {number:02}.md", LAW.replace("207", str(number)))
    library.add("broken.pdf", "%PDF-1.7 no more")
    screen = opened("upload.py")
    screen.query_params["page"] = "2"
    screen.run()
    assert "26–31 of 31 files" in words(screen) and len(uploaded_rows(screen)) == 6
    narrowed = opened("upload.py", show="failed")
    assert [row["name"] for row in uploaded_rows(narrowed)] == ["broken.pdf"]
    (kinds,) = [each for each in narrowed.segmented_control if each.key == "upload.shown"]
    kinds.set_value(UploadQueueView.ALL).run()
    narrowed.text_input(key="upload.words").set_value("LAW 07").run()
    assert [row["name"] for row in uploaded_rows(narrowed)] == ["law 07.md"]
    assert narrowed.query_params["words"] == "LAW 07" and "show" not in narrowed.query_params


def test_a_kind_without_files_says_so(stocked: Stack, opened: Opened) -> None:
    assert "No file among “Failed”" in words(opened("upload.py", show="failed"))


def test_one_file_or_all_can_be_stopped_and_tried_again(stocked: Stack, opened: Opened) -> None:
    stocked.jobs.held = True
    ids = [stocked.add(f"later {number}.md", f"# Later {number}\nIt waits for its turn.") for number in range(3)]
    screen = opened("upload.py", file=str(ids[0]))
    screen.button(key=f"stop.{ids[0]}").click().run()
    stopped = stocked.workbench.documents.get(ids[0])
    assert (stopped.state, stopped.step) == ("failed", "stopped")
    (row,) = [row for row in uploaded_rows(screen) if row["id"] == ids[0]]
    assert row["state"] == "Stopped" and "You stopped it" in row["notes"][0][1]
    pressed(screen, "Stop all")
    assert {stocked.workbench.documents.get(each).state for each in ids} == {"failed"} and stocked.jobs.waiting() == 0
    narrowed = opened("upload.py", words="later 1")  # what is tried again are all that failed, and it says so
    assert "Try all 3 failed again" in {each.label for each in narrowed.button}
    pressed(screen, "Try all 3 failed again")
    stocked.jobs.run_held()
    assert {stocked.workbench.documents.get(each).state for each in ids} == {"ready"}


def test_certain_labels_are_confirmed_with_one_click_and_uncertain_ones_never(stocked: Stack, opened: Opened) -> None:
    known = [each for each in stocked.workbench.documents.list() if each.labels.truth.value]
    doubtful = {each.id for each in known if unsure(each)}
    assert 0 < len(doubtful) < len(known)
    screen = opened("upload.py")
    next(each for each in screen.button if each.key == "upload.confirm").click().run()
    confirmed = {each.id for each in stocked.workbench.documents.list() if each.labels.truth.confirmed}
    assert confirmed == {each.id for each in known} - doubtful
    assert not [each for each in screen.button if each.key == "upload.confirm"]


def test_details_are_set_for_all_files_just_uploaded(library: Stack, opened: Opened) -> None:
    other = library.add("other.md", "# Other\nThis one keeps its labels.", project="Tallgrass")
    screen = opened("upload.py")
    files = [("policy.md", POLICY.encode(), "text/markdown"), ("law.md", LAW.encode(), "text/markdown")]
    screen.file_uploader[0].set_value(files).run()
    screen.selectbox(key="upload.details.project").set_value("Tallgrass")
    screen.multiselect(key="upload.details.tags").set_value(["2026"])
    screen.selectbox(key="upload.details.jurisdiction").set_value("state:CA")
    pressed(screen, "Set for 2 files")
    assert not screen.error
    documents = [each for each in library.workbench.documents.list() if each.id != other]
    assert len(documents) == 2 and not library.workbench.documents.get(other).tags
    assert {(each.project, each.tags, each.labels.jurisdiction.value) for each in documents} == {
        ("Tallgrass", ("2026",), "state:CA"),
    }


def test_an_invalid_detail_is_told_and_nothing_is_set(library: Stack, opened: Opened) -> None:
    other = library.add("other.md", "# Other\nIts project can be chosen.", project="Tallgrass")
    screen = opened("upload.py")
    files = [("policy.md", POLICY.encode(), "text/markdown"), ("law.md", LAW.encode(), "text/markdown")]
    screen.file_uploader[0].set_value(files).run()
    screen.selectbox(key="upload.details.project").set_value("Tallgrass")
    screen.multiselect(key="upload.details.tags").set_value(["2026" * 16])
    pressed(screen, "Set for 2 files")
    (text,) = [each.value for each in screen.warning if "Nothing was set" in each.value]
    assert text.count("too long tags") == 1
    assert _details_but_of(library, other) == {(None, ())}
    assert screen.selectbox(key="upload.details.project").value == "Tallgrass"
    screen.multiselect(key="upload.details.tags").set_value(["2026"])
    pressed(screen, "Set for 2 files")
    assert _details_but_of(library, other) == {("Tallgrass", ("2026",))}
    assert screen.selectbox(key="upload.details.project").value is None


def _details_but_of(library: Stack, other: int) -> set[tuple[str | None, tuple[str, ...]]]:
    """Project and tags of all documents but this one."""
    return {(each.project, each.tags) for each in library.workbench.documents.list() if each.id != other}


def test_work_that_failed_in_the_background_is_told_and_can_be_tried_again(library: Stack, opened: Opened) -> None:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    library.jobs.give_up(FailedWork(JobKind.FEED, 7, at, "The server does not answer.", "Wait."))
    done: list[int] = []
    library.jobs.work = lambda kind, number: done.append(number)
    screen = opened("upload.py")
    assert "The server does not answer" in words(screen)
    pressed(screen, "Try again")
    assert done == [7] and "The server does not answer" not in words(screen)


def test_a_folder_is_watched_and_its_files_come_in(library: Stack, opened: Opened) -> None:
    (root,) = library.workbench.folders.roots
    share = root / "share"
    share.mkdir()
    path = share / "law.md"
    path.write_text(LAW, "utf-8")
    utime(path, (1_000_000_000, 1_000_000_000))
    screen = opened("upload.py")
    screen.session_state["folders.shown"] = True
    screen.run()
    assert "No folder is watched yet" in words(screen)
    next(each for each in screen.selectbox if each.label == "Folder on the server").set_value(str(share))
    next(each for each in screen.button if each.label == "Watch").click()
    for _ in range(2):  # the second time after the page has run itself again
        screen.session_state["folders.shown"] = True
        screen.run()
    assert "1 file taken in" in words(screen)
    assert [each.name for each in library.workbench.documents.list()] == ["law.md"]
