"""The guard: in front of every service of a workbench, for one person and one door.

Each call of a public method is checked against the rights table, then written into the audit log if it changes or
exports something, or is refused. Parameters that say who does something are set to the person signed in.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from enum import Enum
from functools import lru_cache
from typing import Any

from core.access.audit import AuditOutcome, AuditService
from core.access.rights import NESTED, RIGHTS, Arguments, Locator, Right
from core.domain.errors import AccessDenied, FivefoldError
from core.domain.people import Principal, Role

__all__ = ["Guard", "guarded"]


@dataclass(frozen=True)
class Guard:
    """Checks what one person does. locate: finds projects, among what the person sees."""

    principal: Principal
    locate: Locator
    audit: AuditService

    def check(self, action: str, right: Right, given: Arguments) -> str | None:
        """The project that the call is about, for the audit log. Raises AccessDenied, NotFound."""
        role = right.role if isinstance(right.role, Role) else right.role(given)
        library_wide = self.principal.role_in(None)
        projects = () if right.where is None or _covers(library_wide, role) else tuple(right.where(self.locate, given))
        allowed = (
            all(_covers(self.principal.role_in(project), role) for project in projects)
            if projects
            else _covers(self.principal.highest if right.where is None else library_wide, role)
        )
        if not allowed:
            where = "" if right.where is None else f" {_projects_in_words(projects)}"
            raise AccessDenied(
                f"This needs the role {role.value}{where}.", "Ask an administrator of this library for it."
            )
        return projects[0] if projects else given.get("project")

    def note(self, action: str, given: Arguments, outcome: AuditOutcome, project: str | None, detail: str = "") -> None:
        """Write an entry. Raises StoreFailed: what cannot be recorded is not done silently."""
        person = self.principal
        self.audit.record(
            login=person.login,
            name=person.name,
            door=person.door,
            action=action,
            object=_described(given),
            outcome=outcome,
            project=project if isinstance(project, str) else None,
            detail=detail,
        )


def _covers(role: Role | None, needed: Role) -> bool:
    return role is not None and role.covers(needed)


def _projects_in_words(projects: Iterable[str | None]) -> str:
    named = [project for project in projects if project is not None]
    return "in every project" if len(named) != len(tuple(projects)) or not named else f"in {', '.join(named)}"


def guarded(workbench: Any, guard: Guard) -> Any:
    """The same workbench with every service behind the guard; its own methods and values stay."""
    services = {
        each.name: _Guarded(each.name, getattr(workbench, each.name), guard)
        for each in fields(workbench)
        if _is_service(getattr(workbench, each.name))
    }
    return replace(workbench, **services)


def _is_service(value: object) -> bool:
    return type(value).__module__.startswith("core.") and not inspect.isroutine(value)


class _Guarded:
    """A service behind the guard."""

    def __init__(self, path: str, service: object, guard: Guard) -> None:
        self._path, self._service, self._guard = path, service, guard

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        action = f"{self._path}.{name}"
        if action in NESTED:
            return _Guarded(action, getattr(self._service, name), self._guard)
        right = RIGHTS.get(action)
        if right is None:
            raise AccessDenied(f"'{action}' is open to nobody.", "Report this message: the rights table lacks a row.")
        value = inspect.getattr_static(type(self._service), name, None)
        if isinstance(value, property) or not callable(getattr(self._service, name)):
            self._guard.check(action, right, {})
            return getattr(self._service, name)
        return _Call(action, getattr(self._service, name), right, self._guard)


@dataclass(frozen=True, slots=True)
class _Call:
    """One method behind the guard."""

    action: str
    method: Callable[..., Any]
    right: Right
    guard: Guard

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        signature = _signature(getattr(self.method, "__func__", self.method), hasattr(self.method, "__func__"))
        bound = signature.bind(*args, **kwargs) if not _named(signature) else signature.bind_partial(*args, **kwargs)
        self._sign(bound.arguments, signature)
        arguments = dict(bound.arguments)  # what the caller chose, without defaults
        bound.apply_defaults()
        given: Mapping[str, Any] = bound.arguments
        try:
            project = self.guard.check(self.action, self.right, given)
        except AccessDenied as refused:
            self.guard.note(self.action, arguments, AuditOutcome.REFUSED, given.get("project"), refused.message)
            raise
        if not self.right.audited:
            return self.method(*bound.args, **bound.kwargs)
        try:
            result = self.method(*bound.args, **bound.kwargs)
        except FivefoldError as failed:
            outcome = AuditOutcome.REFUSED if isinstance(failed, AccessDenied) else AuditOutcome.FAILED
            self.guard.note(self.action, arguments, outcome, project, failed.message)
            raise
        self.guard.note(self.action, arguments, AuditOutcome.DONE, project)
        return result

    def _sign(self, given: dict[str, Any], signature: inspect.Signature) -> None:
        """Nobody speaks for somebody else; the one person of a library without sign-in may use any name."""
        person = self.guard.principal
        if "by" in signature.parameters:
            given["by"] = person
        if "who" in signature.parameters and not person.local:
            given["who"] = person.name


def _named(signature: inspect.Signature) -> bool:
    """Whether the guard itself sets a parameter, so that the caller may leave it out."""
    return bool({"who", "by"} & signature.parameters.keys())


@lru_cache(maxsize=2048)
def _signature(function: Callable[..., Any], method: bool) -> inspect.Signature:
    signature = inspect.signature(function)
    return signature.replace(parameters=list(signature.parameters.values())[1:]) if method else signature


_HIDDEN = frozenset({"data", "password", "by", "who", "cache", "preview", "text"})
"""Parameters that the audit log leaves out: contents, secrets, and what it says elsewhere."""
_LISTED = 5  # values of a list that are written out
_LONGEST = 80  # characters of a value


def _described(given: Arguments) -> str:
    """The arguments in a line.

    >>> _described({"document_ids": [1, 2], "archived": True, "data": b"..."})
    'documents 1, 2; archived yes'
    >>> _described({"name": "policy.pdf", "project": "Payroll"})
    'policy.pdf; project Payroll'
    """
    shown = ((name, _value(value)) for name, value in given.items() if name not in _HIDDEN)
    return "; ".join(f"{_word(name)} {text}".strip() for name, text in shown if text)


def _word(name: str) -> str:
    """A parameter as people say it: "document" for document_id; nothing for a name, which stands for itself."""
    if name == "name":
        return ""
    return f"{name.removesuffix('_ids')}s" if name.endswith("_ids") else name.removesuffix("_id").replace("_", " ")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, int | str):
        return str(value)[:_LONGEST]
    if isinstance(value, list | tuple) and value:
        texts = [_value(each) for each in value[:_LISTED]]
        return ", ".join(filter(None, texts)) + (f" and {len(value) - _LISTED} more" if len(value) > _LISTED else "")
    for name in ("name", "id", "number"):
        if isinstance(part := getattr(value, name, None), int | str):
            return str(part)[:_LONGEST]
    return ""
