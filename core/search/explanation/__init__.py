"""Explanations: how a score was computed, and why a document is missing."""
