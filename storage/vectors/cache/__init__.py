"""A cache of the vectors and filter columns of a tenant in memory-mapped files."""
