"""Adapters to everything outside except the stores: models, the web, local folders, processes."""
