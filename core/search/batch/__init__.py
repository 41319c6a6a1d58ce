"""Batch search: many questions read from a file, with the results written to a file."""
