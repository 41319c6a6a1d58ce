"""Measurements against a stock pipeline, each one command printing a table; never part of the test run."""
