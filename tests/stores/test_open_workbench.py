"""Opening and closing everything, and reading the settings."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from sqlalchemy import Engine

from bootstrap.environment import Settings
from bootstrap.workbench import open_workbench, settings_from_environment
from core.domain.documents import DocumentState
from core.domain.errors import BadRequest, NotFound, StoreFailed
from storage.embedded_postgres import setup


@pytest.fixture
def alone(tmp_path: Path, models: Path, engine: Engine, request: pytest.FixtureRequest) -> Settings:
    """Settings on the tests' own server, for a tenant nobody has used; the model is converted."""
    (tmp_path / "models").symlink_to(models, target_is_directory=True)
    url = engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
    return Settings(tmp_path, database_url=url, worker=False, tenant=f"t-{abs(hash(request.node.name)) % 10**9}")


@pytest.fixture
def unset(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """No setting of ours in the environment."""
    for field in Settings.__dataclass_fields__:
        monkeypatch.delenv(f"FIVEFOLD_{field.upper()}", raising=False)
    monkeypatch.delenv("DATABASE_URL", raising=False)
    return monkeypatch


def test_without_an_environment_every_setting_has_its_default(unset: pytest.MonkeyPatch, root: Path) -> None:
    assert settings_from_environment() == Settings(root / ".data")


@pytest.mark.parametrize(
    ("variable", "text", "field", "value"),
    [
        ("FIVEFOLD_DATA_FOLDER", "/srv/library", "data_folder", Path("/srv/library")),
        ("DATABASE_URL", "postgres://db/library", "database_url", "postgres://db/library"),
        ("FIVEFOLD_VECTOR_INDEX", "chroma", "vector_index", "chroma"),
        ("FIVEFOLD_CHROMA_URL", "http://chroma:8000", "chroma_url", "http://chroma:8000"),
        ("FIVEFOLD_TENANT", "acme", "tenant", "acme"),
        ("FIVEFOLD_EMBEDDING_MODEL", "/models/e5", "embedding_model", "/models/e5"),
        ("FIVEFOLD_WORKER", "off", "worker", False),
        ("FIVEFOLD_FILE_SECONDS", "60", "file_seconds", 60),
        ("FIVEFOLD_FILE_MEGABYTES", "512", "file_megabytes", 512),
        ("FIVEFOLD_TENANT", "  ", "tenant", "default"),
    ],
)
def test_a_variable_sets_its_field(
    unset: pytest.MonkeyPatch, variable: str, text: str, field: str, value: object
) -> None:
    unset.setenv(variable, text)
    assert getattr(settings_from_environment(), field) == value


@pytest.mark.parametrize(
    ("variable", "text"),
    [("FIVEFOLD_WORKER", "maybe"), ("FIVEFOLD_FILE_SECONDS", "-5"), ("FIVEFOLD_FILE_MEGABYTES", "4 GB")],
)
def test_a_wrong_value_names_its_variable(unset: pytest.MonkeyPatch, variable: str, text: str) -> None:
    unset.setenv(variable, text)
    with pytest.raises(BadRequest, match=variable):
        settings_from_environment()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"tenant": "../other"}, "cannot name a tenant"),
        ({"tenant": ""}, "cannot name a tenant"),
        ({"vector_index": "faiss"}, "no vector index 'faiss'"),
        ({"database_url": "mysql://db/library"}, "not a PostgreSQL URL"),
        ({"database_url": "postgresql://ann@one:5432,two:x/library"}, "not a PostgreSQL URL"),
    ],
)
def test_settings_that_cannot_be_are_refused_before_anything_starts(
    tmp_path: Path, changes: dict[str, str], expected: str
) -> None:
    with pytest.raises(BadRequest, match=expected):
        open_workbench(replace(Settings(tmp_path), **changes))  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_a_database_that_is_not_there_is_said_in_words(tmp_path: Path) -> None:
    with pytest.raises(StoreFailed, match="does not answer") as caught:
        open_workbench(Settings(tmp_path, database_url="postgresql://nobody@127.0.0.1:1/none"))
    assert "DATABASE_URL" in caught.value.hint


def test_an_upload_is_kept_and_queued_and_found_again_after_reopening(alone: Settings) -> None:
    with open_workbench(alone) as workbench:
        receipt = workbench.documents.upload("a.txt", b"Employees must file.")
        assert workbench.documents.statistics().waiting_jobs == 1
    with open_workbench(alone) as workbench:
        assert workbench.documents.get(receipt.document_id).state is DocumentState.PENDING
        assert workbench.documents.original(receipt.document_id) == b"Employees must file."
        assert workbench.documents.upload("b.txt", b"Employees must file.").duplicate_of == "a.txt"


def test_a_lost_original_is_stored_again_by_the_next_upload_of_the_file(alone: Settings) -> None:
    with open_workbench(alone) as workbench:
        receipt = workbench.documents.upload("a.txt", b"Employees must file.")
        (alone.data_folder / "originals" / receipt.sha256[:2] / receipt.sha256[2:]).unlink()
        assert [each.message for each in workbench.check.run().differences] == [
            "1 document without the original: a.txt."
        ]
        assert workbench.documents.upload("b.txt", b"Employees must file.").duplicate_of == "a.txt"
        assert workbench.check.run().ok


def test_deleting_and_relabelling_load_no_model(alone: Settings) -> None:
    missing = replace(alone, embedding_model="no/such-model-anywhere")
    with open_workbench(missing) as workbench:
        stored = workbench.documents.upload("memo.txt", b"Kept until Friday.").document_id
        assert workbench.documents.correct(stored, "truth", "intent").labels.truth.value == "intent"
        workbench.documents.delete(stored)
        with pytest.raises(NotFound):
            workbench.documents.get(stored)


def test_two_tenants_share_a_server_and_nothing_else(alone: Settings) -> None:
    with open_workbench(alone) as ours, open_workbench(replace(alone, tenant="other")) as theirs:
        receipt = ours.documents.upload("a.txt", b"Secret.")
        assert theirs.documents.upload("a.txt", b"Secret.").duplicate_of == ""
        with pytest.raises(NotFound):
            theirs.documents.get(receipt.document_id)


_PROGRAM = """
import sys
from pathlib import Path
from bootstrap.environment import Settings
from bootstrap.workbench import open_workbench
opened = open_workbench(Settings(Path(sys.argv[1])))
opened.workbench.documents.statistics()
heavy = {"torch", "openvino", "chromadb", "sentence_transformers", "transformers"} & set(sys.modules)
print("heavy:", sorted(heavy), flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A data folder of its own."""
    with TemporaryDirectory(prefix="fivefold-", ignore_cleanup_errors=True) as place:
        Path(place).chmod(0o711)
        yield Path(place)


@pytest.mark.parametrize("how", ["ends", "is terminated"])
def test_opening_loads_no_model_and_the_server_stops_when_the_program(folder: Path, how: str) -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert program.stdout is not None
    assert program.stdout.readline() == "heavy: []\n"
    assert setup.is_running(folder / "postgres")
    if how == "is terminated":
        program.terminate()
    program.communicate(None if how == "is terminated" else "\n", timeout=60)
    assert not setup.is_running(folder / "postgres")
