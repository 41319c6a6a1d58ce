"""Coverage: which truths support which topics, and which documents are missing."""
