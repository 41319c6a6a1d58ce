"""Components of the Insights page: listing, editing and deleting insights and episodes."""
