"""Retrieval: the three legs run in parallel, and the fusion of their ranks."""
