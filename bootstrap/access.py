"""The workbench of one person: narrowed to the projects they see, and behind the guard."""

from collections import OrderedDict
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, cast

from bootstrap.environment import Settings
from core.access.authorization import Guard, guarded
from core.access.people import SignInRules, parse_group_roles
from core.access.rights import Locator
from core.domain.errors import BadRequest
from core.domain.people import Principal, Role
from core.workbench import Workbench

if TYPE_CHECKING:
    from storage.postgres.database import Scope

__all__ = ["ScopedWorkbenches", "sign_in_rules"]

_KEPT = 256
"""People whose workbenches are kept. Each holds a few caches of settings, no models and no index. Chosen by hand."""


def sign_in_rules(settings: Settings) -> SignInRules:
    """What people get at sign-in. Raises BadRequest for an unknown role."""
    if settings.first_role not in ("", *Role):
        raise BadRequest(
            f"There is no role '{settings.first_role}'.",
            "Set FIVEFOLD_FIRST_ROLE to viewer, analyst, reviewer or administrator, or leave it empty.",
        )
    return SignInRules(
        administrators=frozenset(each.strip().lower() for each in settings.administrators.split(",") if each.strip()),
        first_role=Role(settings.first_role) if settings.first_role else None,
        group_roles=parse_group_roles(settings.group_roles),
    )


@dataclass(slots=True)
class ScopedWorkbenches:
    """Gives each person a workbench. whole: of everything. build: a workbench whose stores see a scope only, and what
    closes it. Thread-safe."""

    unscoped: Workbench
    build: Callable[["Scope"], tuple[Workbench, ExitStack]]
    locator: Callable[["Scope"], Locator]
    _workbenches: "OrderedDict[Scope, tuple[Workbench, ExitStack]]" = field(default_factory=OrderedDict)
    _guarded: "OrderedDict[Principal, tuple[Workbench, Workbench]]" = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def of(self, principal: Principal) -> Workbench:
        """The workbench of a person, behind the guard. Raises StoreFailed."""
        from storage.postgres.database import Scope

        everything = principal.projects is None
        scope = Scope(login=principal.login) if everything else Scope(principal.projects, principal.login)
        inner = self.of_scope(scope)
        with self._lock:
            behind, known = self._guarded.get(principal, (None, None))
        if known is not None and behind is inner:
            return known
        made = cast(Workbench, guarded(inner, Guard(principal, self.locator(scope), self.unscoped.audit)))
        with self._lock:
            self._guarded[principal] = (inner, made)
            if len(self._guarded) > _KEPT:
                self._guarded.popitem(last=False)
        return made

    def of_scope(self, scope: "Scope") -> Workbench:
        """The workbench of whoever sees this much, without a guard. Raises StoreFailed."""
        if scope.projects is None:
            return self.unscoped
        with self._lock:
            if scope not in self._workbenches:
                self._workbenches[scope] = self.build(scope)
            self._workbenches.move_to_end(scope)
            dropped = self._workbenches.popitem(last=False)[1][1] if len(self._workbenches) > _KEPT else None
            workbench = self._workbenches[scope][0]
        if dropped is not None:
            dropped.close()
        return workbench

    def close(self) -> None:
        """Close every workbench of a scope. Harmless when repeated."""
        with self._lock:
            workbenches, self._workbenches = list(self._workbenches.values()), OrderedDict()
            self._guarded.clear()
        for _, closing in workbenches:
            closing.close()
