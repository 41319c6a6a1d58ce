"""Errors for the person who reads them.

    FivefoldError            message: what happened · hint: what to do · cure: what can help
    ├── BadFile              one uploaded file cannot be used
    │   ├── EmptyFile
    │   ├── EncryptedFile
    │   ├── UnreadableFile   truncated, damaged, or not what its name says
    │   ├── UnsupportedFile
    │   └── FileTooCostly    its reader ran out of time or memory
    ├── BadRequest           a question, filter, profile or setting is not valid
    │   └── BadFilters       every problem at once, in field order
    ├── BadTable             a row of core/tables or of a workspace's own table is wrong
    ├── Outdated             someone else has changed it since it was read
    ├── NotFound             the document, passage or page is not (or no longer) here
    ├── StoreFailed          the database, an index or the blob store did not answer
    └── ModelUnavailable     a model's weights cannot be had

Third-party errors are mapped to these once, at the adapter that called the third party.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import ClassVar

__all__ = [
    "BadFile",
    "BadFilters",
    "BadRequest",
    "BadTable",
    "Cure",
    "EmptyFile",
    "EncryptedFile",
    "FileTooCostly",
    "FivefoldError",
    "ModelUnavailable",
    "NotFound",
    "Outdated",
    "StoreFailed",
    "UnreadableFile",
    "UnsupportedFile",
]


class Cure(StrEnum):
    """What can help after something failed: the same once more, the file's password, or only another file."""

    AGAIN = "again"
    PASSWORD = "password"
    OTHER_FILE = "other file"


class FivefoldError(Exception):
    """Something the user is told about: `message` says what happened, `hint` what to do, `cure` what can help (as
    `usual` for such an error, unless told otherwise)."""

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
    """Reading the file takes more time or memory than one file may. It may go better when less else is to be done, or
    with other limits; where it cannot, the error says so."""

    usual = Cure.AGAIN


class BadRequest(FivefoldError):
    """A question, filter, profile or setting is not valid."""


class BadFilters(BadRequest):
    """Every problem of a filter at once, in field order."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems), "Correct the filter and search again.")
        self.problems = tuple(problems)

    def __reduce__(self) -> tuple[type["BadFilters"], tuple[Sequence[str]]]:  # type: ignore[override]
        return type(self), (self.problems,)


class BadTable(FivefoldError):
    """A table row is wrong; the message names file and key."""


class Outdated(FivefoldError):
    """Someone else has changed it since it was read; nothing was overwritten."""


class NotFound(FivefoldError):
    """What was asked for is not (or no longer) here."""


class StoreFailed(FivefoldError):
    """The database, an index or the blob store did not answer."""


class ModelUnavailable(FivefoldError):
    """A model's weights cannot be had."""
