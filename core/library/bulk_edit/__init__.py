"""Bulk edits of documents: plan, preview, apply, undo."""
