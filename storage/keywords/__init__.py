"""Keyword search on disk."""
