"""Dense search: pgvector, Chroma, and a cache in memory-mapped files."""
