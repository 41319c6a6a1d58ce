"""Answers one question from five truths: search, comparison, text, and a check of model-written text."""
