"""Stores in PostgreSQL: one module per noun."""
