"""Upload: originals are stored, each file tells what became of it, labels are corrected on the spot."""

from core.documents import DocumentState
from tests.screens.conftest import LAW, POLICY, Opened, Shelf, words


def test_an_empty_list_says_what_to_do(shelf: Shelf, opened: Opened) -> None:
    assert "No files yet" in words(opened("upload.py"))


def test_good_files_are_read_although_bad_ones_stand_beside_them(shelf: Shelf, opened: Opened) -> None:
    screen = opened("upload.py")
    files = [
        ("policy.md", POLICY.encode(), "text/markdown"),
        ("empty.txt", b"", "text/plain"),
        ("broken.pdf", b"%PDF-1.7 no more", "application/pdf"),
        ("law.md", LAW.encode(), "text/markdown"),
    ]
    screen.file_uploader[0].set_value(files).run()
    next(each for each in screen.button if each.label == "Upload 4 files").click().run()
    states = {each.name: each.state for each in shelf.workbench.documents()}
    assert states == {"policy.md": "ready", "law.md": "ready", "broken.pdf": "failed"}
    assert "empty" in screen.error[0].value and "0 bytes" in screen.error[0].value.replace("\\", "")
    failed = next(each for each in shelf.workbench.documents() if each.state is DocumentState.FAILED)
    assert failed.remedy.split(".")[0] in words(screen).replace("\\", "")


def test_the_same_bytes_are_recognised(stocked: Shelf, opened: Opened) -> None:
    before = len(stocked.workbench.documents())
    screen = opened("upload.py")
    screen.file_uploader[0].set_value([("copy_of_law.md", LAW.encode(), "text/markdown")]).run()
    next(each for each in screen.button if each.label == "Upload 1 file").click().run()
    assert "already in the library" in screen.info[0].value
    assert "flsa" in screen.info[0].value
    assert len(stocked.workbench.documents()) == before


def test_a_running_job_shows_its_step_and_the_share_that_is_done(stocked: Shelf, opened: Opened) -> None:
    stocked.jobs.run = lambda document_id: None
    stocked.add("later.md", "# Later\nThis one waits for its turn.")
    screen = opened("upload.py")
    assert "4 of 5 files read" in screen.progress[0].text.replace("\\", "")
    assert "in progress: waiting" in " ".join(str(each.proto) for each in screen.markdown)


def test_a_failed_file_can_be_tried_again(shelf: Shelf, opened: Opened) -> None:
    shelf.add("broken.pdf", "%PDF-1.7 no more")
    tried: list[int] = []
    shelf.jobs.run = tried.append
    screen = opened("upload.py")
    next(each for each in screen.button if each.label == "Try again").click().run()
    assert tried == [shelf.workbench.documents()[0].id]


def test_a_label_that_is_right_is_confirmed_with_one_click(stocked: Shelf, opened: Opened) -> None:
    document = next(each for each in stocked.workbench.documents() if each.name == "flsa_section_207.md")
    given = document.labels.truth
    screen = opened("upload.py")
    screen.button(key=f"agree.{document.id}.truth").click().run()
    label = stocked.workbench.document(document.id).labels.truth
    assert (label.value, label.confirmed, given.confirmed) == (given.value, True, False)
    assert not [each for each in screen.button if each.key == f"agree.{document.id}.truth"]


def test_a_correction_is_confirmed_and_shown(stocked: Shelf, opened: Opened) -> None:
    document = next(each for each in stocked.workbench.documents() if each.name == "overtime_policy.md")
    screen = opened("upload.py")
    screen.selectbox(key=f"correct.{document.id}.truth").set_value("intent").run()
    label = stocked.workbench.document(document.id).labels.truth
    assert (label.value, label.confirmed) == ("intent", True)
    assert "confirmed by hand" in words(screen)


def test_the_least_sure_labels_come_first(stocked: Shelf, opened: Opened) -> None:
    documents = {each.id: each for each in stocked.workbench.documents()}
    keys = [each.key for each in opened("upload.py").selectbox if each.key and each.key.endswith(".truth")]
    shown = [documents[int(key.split(".")[1])].labels.truth for key in keys]
    doubts = [label.probability if label.value else -1.0 for label in shown]
    assert len(doubts) == 4 and doubts == sorted(doubts)
