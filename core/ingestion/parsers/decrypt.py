"""Decrypts password-protected files with pypdf and msoffcrypto, and builds the error for them."""

from io import BytesIO

from core.domain.errors import Cure, EncryptedFile, UnreadableFile, UnsupportedFile
from core.ingestion.parsers.damage import damage

__all__ = ["decrypted", "needs_password"]

_PDF_HEAD_BYTES = 1024  # Acrobat accepts a PDF header within the first 1,024 bytes.
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def needs_password(name: str) -> EncryptedFile:
    """The error for a file that must be decrypted first."""
    hint = "Type its password on Upload, or save a copy without it."
    return EncryptedFile(f"'{name}' is protected by a password.", hint, Cure.PASSWORD)


def decrypted(name: str, data: bytes, password: str) -> bytes:
    """The decrypted bytes.

    Raises EncryptedFile for a wrong password, UnreadableFile if decryption fails, UnsupportedFile for kinds of files
    that cannot be decrypted here.
    """
    if b"%PDF-" in data[:_PDF_HEAD_BYTES]:
        return _unlocked_pdf(name, data, password)
    if data.startswith(_OLE):
        return _unlocked_office(name, data, password)
    raise UnsupportedFile(f"'{name}' is neither a PDF nor an Office file.", "Open it with its own program and save it.")


def _unlocked_pdf(name: str, data: bytes, password: str) -> bytes:
    from pypdf import PdfReader, PdfWriter
    from pypdf.errors import DependencyError, PyPdfError

    try:
        reader = PdfReader(BytesIO(data), strict=False)
        if reader.is_encrypted and not reader.decrypt(password):
            raise _wrong(name)
        out = BytesIO()
        PdfWriter(clone_from=reader).write(out)
    except damage(PyPdfError, DependencyError) as error:
        raise _damaged(name, error) from error
    return out.getvalue()


def _unlocked_office(name: str, data: bytes, password: str) -> bytes:
    from xml.parsers.expat import ExpatError

    import msoffcrypto
    from msoffcrypto.exceptions import DecryptionError, FileFormatError, InvalidKeyError, ParseError

    out = BytesIO()
    try:
        office = msoffcrypto.OfficeFile(BytesIO(data))
        office.load_key(password=password, verify_password=True)
        office.decrypt(out)
    except InvalidKeyError as error:
        raise _wrong(name) from error
    except damage(DecryptionError, FileFormatError, ParseError, ExpatError) as error:
        raise _damaged(name, error) from error
    return out.getvalue()


def _wrong(name: str) -> EncryptedFile:
    return EncryptedFile(f"This is not the password of '{name}'.", "Look whether capitals are right, then try again.")


def _damaged(name: str, error: Exception) -> UnreadableFile:
    return UnreadableFile(
        f"'{name}' cannot be unlocked ({type(error).__name__}): it is damaged, or locked in a way not known here.",
        "Save a copy without password in its own program, and upload that.",
    )
