"""Reality tables, the fifth truth: storage, links, and questions in natural language."""
