"""Components of the Upload page."""
