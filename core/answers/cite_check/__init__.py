"""Checks which sentences of a text their citations support."""
