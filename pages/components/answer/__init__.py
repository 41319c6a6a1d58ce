"""The answer by five truths on the Search page: one module per component."""
