"""Components of the Search page."""
