"""The format of a backup: a tar archive of the database as pg_dump writes it, the originals, and a manifest.

    database.dump    pg_dump's custom format
    originals/…      each file named by its SHA-256
    manifest.json    format, time, schema revision, counts, and the SHA-256 of everything else

An encrypted one is the same archive inside the age format (age-encryption.org), so that `age` can open it, too.
"""

import io
import json
import logging
import os
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import file_digest, sha256
from pathlib import Path
from typing import IO

from core.domain.errors import BadRequest, NotFound, StoreFailed
from core.ports.stores import BlobStore
from storage.scratch_folders import scratch_folder

__all__ = ["FORMAT", "Manifest", "OpenBackup", "open_backup", "write_backup"]

FORMAT = 1
"""Raised when an older program could no longer restore what this one writes."""

_MANIFEST, _DUMP, _ORIGINALS = "manifest.json", "database.dump", "originals"
_log = logging.getLogger(__name__)
_AGE = b"age-encryption.org/"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup holds.

    taken_at: ISO 8601, UTC. revision: of the schema. documents, passages: of all tenants. roles: the database roles
    that own or read uploaded tables. dump_sha256: of the database's part. originals: their SHA-256. missing: of those
    that could not be read when the backup was made.
    """

    taken_at: str
    revision: str
    documents: int
    passages: int
    roles: tuple[str, ...]
    dump_sha256: str
    originals: tuple[str, ...]
    missing: tuple[str, ...] = ()
    format: int = FORMAT


def write_backup(
    file: Path, dump: Path, originals: BlobStore, manifest: Manifest, recipients: Sequence[str] = ()
) -> Manifest:
    """Write a backup: a half-written one never has the name of a whole one. recipients: public age keys, none: not
    encrypted. Returns the manifest, in which originals that could not be read are missing. Raises StoreFailed,
    BadRequest.
    """
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        part.touch(mode=0o600)  # it holds everything that was uploaded
        with part.open("wb") as raw:
            with tarfile.open(fileobj=raw, mode="w") as archive:
                archive.add(dump, _DUMP)
                missing = [name for name in manifest.originals if not _add_original(archive, name, originals)]
                stored = tuple(name for name in manifest.originals if name not in set(missing))
                manifest = replace(manifest, originals=stored, missing=tuple(missing))
                _add(archive, _MANIFEST, json.dumps(asdict(manifest), indent=1).encode())
            raw.flush()
            os.fsync(raw.fileno())
        if recipients:
            _encrypt(part, recipients)
        part.replace(file)
        return manifest
    except OSError as error:
        raise StoreFailed(
            f"The backup could not be written: {error}.", "Choose another folder, or make room."
        ) from error
    finally:
        part.unlink(missing_ok=True)


def _add_original(archive: tarfile.TarFile, name: str, originals: BlobStore) -> bool:
    """Whether it could be read; one that is missing or damaged does not keep the rest from being saved."""
    try:
        _add(archive, f"{_ORIGINALS}/{name}", originals.get(name))
    except (NotFound, StoreFailed) as error:
        _log.warning("Not in the backup: %s", error)
        return False
    return True


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    archive.addfile(entry, io.BytesIO(data))


def _encrypt(part: Path, recipients: Sequence[str]) -> None:
    import pyrage

    sealed = part.with_name(f"{part.name}.age")
    try:
        sealed.touch(mode=0o600)
        keys = [pyrage.x25519.Recipient.from_str(each) for each in recipients]
        pyrage.encrypt_file(str(part), str(sealed), keys)
        sealed.replace(part)
    except pyrage.RecipientError as error:
        raise BadRequest(
            f"This is not a public age key: {error}.", "Make one with age-keygen; it begins with age1."
        ) from error
    finally:
        sealed.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class OpenBackup:
    """A backup that is being read. dump: its database in a temporary file, already checked."""

    manifest: Manifest
    dump: Path
    _archive: tarfile.TarFile

    def originals(self) -> Iterator[tuple[str, bytes]]:
        """Each original with its SHA-256. Raises StoreFailed for one that is missing or damaged."""
        for name in self.manifest.originals:
            data = _member(self._archive, f"{_ORIGINALS}/{name}").read()
            if sha256(data).hexdigest() != name:
                raise _damaged(f"the original {name[:12]}…")
            yield name, data


@contextmanager
def open_backup(file: Path, identity: Path | None = None) -> Iterator[OpenBackup]:
    """Open a backup and check its database's part. identity: a file with a private age key, for an encrypted one.

    Raises BadRequest, and StoreFailed for one that is damaged.
    """
    with scratch_folder("backup") as folder:
        try:
            plain = _decrypted(file, identity, folder)
            with tarfile.open(plain, "r:") as archive:
                manifest = _manifest(archive)
                dump = folder / _DUMP
                with dump.open("wb") as out, _member(archive, _DUMP) as packed:
                    while block := packed.read(2**20):
                        out.write(block)
                with dump.open("rb") as written:
                    if file_digest(written, "sha256").hexdigest() != manifest.dump_sha256:
                        raise _damaged("the database")
                yield OpenBackup(manifest, dump, archive)
        except tarfile.TarError as error:
            raise BadRequest(f"{file} is not a backup, or is cut short ({error}).", "Use another backup.") from error


def _decrypted(file: Path, identity: Path | None, folder: Path) -> Path:
    with _readable(file), file.open("rb") as opened:
        encrypted = opened.read(len(_AGE)) == _AGE
    if not encrypted:
        return file
    if identity is None:
        raise BadRequest(f"{file} is encrypted.", "Name the file with the private age key: --identity KEYFILE.")
    import pyrage

    plain = folder / "plain.tar"
    with _readable(identity):
        lines = identity.read_text("utf-8").splitlines()
    try:
        keys = [pyrage.x25519.Identity.from_str(each) for each in lines if each.strip() and not each.startswith("#")]
        pyrage.decrypt_file(str(file), str(plain), keys)
    except (pyrage.IdentityError, pyrage.DecryptError) as error:
        raise BadRequest(
            f"{file} cannot be opened with {identity}: {error}.", "Use the key it was made for."
        ) from error
    return plain


@contextmanager
def _readable(file: Path) -> Iterator[None]:
    """Raises BadRequest for a file that cannot be read."""
    try:
        yield
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(
            f"{file} cannot be read: {getattr(error, 'strerror', 'no text')}.", "Check its path."
        ) from error


def _manifest(archive: tarfile.TarFile) -> Manifest:
    try:
        data = json.loads(_member(archive, _MANIFEST).read())
        manifest = Manifest(**data | {name: tuple(data[name]) for name in ("roles", "originals", "missing")})
    except (ValueError, TypeError, KeyError) as error:
        raise _damaged("the manifest") from error
    if manifest.format > FORMAT:
        raise BadRequest("This backup was made by a newer version of Fivefold.", "Restore it with that version.")
    return manifest


def _member(archive: tarfile.TarFile, name: str) -> IO[bytes]:
    try:
        found = archive.extractfile(name)
    except KeyError:
        found = None
    if found is None:
        raise _damaged(f"'{name}'")
    return found


def _damaged(what: str) -> StoreFailed:
    return StoreFailed(f"The backup is damaged: {what} is missing or not what was stored.", "Use another backup.")
