"""Archives for the tests, made entry by entry."""

import io
import tarfile
import zipfile

__all__ = ["tar_of", "zip_of"]


def zip_of(*entries: tuple[str | zipfile.ZipInfo, bytes], stored: bool = False) -> bytes:
    """A ZIP of these entries, in this order; names may stand in it twice."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries:
            if isinstance(name, zipfile.ZipInfo):
                name.compress_type = archive.compression
            archive.writestr(name, data)
    return out.getvalue()


def tar_of(*entries: tuple[str | tarfile.TarInfo, bytes], mode: str = "w") -> bytes:
    """A TAR of these entries; mode "w:gz" packs it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in entries:
            entry = tarfile.TarInfo(name) if isinstance(name, str) else name
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()
