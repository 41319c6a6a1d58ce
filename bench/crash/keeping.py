"""Cases of what people decide and administrators do: coverage runs, decisions, another model, upgrades, restores."""

import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

from bench.crash.library import PATIENCE_SECONDS, CrashLibrary
from bench.crash.pausing import KillPoint
from bench.crash.reading import Made
from core.coverage.runs import QUIET_AFTER
from tests.running import until

__all__ = [
    "BACKUP",
    "COVERAGE",
    "DECISION",
    "MODEL",
    "MODEL_COMMAND",
    "RESTORE",
    "UPGRADE",
    "killed_backup",
    "killed_decision",
    "killed_model",
    "killed_restore",
    "killed_run",
    "killed_upgrade",
]

_BOARD = "storage.postgres.coverage_boards:SqlCoverageBoardStore"
_MODELS = "storage.postgres.embedding_models:SqlEmbeddingModelStore"

COVERAGE = (f"after {_BOARD}.add_run", f"after {_BOARD}.save_cells", f"after {_BOARD}.change_run#3")
DECISION = (f"before {_BOARD}.decide", f"after {_BOARD}.decide")
MODEL_COMMAND = (f"after {_MODELS}.begin",)
MODEL = (
    f"after {_MODELS}.prepare",
    f"before {_MODELS}.switch",
    f"after {_MODELS}.switch",
    f"after {_MODELS}.keep_only",
)
UPGRADE = ("before alembic.command:upgrade", "after alembic.command:upgrade")
BACKUP = (
    "after storage.backup.database:dump_database",
    "before storage.backup.archive:write_backup",
)
RESTORE = (
    "after storage.files:OriginalFiles.put#2",
    "before storage.backup.database:_run",
    "after storage.backup.database:_run",
    "before storage.migrations:migrate",
    "before storage.datasets.access:TableAccess.renew_passwords",
    "after storage.datasets.access:TableAccess.renew_passwords",
)
_TOPICS = 45  # with six kinds each, more cells than a run stores at a time
_HEADERS = {"X-Requested-With": "crash"}


def _send(address: str, path: str, body: dict[str, Any]) -> Any:
    import httpx

    answer = httpx.post(f"{address}{path}", json=body, headers=_HEADERS, timeout=PATIENCE_SECONDS)
    answer.raise_for_status()
    return answer.json()


def _send_in_background(address: str, path: str, body: dict[str, Any]) -> None:
    """Send a request that the kill will leave without an answer."""
    import httpx

    def send() -> None:
        try:
            httpx.post(f"{address}{path}", json=body, headers=_HEADERS, timeout=PATIENCE_SECONDS)
        except httpx.TransportError:
            return

    threading.Thread(target=send, daemon=True).start()


def _state_of(address: str, run: int) -> str:
    import httpx

    return str(httpx.get(f"{address}/coverage/runs/{run}", timeout=PATIENCE_SECONDS).raise_for_status().json()["state"])


def killed_run(made: Made, folder: Path, point: KillPoint) -> list[str]:
    """The app is killed in a coverage run, which is resumed: every cell is assessed, and none of those stored twice."""
    library = made.base.copy(folder)
    topics = [
        {"name": f"{subject} {number}"} for number in range(_TOPICS // 3) for subject in ("overtime", "leave", "pay")
    ]
    try:
        with library.app(point) as (app, address):
            _send(address, "/coverage/topics", {"topics": topics})
            _send_in_background(address, "/coverage/runs", {"whole": True})
            assert app.reached(), app.printed()
            app.kill()
        with library.app() as (_, address):
            run = library.scalar("SELECT max(id) FROM coverage_runs")
            stored = _cells(library, run)
            time.sleep(QUIET_AFTER / timedelta(seconds=1) + 1)
            resumed = _send(address, "/coverage/runs", {"resume": run})["id"]
            until(lambda: _state_of(address, resumed) != "running", PATIENCE_SECONDS, "the end of the resumed run")
            lost = [] if _state_of(address, resumed) == "done" else [f"the run is {_state_of(address, resumed)}"]
            lost += [] if resumed == run else ["the run was not resumed, another one began"]
            after = _cells(library, run)
            lost += [] if len(after) == 6 * len(topics) else [f"{6 * len(topics) - len(after)} cells are missing"]
            again = sum(after.get(cell) != version for cell, version in stored.items())
            lost += [f"{again} of {len(stored)} stored cells were assessed again"] if again else []
        return lost + library.losses(made.before)
    finally:
        library.end()


def _cells(library: CrashLibrary, run: int) -> dict[tuple[int, str], str]:
    """The version in PostgreSQL of every stored cell of a run: another one was written again."""
    with library.connection() as connection:
        rows = connection.execute("SELECT topic_id, kind, xmin::text FROM cells WHERE run_id = %s", (run,))
        return {(int(topic), str(kind)): str(version) for topic, kind, version in rows.fetchall()}


def killed_decision(made: Made, folder: Path, point: KillPoint) -> list[str]:
    """The app is killed as it stores a decision; deciding again stores it exactly once."""
    import httpx

    library = made.base.copy(folder)
    decision = {
        "kind": "regulatory",
        "verdict": "waived",
        "reason": "Nobody there.",
        "expires": "2099-06-30",
        "after": 0,
    }
    try:
        with library.app(point) as (app, address):
            topic = _send(address, "/coverage/topics", {"topics": [{"name": "overtime"}]})[0]["id"]
            run = _send(address, "/coverage/runs", {})["id"]
            until(lambda: _state_of(address, run) == "done", PATIENCE_SECONDS, "the end of a run")
            _send_in_background(address, "/coverage/decisions", decision | {"topic_id": topic})
            assert app.reached(), app.printed()
            app.kill()
        with library.app() as (_, address):
            again = httpx.post(
                f"{address}/coverage/decisions",
                json=decision | {"topic_id": topic},
                headers=_HEADERS,
                timeout=PATIENCE_SECONDS,
            )
            expected = 201 if point.first else 409
            lost = (
                [] if again.status_code == expected else [f"deciding again answered {again.status_code}: {again.text}"]
            )
            log = httpx.get(f"{address}/coverage/decisions", timeout=PATIENCE_SECONDS).json()
            lost += [] if log["total"] == 1 else [f"the log holds {log['total']} decisions"]
        return lost
    finally:
        library.end()


def killed_model(made: Made, folder: Path, point: KillPoint) -> list[str]:
    """The command or the worker is killed while the library changes to another embedding model."""
    from tests.tiny_models import tiny_embedder

    library = made.base.copy(folder)
    model = str(tiny_embedder(folder / "tiny", 32))
    try:
        if str(point) in MODEL_COMMAND:
            program = library.start("cli", "models", "use", model, point=point)
            assert program.reached(), program.printed()
            program.kill()
        else:
            library.command("models", "use", model)
            worker = library.worker_at(point)
            worker.kill()
        library.settle()
        output = library.command("models").stdout
        lost = []
        if f"In use: {Path(model).name}" not in output and "In use: tiny" not in output:
            library.command("models", "use", model)  # what the command's message asks of a person who saw it die
            library.settle()
            output = library.command("models").stdout
            lost += [] if "In use: tiny" in output else [f"the model was not changed: {output.strip()}"]
        return lost + library.losses(made.before)
    finally:
        library.end()


def killed_backup(made: Made, folder: Path, point: KillPoint) -> list[str]:
    """A command that makes a backup is killed: no file looks like a whole backup, and the next backup is good."""
    library = made.base.copy(folder)
    file = folder / "library.fivefold"
    try:
        program = library.start("cli", "backup", str(file), point=point)
        assert program.reached(), program.printed()
        program.kill()
        lost = ["a half-made backup has the name of a whole one"] if file.exists() else []
        library.command("backup", str(file))
        library.command("backup", "--verify", str(file))
        return lost + library.losses(made.before)
    finally:
        library.end()


def killed_restore(made: Made, folder: Path, point: KillPoint) -> list[str]:
    """`cli restore` is killed; restored again as the messages say, the library is whole."""
    source = made.base.copy(folder)
    file = folder / "library.fivefold"
    source.command("backup", str(file))
    source.end()
    (folder / "new").mkdir()
    (folder / "new").chmod(0o711)
    library = CrashLibrary(folder / "new")
    (library.data / "models").symlink_to((source.data / "models").resolve(), target_is_directory=True)
    try:
        program = library.start("cli", "restore", str(file), point=point)
        assert program.reached(), program.printed()
        program.kill()
        again = library.command("restore", str(file), good=False)
        lost = []
        if again.returncode and "holds a library already" not in again.stderr:
            lost.append(f"restoring again fails: {again.stderr.strip()}")
        library.settle()
        return lost + library.losses(made.before)
    finally:
        library.end()


def killed_upgrade(made: Made, folder: Path, point: KillPoint) -> list[str]:
    """The program that upgrades a database is killed, for every older schema; opened again, all is upgraded."""
    from storage.embedded_postgres.server import start_embedded
    from storage.migrations import head, migrate
    from storage.postgres.database import engine_for
    from tests.stores.earlier_databases import REVISIONS, create_earlier, schema_of

    folder.mkdir()
    folder.chmod(0o711)
    server, lost = start_embedded(folder / "server"), []
    try:
        base = engine_for(server.url("fivefold"))
        migrate(base)
        expected = schema_of(base)
        for revision in (each for each in REVISIONS if each != head()):  # the newest one is not upgraded
            with base.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.exec_driver_sql(f"CREATE DATABASE at{revision}")
            engine = engine_for(server.url(f"at{revision}"))
            create_earlier(engine, revision)
            library = CrashLibrary(folder / revision, DATABASE_URL=server.url(f"at{revision}"))
            (library.data / "models").symlink_to(made.base.data / "models", target_is_directory=True)
            program = library.start("cli", "check", point=point)
            assert program.reached(), program.printed()
            program.kill()
            output = library.command("check", good=False)
            if output.returncode:
                lost.append(f"{revision}: {output.stdout}{output.stderr}".strip())
            elif schema_of(engine) != expected:
                lost.append(f"{revision}: the schema differs from that of a new library")
            engine.dispose()
        base.dispose()
    finally:
        server.close()
    return lost
