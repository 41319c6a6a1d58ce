"""Letting the server's user pass the folders above its own, when the product runs as root."""

import os
import pwd
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from storage.embedded_postgres.setup import let_through

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can let other users through")


def _can_read(path: Path, user: int) -> bool:
    done = subprocess.run(["cat", str(path)], user=user, group=user, extra_groups=[], capture_output=True)
    return done.returncode == 0


def test_only_the_named_user_passes_and_no_folder_can_be_listed() -> None:
    named, other = pwd.getpwnam("nobody").pw_uid, pwd.getpwnam("daemon").pw_uid
    with TemporaryDirectory(prefix="fivefold-") as name:
        closed = Path(name)
        inner = closed / "inner"
        inner.mkdir()
        (inner / "note").write_text("read me")
        assert not _can_read(inner / "note", named)
        for _ in range(2):
            let_through(inner, named)
        assert _can_read(inner / "note", named)
        assert subprocess.run(["ls", name], user=named, group=named, extra_groups=[], capture_output=True).returncode
        if closed.stat().st_mode & 0o001 == 0:  # the disk keeps access lists
            assert not _can_read(inner / "note", other)
            let_through(inner, other)
            assert _can_read(inner / "note", named) and _can_read(inner / "note", other)


def test_a_folder_one_may_pass_is_left_alone() -> None:
    with TemporaryDirectory(prefix="fivefold-") as name:
        Path(name).chmod(0o711)
        before = Path(name).stat()
        let_through(Path(name), pwd.getpwnam("nobody").pw_uid)
        assert (Path(name).stat().st_mode, Path(name).stat().st_ctime_ns) == (before.st_mode, before.st_ctime_ns)
