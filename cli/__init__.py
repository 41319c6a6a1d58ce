"""The command line: `python -m cli`."""
