"""What the person of this session may do, so that pages offer only that. The guard checks every call all the same."""

from collections.abc import Sequence

from core.access.rights import RIGHTS
from core.domain.people import Role
from pages.components import session

__all__ = ["may", "may_share", "upload_projects"]


def may(action: str) -> bool:
    """Whether the person may call a service's method in any project: "documents.upload". Raises KeyError for an
    unknown action, and what `session.principal` raises."""
    right, person = RIGHTS[action], session.principal()
    needed = right.role if isinstance(right.role, Role) else Role.ANALYST
    role = person.role_in(None) if right.library_wide else person.highest
    return role is not None and role.covers(needed)


def may_share() -> bool:
    """Whether the person may add and change documents that all projects share."""
    role = session.principal().role_in(None)
    return role is not None and role.covers(Role.ANALYST)


def upload_projects() -> Sequence[str]:
    """The projects that a person who may not share documents may upload to; empty for everybody else."""
    if may_share():
        return ()
    return [project for project, role in session.principal().roles if project is not None and role.covers(Role.ANALYST)]
