"""Kills the product's processes at named steps, and compares what is there afterwards with what must be there."""
