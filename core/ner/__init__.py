"""Named entity recognition by patterns and tables, without a model; the same for passages and questions."""
