"""Originals in a dict."""

from hashlib import sha256

from core.errors import NotFound, StoreFailed

__all__ = ["MemoryBlobs"]


class MemoryBlobs:
    """ports.BlobStore that forgets when the process ends."""

    def __init__(self) -> None:
        self._data: dict[str, bytes] = {}

    def put(self, data: bytes) -> str:
        """Keep the bytes under their hex SHA-256."""
        name = sha256(data).hexdigest()
        self._data[name] = bytes(data)
        return name

    def get(self, sha256: str) -> bytes:
        """Raises NotFound, or StoreFailed when the bytes no longer match their name."""
        if sha256 not in self._data:
            raise NotFound(f"No original with SHA-256 {sha256[:12]}….", "Upload the file again.")
        data = self._data[sha256]
        if _digest(data) != sha256:
            raise StoreFailed(f"The original {sha256[:12]}… is damaged.", "Upload the file again.")
        return data

    def exists(self, sha256: str) -> bool:
        """Whether these bytes are kept."""
        return sha256 in self._data


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()
