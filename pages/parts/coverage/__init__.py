"""The rooms of the Coverage page: board, review, topics, requirements, conflicts, snapshots. Each draws, none computes."""
