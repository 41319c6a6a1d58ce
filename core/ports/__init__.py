"""Protocols that more than one package uses."""
