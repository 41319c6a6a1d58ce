"""Benchmarks on judged files: search, classification, coverage, citations and table questions."""
