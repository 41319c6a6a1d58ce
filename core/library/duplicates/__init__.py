"""Near-duplicate documents, found by MinHash."""
