"""Detection: decides for each cell of the coverage board whether the library supports it."""
