"""Score profiles that are kept: versions of a workspace's own, and which one holds by default."""

from dataclasses import dataclass
from datetime import datetime

from core.queries import ScoreProfile

__all__ = ["DefaultProfile", "ProfileVersion"]


@dataclass(frozen=True, slots=True)
class ProfileVersion:
    """One version of a workspace's own profile; versions are only ever added.

    profile: with its name and version (1, 2 …). origin: what it was made from, as "name@version"; "" when written anew.
    retired: this version ends the profile: it is no longer offered, and what was scored with it still says how.
    """

    profile: ScoreProfile
    who: str
    at: datetime
    note: str = ""
    origin: str = ""
    retired: bool = False


@dataclass(frozen=True, slots=True)
class DefaultProfile:
    """Which profile a project (None: the whole library) searches with unless told otherwise; the latest one holds.

    name: always in its newest version; "" gives the choice back (to the whole library's, or to the product's).
    """

    project: str | None
    name: str
    who: str
    at: datetime
