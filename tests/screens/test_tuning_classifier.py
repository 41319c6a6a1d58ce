"""The classifier's room: what to do first, asking with progress, numbers that are honest, and a way to each mistake."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.documents import Truth
from core.domain.errors import ModelUnavailable
from core.evaluation.metrics.classifier_report import ABSTAINED, CalibrationBin, ClassifierReport, LabelRate
from pages.components import session
from pages.components.tuning import charts
from tests.evaluation.test_confirmed import FirstWord, LabelledCatalogue, opinion, reported
from tests.screens.conftest import LAW, POLICY, Stack, words

Entered = Callable[[], AppTest]

SCRIPT = """
from pathlib import Path
import streamlit as st
from pages.components.tuning.classifier import view

place = Path(__file__).parents[1]
rooms = [st.Page(place / f"{name}.py", title=name) for name in ("home", "library", "upload")]
st.navigation([st.Page(view, title="Tuning", default=True), *rooms]).run()
"""


@pytest.fixture
def entered(tmp_path: Path) -> Entered:
    """Enter the room by itself, among pages to link to."""
    place = tmp_path / "app" / "frame"
    place.mkdir(parents=True)
    (place / "main.py").write_text(SCRIPT, "utf-8")
    for name in ("home", "library", "upload"):
        (place.parent / f"{name}.py").write_text("import streamlit as st\n", "utf-8")
    session._own.clear()
    return lambda: AppTest.from_file(str(place / "main.py"), default_timeout=60).run()


@pytest.fixture
def look(entered: Entered) -> Entered:
    """Enter the room and wait until nothing is asked any more."""
    return lambda: settled(entered())


def settled(screen: AppTest) -> AppTest:
    """The room once the classifier has said all it was asked."""
    deadline = time.monotonic() + 30
    while screen.get("progress") and time.monotonic() < deadline:
        time.sleep(0.02)
        screen.run()
    assert not screen.exception, screen.exception[0].value
    return screen


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> LabelledCatalogue:
    """A library whose classifier says what stands in the documents, behind the room."""
    library = LabelledCatalogue(Waiting())
    lessons = SimpleNamespace(newest=lambda: None)
    room = SimpleNamespace(evaluation=SimpleNamespace(classifier=library.desk), active_learning=lessons)
    monkeypatch.setattr(session, "workbench", lambda: room)
    return library


class Waiting(FirstWord):
    """Goes on only when it may."""

    def __init__(self) -> None:
        super().__init__()
        self.may, self.started = threading.Event(), threading.Event()
        self.may.set()

    def labels(self, *arguments: object):  # type: ignore[no-untyped-def]
        self.started.set()
        assert self.may.wait(30)
        return super().labels(*arguments)  # type: ignore[arg-type]


def numbers(screen: AppTest) -> dict[str, str]:
    """Label → value of the headline."""
    return {each.label: each.value for each in screen.metric}


def test_an_empty_library_says_what_to_do(judged: LabelledCatalogue, look: Entered) -> None:
    assert "No document has been read yet" in words(look())


def test_without_a_confirmed_truth_the_room_says_where_to_confirm(judged: LabelledCatalogue, look: Entered) -> None:
    judged.add("guessed.md", "intent 0.9")
    screen = look()
    assert "No truth is confirmed yet" in words(screen)
    assert [each.label for each in screen.get("page_link")] == ["Open Library", "Open Upload"]
    assert judged.classifier.read == []


def test_the_headline_counts_abstentions_as_wrong(judged: LabelledCatalogue, look: Entered) -> None:
    judged.judged("right.md", "intent 0.9", truth="intent")
    judged.judged("wrong.md", "regulatory 0.85", truth="intent", domain="time")
    judged.judged("unsure.md", "intent 0.4 unsure", truth="intent")
    judged.add("guessed.md", "intent 0.9")
    screen = look()
    shown = numbers(screen)
    assert (shown["Judged"], shown["Accuracy"], shown["Of the decided"]) == ("3 of 4", "33%", "50%")
    assert (shown["Abstained"], shown["Confident and wrong"]) == ("1", "1")
    assert "1 confirmed as predicted today, 2 corrected" in words(screen)
    assert "domain right 0 of 1" in words(screen)
    assert any("Few documents are confirmed" in each.value for each in screen.warning)


def test_every_mistake_leads_to_its_document(judged: LabelledCatalogue, look: Entered) -> None:
    judged.judged("mild *mistake*.md", "reference 0.6", truth="intent")
    judged.judged("bad.md", "regulatory 0.95", truth="intent")
    judged.judged("unsure.md", "intent 0.4 unsure", truth="intent")
    judged.judged("right.md", "intent 0.9", truth="intent")
    links = look().get("page_link")
    assert [each.proto.label for each in links] == ["bad\\.md", "mild \\*mistake\\*\\.md", "unsure\\.md"]
    assert [each.proto.query_string for each in links] == ["document=2", "document=1", "document=3"]


def test_all_right_says_so(judged: LabelledCatalogue, look: Entered) -> None:
    judged.judged("right.md", "intent 0.9", truth="intent")
    assert "It agrees with people on every confirmed document" in words(look())


def test_many_mistakes_stand_on_pages(judged: LabelledCatalogue, look: Entered) -> None:
    for number in range(30):
        judged.judged(f"{number:02}.md", "reference 0.6", truth="intent")
    assert len(look().get("page_link")) == 12


def test_asking_shows_how_far_it_is_and_can_be_stopped_and_resumed(judged: LabelledCatalogue, entered: Entered) -> None:
    for number in range(3):
        judged.judged(f"{number}.md", "intent 0.9", truth="intent")
    judged.classifier.may.clear()
    screen = entered()
    assert judged.classifier.started.wait(30)
    screen.run()
    assert "0 of 3 documents asked" in screen.get("progress")[0].proto.text
    next(each for each in screen.button if each.label == "Stop").click().run()
    judged.classifier.may.set()
    settled(screen)
    assert "2 confirmed documents not asked yet" in screen.warning[0].value
    assert numbers(screen)["Judged"] == "1 of 3"
    next(each for each in screen.button if each.label == "Go on").click().run()
    settled(screen)
    assert numbers(screen)["Judged"] == "3 of 3"
    assert not any("not asked yet" in each.value for each in screen.warning)


def test_a_failing_model_is_told_and_what_was_said_stays(judged: LabelledCatalogue, look: Entered) -> None:
    judged.judged("one.md", "intent 0.9", truth="intent")
    look()
    judged.judged("two.md", "intent 0.9", truth="intent")
    judged.classifier.broken = True
    screen = look()
    assert ModelUnavailable("The weights are gone.").message in words(screen).replace("\\", "")
    assert numbers(screen)["Judged"] == "1 of 2"
    judged.classifier.broken = False
    next(each for each in screen.button if each.label == "Go on").click().run()
    assert numbers(settled(screen))["Judged"] == "2 of 2"


def test_a_label_confirmed_since_is_asked_when_the_view_is_opened_again(
    judged: LabelledCatalogue, look: Entered
) -> None:
    judged.judged("one.md", "intent 0.9", truth="intent")
    look()
    judged.judged("two.md", "reality 0.9", truth="intent")
    assert numbers(look())["Accuracy"] == "50%"
    assert judged.classifier.read == ["one.md", "two.md"]


def test_a_correction_in_the_real_library_is_measured(library: Stack, look: Entered) -> None:
    policy, law = library.add("overtime_policy.md", POLICY), library.add("flsa_section_207.md", LAW)
    text = library.workbench.documents.get(law).labels.truth.value
    assert text is not None
    library.workbench.documents.correct(law, "truth", text)
    other = next(each for each in Truth if each != library.workbench.documents.get(policy).labels.truth.value)
    library.workbench.documents.correct(policy, "truth", other)
    screen = look()
    assert (numbers(screen)["Judged"], numbers(screen)["Accuracy"]) == ("2 of 2", "50%")
    assert [each.proto.label for each in screen.get("page_link")][:1] == ["overtime\\_policy\\.md"]


# The pictures


def many() -> ClassifierReport:
    """Forty judged documents, some wrong, some not decided, none of them reality."""
    given = [opinion("regulatory", "regulatory", 0.5 + number / 80) for number in range(30)]
    given += [opinion("intent", "reference", 0.6)] * 6 + [opinion("intent", None, runner_up="intent", second=0.4)] * 4
    return reported(given, library=40)


@pytest.mark.parametrize("dark", [False, True])
def test_every_tile_of_the_matrix_holds_its_count(dark: bool) -> None:
    confusion = many().confusion
    figure = charts.confusion_map(confusion, dark=dark)
    values = {(note.y, note.x): int(note.text) for note in figure.layout.annotations}
    assert values == {(i, j): number for i, row in enumerate(confusion.counts) for j, number in enumerate(row)}
    heads = [text.split("<br>")[1] for text in figure.layout.xaxis.ticktext]
    assert heads == [*(truth.value for truth in Truth), ABSTAINED]


def test_no_tile_is_painted_twice() -> None:
    layers = [trace.z for trace in charts.confusion_map(many().confusion).data]
    for i in range(5):
        for j in range(6):
            assert sum(layer[i][j] is not None for layer in layers) == 1


@pytest.mark.parametrize("dark", [False, True])
def test_the_reliability_diagram_has_its_diagonal_and_every_bin_with_its_interval(dark: bool) -> None:
    bins = many().bins
    diagonal, dots = charts.reliability_diagram(bins, dark=dark).data
    assert list(diagonal.x) == list(diagonal.y)
    assert list(dots.y) == [each.right.share for each in bins]
    assert [y + up for y, up in zip(dots.y, dots.error_y.array, strict=True)] == pytest.approx(
        [each.right.high for each in bins]
    )
    assert all(f"of {each.right.n} right" in expected for each, expected in zip(bins, dots.customdata, strict=True))


def test_dots_that_would_cover_each_other_stay_bare() -> None:
    bins = [CalibrationBin(statement, statement, statement, LabelRate(9, 10)) for statement in (0.5, 0.96, 0.97)]
    dots = charts.reliability_diagram(bins).data[1]
    assert list(dots.text) == ["10", "", ""]
    assert dots.marker.size[0] > dots.marker.size[1]


@pytest.mark.parametrize("dark", [False, True])
def test_the_abstention_curve_marks_the_threshold_in_use(dark: bool) -> None:
    report = many()
    figure = charts.abstention_curve(report.curve, report.threshold, dark=dark)
    [line] = figure.layout.shapes
    assert line.x0 == line.x1 == report.threshold
    assert f"{report.threshold:.2f}" in figure.layout.annotations[0].text


def test_a_curve_without_any_opinion_can_be_drawn() -> None:
    report = reported([opinion("intent", None)] * 3, library=3)
    assert len(charts.abstention_curve(report.curve, report.threshold).data) == 3
