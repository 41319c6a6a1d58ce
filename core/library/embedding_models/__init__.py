"""Changing a library's embedding model without reading its documents again."""
