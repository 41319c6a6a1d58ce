"""The rooms of the Tuning page. They draw only."""
