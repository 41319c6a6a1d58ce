"""Whole-product stories, driven as a person drives them: a real browser against the real app."""
