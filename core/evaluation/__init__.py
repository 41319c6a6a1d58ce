"""Evaluation of search, coverage and classification against human judgments, and tuning of score profiles."""
