"""The rooms of the Data page."""
