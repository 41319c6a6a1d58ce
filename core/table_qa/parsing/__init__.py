"""Parses a question about tables: tokens, meanings, conditions, and the shape of the answer."""
