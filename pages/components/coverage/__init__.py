"""The views of the Coverage page: board, review, topics, requirements, conflicts, snapshots. They only draw."""
