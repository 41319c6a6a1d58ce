"""Insights and episodes: analysts' notes, stored, searched and aged."""
