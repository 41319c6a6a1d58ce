"""Typed SQL: parsed and checked before the database sees it."""
