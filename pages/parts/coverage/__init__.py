"""The rooms of the Coverage page: board, review, topics, requirements, conflicts, snapshots. They draw only."""
