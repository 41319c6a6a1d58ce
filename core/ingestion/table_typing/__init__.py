"""Infers column types of text tables; separates loadable from rejected rows."""
