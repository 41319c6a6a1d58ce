"""Exports of a search result as files and as data."""
