"""The answer of five on the Search page: one module per part of what one sees."""
