"""Backups: one file with the database and the originals, made while the app runs."""
