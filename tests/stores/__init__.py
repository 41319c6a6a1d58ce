"""Stores: contracts every implementation passes, and what is particular to one."""
