"""Versions of documents: suggestion, confirmation, comparison."""
