"""The error hierarchy; every error carries a message for the user.

    FivefoldError            message: what happened · hint: what to do · cure: what can help
    ├── BadFile              one uploaded file cannot be used
    │   ├── EmptyFile
    │   ├── EncryptedFile
    │   ├── UnreadableFile   truncated, damaged, or not what its name says
    │   ├── UnsupportedFile
    │   └── FileTooCostly    its reader ran out of time or memory
    ├── BadRequest           a question, filter, profile or setting is not valid
    │   └── BadFilters       every problem at once, in field order
    ├── BadTable             a row of core/knowledge or of a workspace's own table is wrong
    ├── Outdated             someone else has changed it since it was read
    ├── NotSignedIn          nobody is signed in, or no longer
    ├── AccessDenied         somebody may not do this
    ├── NotFound             the document, passage or page is not (or no longer) here
    ├── StoreFailed          the database, an index or the blob store did not answer
    ├── ModelUnavailable     a model's weights cannot be had
    ├── FetchFailed          an address of the web did not answer as it should
    └── SynthesisFailed      the language model of answers gave no usable text

Third-party errors are mapped to these once, at the adapter that called the third party.
"""

import errno
from collections.abc import Sequence
from enum import StrEnum
from typing import ClassVar

__all__ = [
    "AccessDenied",
    "BadFile",
    "BadFilters",
    "BadRequest",
    "BadTable",
    "Cure",
    "EmptyFile",
    "EncryptedFile",
    "FetchFailed",
    "FileTooCostly",
    "FivefoldError",
    "ModelUnavailable",
    "NotFound",
    "NotSignedIn",
    "Outdated",
    "StoreFailed",
    "StoreUnavailable",
    "SynthesisFailed",
    "SynthesisFailure",
    "UnreadableFile",
    "UnsupportedFile",
    "error_to_show",
]


class Cure(StrEnum):
    """What can help after a failure: a retry, the file's password, or only another file."""

    AGAIN = "again"
    PASSWORD = "password"
    OTHER_FILE = "other file"


class FivefoldError(Exception):
    """An error shown to the user: `message` says what happened, `hint` what to do, `cure` what can help (`usual` of the
    class unless given)."""

    usual: ClassVar[Cure] = Cure.AGAIN

    def __init__(self, message: str, hint: str = "", cure: Cure | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.cure = cure or self.usual

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()

    def __reduce__(self) -> tuple[type["FivefoldError"], tuple[str, str, Cure]]:
        return type(self), (self.message, self.hint, self.cure)


class BadFile(FivefoldError):
    """One uploaded file cannot be used; the rest of its batch goes on."""

    usual = Cure.OTHER_FILE


class EmptyFile(BadFile):
    """The file has no bytes, or no text in them."""


class EncryptedFile(BadFile):
    """The file needs a password."""


class UnreadableFile(BadFile):
    """The file is truncated, damaged, or not what its name says."""


class UnsupportedFile(BadFile):
    """No reader for this kind of file."""


class FileTooCostly(BadFile):
    """Reading the file exceeds the time or memory limit. A retry may succeed under less load or with higher limits;
    where it cannot, the error says so."""

    usual = Cure.AGAIN


class BadRequest(FivefoldError):
    """A question, filter, profile or setting is not valid."""


class BadFilters(BadRequest):
    """Every problem of a filter at once, in field order. allowed: a sentence per closed field with an invalid value."""

    def __init__(self, problems: Sequence[str], allowed: Sequence[str] = ()) -> None:
        super().__init__("; ".join(problems), " ".join(("Correct the filter and search again.", *allowed)))
        self.problems, self.allowed = tuple(problems), tuple(allowed)

    def __reduce__(self) -> tuple[type["BadFilters"], tuple[Sequence[str], Sequence[str]]]:  # type: ignore[override]
        return type(self), (self.problems, self.allowed)


class BadTable(FivefoldError):
    """A table row is wrong; the message names file and key."""


class Outdated(FivefoldError):
    """Someone else has changed the object since it was read; nothing was overwritten."""


class NotSignedIn(FivefoldError):
    """Nobody is signed in, or no longer."""


class AccessDenied(FivefoldError):
    """Somebody may not do this."""


class NotFound(FivefoldError):
    """The requested object does not exist (any more)."""


class StoreFailed(FivefoldError):
    """The database, an index or the blob store did not respond."""


class StoreUnavailable(StoreFailed):
    """A store does not answer or its disk is full, so the same work may succeed later."""


class ModelUnavailable(FivefoldError):
    """A model's weights cannot be loaded."""


class FetchFailed(FivefoldError):
    """A web address did not respond properly."""


class SynthesisFailure(StrEnum):
    """How a language model failed."""

    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    REFUSED = "refused"
    UNREADABLE = "unreadable"
    EMPTY = "empty"


class SynthesisFailed(FivefoldError):
    """A language model gave no usable text; `failure` says how."""

    def __init__(self, failure: SynthesisFailure, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.failure = failure

    def __reduce__(self) -> tuple[type["SynthesisFailed"], tuple[SynthesisFailure, str, str]]:  # type: ignore[override]
        return type(self), (self.failure, self.message, self.hint)


_FULL = "Make room for the data folder and for temporary files, then try again."


def error_to_show(error: Exception) -> FivefoldError:
    """The error to show for any exception: its own message and hint, that the disk is full, or that it was unexpected.

    >>> print(error_to_show(OSError(errno.ENOSPC, "No space left on device")))
    The disk is full. Make room for the data folder and for temporary files, then try again.
    """
    if isinstance(error, FivefoldError):
        return error
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return StoreFailed("The disk is full.", _FULL)
    return FivefoldError(f"Unexpected {type(error).__name__}: {error}", "Try again; if it stays, report this message.")
