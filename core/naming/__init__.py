"""What a text names, found by patterns and tables alone: the same in a passage and in a question."""
