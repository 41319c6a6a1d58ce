"""Lets one user traverse the directories above its own: the embedded server does not run as root.

Where the file system supports access control lists, that user gets execute (traverse) permission and nobody else does.
Elsewhere the directory becomes traversable for everyone. Directories that are traversable already are left unchanged.
"""

import os
import struct
from pathlib import Path

__all__ = ["let_through"]

_ACL = "system.posix_acl_access"
_VERSION = struct.pack("<I", 2)
_ENTRY = struct.Struct("<HHI")  # tag, permissions, user or group
_USER_OBJ, _USER, _GROUP_OBJ, _MASK, _OTHER = 0x01, 0x02, 0x04, 0x10, 0x20
_NOBODY = 0xFFFFFFFF
_PASS = 1


def let_through(folder: Path, user: int) -> None:
    """Let a user (numeric id) traverse a directory and its parents. Only root may change directories of other users."""
    for place in (folder, *folder.parents):
        status = place.stat()
        if status.st_mode & _PASS or (status.st_uid == user and status.st_mode & 0o100):
            continue
        try:
            _grant(place, user, status.st_mode)
        except (OSError, AttributeError):  # no access lists on this disk, or on this system
            place.chmod(status.st_mode | _PASS)


def _grant(place: Path, user: int, mode: int) -> None:
    entries = _entries(place) or {
        (_USER_OBJ, _NOBODY): mode >> 6 & 7,
        (_GROUP_OBJ, _NOBODY): mode >> 3 & 7,
        (_OTHER, _NOBODY): mode & 7,
    }
    if entries.get((_USER, user), 0) & entries.get((_MASK, _NOBODY), 7) & _PASS:
        return
    entries[_USER, user] = entries.get((_USER, user), 0) | _PASS
    entries[_MASK, _NOBODY] = entries.get((_MASK, _NOBODY), entries[_GROUP_OBJ, _NOBODY]) | _PASS
    packed = (_ENTRY.pack(tag, allowed, owner) for (tag, owner), allowed in sorted(entries.items()))
    os.setxattr(place, _ACL, _VERSION + b"".join(packed))


def _entries(place: Path) -> dict[tuple[int, int], int]:
    """(tag, user or group) → permissions; empty when the directory has only its mode."""
    if _ACL not in os.listxattr(place):
        return {}
    found = _ENTRY.iter_unpack(os.getxattr(place, _ACL)[len(_VERSION) :])
    return {(tag, owner): allowed for tag, allowed, owner in found}
