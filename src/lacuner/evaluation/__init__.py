"""Scores: how labels or predictions compare with gold."""
