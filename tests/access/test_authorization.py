"""The guard: who may do what, in whose name it is recorded, and what the audit log says."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.access.api_tokens import TokenService
from core.access.audit import AuditOutcome, AuditQuery
from core.access.people import PeopleService, SignInRules, parse_group_roles
from core.domain.errors import AccessDenied, BadRequest, NotFound, NotSignedIn
from core.domain.people import Door, Identity, Person, Principal, Role, local_principal
from core.domain.queries import SearchRequest
from core.insights.store import Insight
from core.workbench import Workbench
from tests.fakes import FakePeopleStore, FakeTokenStore
from tests.search.library import WordEmbedder
from tests.workbench import OpenedWorkbench, Stores, built

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
NO_RULES = SignInRules()


@pytest.fixture
def opened(tmp_path: Path) -> OpenedWorkbench:
    """A library over fakes."""
    return OpenedWorkbench(built(Stores(WordEmbedder()), tmp_path))


def _person(role: Role, project: str | None = None, name: str = "Ann") -> Principal:
    return Principal(f"{name.lower()}@example.org", name, ((project, role),), Door.REST)


def _upload(workbench: Workbench) -> object:
    return workbench.documents.upload("a.md", b"Overtime is paid.", project="Alpha")


@pytest.mark.parametrize(
    ("role", "project", "allowed"),
    [
        (Role.VIEWER, None, False),
        (Role.ANALYST, None, True),
        (Role.ANALYST, "Alpha", True),
        (Role.ADMINISTRATOR, "Beta", False),
    ],
)
def test_an_upload_needs_an_analyst_of_its_project(
    opened: OpenedWorkbench, role: Role, project: str | None, allowed: bool
) -> None:
    workbench = opened.for_principal(_person(role, project))
    if allowed:
        assert _upload(workbench)
    else:
        with pytest.raises(AccessDenied, match="needs the role analyst in Alpha"):
            _upload(workbench)


@pytest.mark.parametrize(
    "attempt",
    [
        lambda workbench: workbench.people.people(),
        lambda workbench: workbench.audit.page(AuditQuery()),
        lambda workbench: workbench.models.retry(),
        lambda workbench: workbench.check.run(),
        lambda workbench: workbench.jobs.handlers,
    ],
)
def test_the_library_itself_is_for_administrators_of_every_project(
    opened: OpenedWorkbench, attempt: Callable[[Workbench], object]
) -> None:
    for person in (_person(Role.REVIEWER), _person(Role.ADMINISTRATOR, "Alpha")):
        with pytest.raises(AccessDenied, match="administrator in every project"):
            attempt(opened.for_principal(person))
    attempt(opened.for_principal(_person(Role.ADMINISTRATOR)))


def test_nobody_speaks_for_somebody_else(opened: OpenedWorkbench) -> None:
    saved = opened.for_principal(_person(Role.ANALYST)).insights.save("Overtime is late.", who="The boss")
    assert isinstance(saved, Insight) and saved.who == "Ann"


def test_the_one_person_without_sign_in_uses_any_name(opened: OpenedWorkbench) -> None:
    saved = opened.for_principal(local_principal(Door.BROWSER)).insights.save("Overtime is late.", who="Bo")
    assert saved.who == "Bo"


def test_the_audit_log_has_changes_exports_and_refusals_with_the_door(opened: OpenedWorkbench) -> None:
    ann, vic = opened.for_principal(_person(Role.ANALYST)), opened.for_principal(_person(Role.VIEWER, name="Vic"))
    receipt = _upload(ann)
    vic.documents.list()
    vic.documents.original(receipt.document_id)  # type: ignore[attr-defined]
    with pytest.raises(AccessDenied):
        vic.documents.delete(receipt.document_id)  # type: ignore[attr-defined]
    with pytest.raises(NotFound):
        ann.documents.correct(99, "truth", "intent")
    entries = list(reversed(opened.workbench.audit.page(AuditQuery()).entries))
    assert [(each.name, each.action, each.outcome) for each in entries] == [
        ("Ann", "documents.upload", AuditOutcome.DONE),
        ("Vic", "documents.original", AuditOutcome.DONE),
        ("Vic", "documents.delete", AuditOutcome.REFUSED),
        ("Ann", "documents.correct", AuditOutcome.FAILED),
    ]
    assert {each.door for each in entries} == {Door.REST}
    assert (entries[0].project, entries[2].object) == ("Alpha", f"document {receipt.document_id}")  # type: ignore[attr-defined]
    csv = opened.workbench.audit.csv(AuditQuery(outcome=AuditOutcome.REFUSED)).decode("utf-8-sig").splitlines()
    assert len(csv) == 2 and "needs the role analyst" in csv[1]


def test_passwords_and_contents_stay_out_of_the_audit_log(opened: OpenedWorkbench) -> None:
    ann = opened.for_principal(_person(Role.ANALYST))
    with pytest.raises(NotFound):
        ann.decryption.unlock(99, "hunter2")
    ann.documents.upload("a.md", b"hunter2")
    assert not any("hunter2" in each.object for each in opened.workbench.audit.page(AuditQuery()).entries)


# People


def _people(rules: SignInRules = NO_RULES, now: Callable[[], datetime] = lambda: NOW) -> PeopleService:
    return PeopleService(FakePeopleStore(), rules, now)


def test_the_first_person_is_the_administrator_and_the_next_has_no_access() -> None:
    people = _people()
    assert people.sign_in(Identity("Ann@Example.org", "Ann"), Door.BROWSER).roles == ((None, Role.ADMINISTRATOR),)
    with pytest.raises(AccessDenied, match="no access"):
        people.sign_in(Identity("bo@example.org", "Bo"), Door.BROWSER)
    bo = people.by_login("bo@example.org")
    assert bo is not None
    people.set_role(bo.id, "Alpha", Role.ANALYST)
    assert people.sign_in(Identity("bo@example.org", "Bo"), Door.BROWSER).projects == ("Alpha",)


def test_named_administrators_first_roles_and_groups_count_at_every_sign_in() -> None:
    rules = SignInRules(frozenset({"ann@x.org"}), Role.VIEWER, parse_group_roles("leads=reviewer@Payroll"))
    people = _people(rules)
    assert people.sign_in(Identity("ann@x.org", "Ann"), Door.BROWSER).role_in(None) is Role.ADMINISTRATOR
    bo = people.sign_in(Identity("bo@x.org", "Bo", groups=("leads",)), Door.BROWSER)
    assert (bo.role_in("Payroll"), bo.role_in("Other")) == (Role.REVIEWER, Role.VIEWER)
    assert people.sign_in(Identity("bo@x.org", "Bo"), Door.BROWSER).role_in("Payroll") is Role.VIEWER


@pytest.mark.parametrize("login", ["", "  ", "Local"])
def test_nobody_signs_in_as_the_one_person_without_sign_in(login: str) -> None:
    with pytest.raises(AccessDenied, match="names nobody"):
        _people().sign_in(Identity(login, "Eve"), Door.BROWSER)
    with pytest.raises(BadRequest, match="Nobody is named"):
        _people().invite(login, Role.VIEWER)


def test_somebody_always_manages_the_library() -> None:
    people = _people()
    people.sign_in(Identity("ann@x.org", "Ann"), Door.BROWSER)
    (ann,) = people.people()
    for attempt in (lambda: people.block(ann.id, blocked=True), lambda: people.set_role(ann.id, None, Role.VIEWER)):
        with pytest.raises(BadRequest, match="nobody could manage"):
            attempt()


def test_a_blocked_person_is_kept_out_with_all_tokens() -> None:
    people, tokens = _with_tokens()
    ann = people.sign_in(Identity("ann@x.org", "Ann"), Door.BROWSER)
    people.invite("bo@x.org", Role.ADMINISTRATOR)
    _, secret = tokens.create("script", Role.VIEWER, None, ann)
    (row,) = [each for each in people.people() if each.login == "ann@x.org"]
    people.block(row.id, blocked=True)
    with pytest.raises(AccessDenied, match="blocked"):
        people.sign_in(Identity("ann@x.org", "Ann"), Door.BROWSER)
    with pytest.raises(NotSignedIn):
        tokens.verify(secret, Door.REST)


def test_a_wrong_group_rule_is_named() -> None:
    with pytest.raises(BadRequest, match="'hr=boss' gives no role"):
        parse_group_roles("leads=reviewer, hr=boss")


# Tokens


def _with_tokens(now: Callable[[], datetime] = lambda: NOW) -> tuple[PeopleService, TokenService]:
    people = _people(now=now)
    return people, TokenService(FakeTokenStore(), people, now)


def test_a_token_speaks_for_its_person_with_no_more_than_its_role() -> None:
    people, tokens = _with_tokens()
    ann = people.sign_in(Identity("ann@x.org", "Ann"), Door.BROWSER)
    token, secret = tokens.create("nightly", Role.VIEWER, None, ann)
    assert secret.startswith("ff_") and secret not in repr(token)
    found = tokens.verify(secret, Door.REST)
    assert (found.login, found.roles, found.door) == ("ann@x.org", ((None, Role.VIEWER),), Door.REST)
    assert tokens.tokens(ann)[0].last_used == NOW


def test_expired_revoked_and_unknown_tokens_are_refused_alike() -> None:
    moment = [NOW]
    people, tokens = _with_tokens(lambda: moment[0])
    ann = people.sign_in(Identity("ann@x.org", "Ann"), Door.BROWSER)
    _, short = tokens.create("short", Role.VIEWER, NOW + timedelta(days=1), ann)
    token, ended = tokens.create("ended", Role.VIEWER, None, ann)
    tokens.revoke(token.id, ann)
    moment[0] = NOW + timedelta(days=2)
    messages = set()
    for secret in (short, ended, "ff_unknown", "", "Bearer"):
        with pytest.raises(NotSignedIn) as refused:
            tokens.verify(secret, Door.REST)
        messages.add(refused.value.message)
    assert len(messages) == 1


def test_a_token_cannot_make_tokens_and_nobody_revokes_anothers() -> None:
    people, tokens = _with_tokens()
    ann = people.sign_in(Identity("ann@x.org", "Ann"), Door.BROWSER)
    token, secret = tokens.create("nightly", Role.ADMINISTRATOR, None, ann)
    with pytest.raises(BadRequest, match="cannot create tokens"):
        tokens.create("more", Role.VIEWER, None, tokens.verify(secret, Door.REST))
    people.invite("bo@x.org", Role.ANALYST)
    bo = people.sign_in(Identity("bo@x.org", "Bo"), Door.BROWSER)
    assert tokens.tokens(bo) == []
    with pytest.raises(NotFound):
        tokens.revoke(token.id, bo)
    with pytest.raises(BadRequest, match="not administrator"):
        tokens.create("mine", Role.ADMINISTRATOR, None, bo)


def test_two_changes_of_one_person_at_once_are_told_apart() -> None:
    store = FakePeopleStore()
    person = store.add(Person("ann@x.org", "Ann", "", (), NOW))
    store.change(person)
    with pytest.raises(Exception, match="changed meanwhile"):
        store.change(person)


def test_recent_searches_are_a_persons_own(opened: OpenedWorkbench) -> None:
    ann, ben = (opened.for_principal(_person(Role.ANALYST, name=name)) for name in ("Ann", "Ben"))
    for workbench, question in ((ann, "What may Ann ask?"), (ben, "What may Ben ask?")):
        workbench.search.run(SearchRequest(question))
    assert [question for question, _, _ in ann.search.recent()] == ["What may Ann ask?"]
    asked_for_ann = ben.search.recent(by=_person(Role.ANALYST, name="Ann"))
    assert [question for question, _, _ in asked_for_ann] == ["What may Ben ask?"]
    ben.search.forget_recent()
    assert not ben.search.recent() and len(ann.search.recent()) == 1
