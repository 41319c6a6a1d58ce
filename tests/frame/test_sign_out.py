"""A sign-out counts for the cookie of that sign-in, also after the app was started again."""

import time
from types import SimpleNamespace
from typing import Any, cast

import pytest
import streamlit as st

from bootstrap.environment import utc_now
from bootstrap.sign_in import SignInSettings
from core.access.audit import AuditQuery, AuditService
from core.domain.people import Identity
from pages.components import sign_in
from tests.fakes import FakeAuditLog


def test_a_copied_cookie_stays_without_use_after_a_restart(monkeypatch: pytest.MonkeyPatch) -> None:
    audit = AuditService(FakeAuditLog(), utc_now)
    opened = cast(Any, SimpleNamespace(workbench=SimpleNamespace(audit=audit)))
    ann = Identity("ann@example.org", "Ann", "ann@example.org", ())
    here, elsewhere = sign_in.Visit(ann, time.time() - 60), sign_in.Visit(ann, time.time() - 30)
    monkeypatch.setattr(sign_in, "_visit", lambda known: here)
    monkeypatch.setattr(st, "logout", lambda: None)
    sign_in._visits.clear()
    sign_in.sign_out(lambda: opened)
    assert sign_in._has_signed_out(lambda: opened, here, SignInSettings())
    sign_in._visits.clear()  # as in a new process
    assert sign_in._has_signed_out(lambda: opened, here, SignInSettings())
    assert not sign_in._has_signed_out(lambda: opened, elsewhere, SignInSettings())
    assert audit.page(AuditQuery(action="sign out")).entries[0].object == here.session
    sign_in._visits.clear()


def test_remembered_sign_outs_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_in, "_MOST_ENDED", 3)
    visits = sign_in._Visits()
    for number in range(10):
        visits.end("ann", str(number))
    assert [session for _, session in visits.ended] == ["7", "8", "9"]
