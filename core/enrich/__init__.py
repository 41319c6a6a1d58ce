"""What can be drawn from a document: keywords, a summary, questions it answers. Pure."""
