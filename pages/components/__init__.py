"""Components that the pages are made of."""
