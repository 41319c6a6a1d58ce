"""What a text names, found by patterns and tables alone: the same for a passage that is read and a question that is asked."""
