"""The sentences that support a result, and where they stand on the page."""
