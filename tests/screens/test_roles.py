"""What people of every role see on every page: nobody who may read is stopped by what only others may do."""

import pytest

from core.domain.coverage import Topic
from core.domain.evaluation import Level
from core.domain.people import Door, Principal, Role
from pages.components import session
from tests.screens.conftest import Opened, Stack, words

QUESTION = "When must overtime be paid?"

VIEWS = [
    ("home.py", {}),
    ("upload.py", {}),
    ("upload.py", {"file": "1"}),
    *(
        ("library.py", {"view": view})
        for view in ("", "duplicates", "history", "spreadsheet", "enrichment", "entities")
    ),
    ("library.py", {"document": "1"}),
    ("document.py", {"id": "1"}),
    ("search.py", {"q": QUESTION}),
    ("search.py", {"q": QUESTION, "view": "five"}),
    ("search.py", {"view": "batch"}),
    ("inspection.py", {"q": QUESTION}),
    ("insights.py", {}),
    ("insights.py", {"view": "episodes"}),
    *(
        ("tuning.py", {"q": QUESTION, "view": view, "a": "balanced"})
        for view in ("tune", "judge", "measure", "optimise", "threshold", "profiles", "classifier")
    ),
    *(("coverage.py", {"view": view}) for view in ("Board", "Review", "Topics", "Meeting pack", "Snapshots")),
    *(("data.py", {"view": view}) for view in ("", "Tables", "In use", "SQL")),
    *(
        ("settings.py", {"part": part})
        for part in ("", "storage", "vocabulary", "Embedding model", "people", "tokens", "audit")
    ),
    ("help.py", {}),
]


@pytest.mark.parametrize("role", [Role.VIEWER, Role.ANALYST], ids=str)
@pytest.mark.parametrize(
    ("page", "params"), VIEWS, ids=lambda each: each if isinstance(each, str) else "-".join(each.values())
)
def test_every_page_can_be_read_with_every_role(
    stocked: Stack,
    opened: Opened,
    monkeypatch: pytest.MonkeyPatch,
    role: Role,
    page: str,
    params: dict[str, str],
) -> None:
    vic = Principal("vic@example.org", "Vic", (("Tallgrass", role),), Door.BROWSER)
    monkeypatch.setattr(session, "principal", lambda: vic)
    screen = opened(page, **{name: value for name, value in params.items() if value})
    shown = [each.value for each in (*screen.error, *screen.warning)]
    assert not [each for each in shown if "needs the role" in each or "open to nobody" in each], shown


CHANGES = {
    "search.py": ({"q": QUESTION}, ("Shortlist",)),
    "library.py": ({"document": "1"}, ("Read again", "Delete", "Confirm")),
    "coverage.py": ({"view": "Topics"}, ("Assess", "Add topics")),
    "tuning.py": ({"view": "judge"}, ("Create the set",)),
    "settings.py": ({"part": "storage"}, ("Back up now",)),
}
"""Page → how it is opened, and its buttons that change something."""


@pytest.mark.parametrize("page", CHANGES)
def test_a_viewer_is_offered_no_change_and_reads_which_role_it_needs(
    stocked: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    params, labels = CHANGES[page]
    buttons = {}
    for role in (Role.VIEWER, Role.ADMINISTRATOR):
        vic = Principal("vic@example.org", "Vic", ((None, role),), Door.BROWSER)
        monkeypatch.setattr(session, "principal", lambda vic=vic: vic)
        shown = [each for each in opened(page, **params).button if each.label in labels]
        assert {each.label for each in shown} == set(labels)
        buttons[role] = shown
    assert all(each.disabled and "This needs the role of" in each.help for each in buttons[Role.VIEWER])
    assert not any("This needs the role of" in each.help for each in buttons[Role.ADMINISTRATOR])


TABLES = {
    "coverage.py": ({"view": "Topics"}, "in place"),
    "tuning.py": ({"view": "judge", "part": "set"}, "in place"),
}
"""Page → how it is opened, and what it says of a table that may be edited."""


@pytest.mark.parametrize("page", TABLES)
def test_a_viewer_cannot_type_into_a_table_and_reads_which_role_it_needs(
    stocked: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    stocked.workbench.coverage.add_topics([Topic("Overtime")])
    judging = stocked.workbench.evaluation.judging
    judging.add_question(judging.add_set("Payroll", None, Level.PASSAGE, "Ben").id, QUESTION)
    params, invitation = TABLES[page]
    for role, locked in ((Role.VIEWER, True), (Role.ADMINISTRATOR, False)):
        vic = Principal("vic@example.org", "Vic", ((None, role),), Door.BROWSER)
        monkeypatch.setattr(session, "principal", lambda vic=vic: vic)
        screen = opened(page, **params)
        (table,) = screen.data_editor
        assert table.proto.disabled is locked
        assert (invitation in words(screen)) is not locked
        assert (":material/lock: This needs the role of" in words(screen)) is locked
