"""Extracts keywords, a summary, questions, the type, citations and dates from a document."""
