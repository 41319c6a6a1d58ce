"""Metrics on judged results, significance tests and comparison of experiments."""
