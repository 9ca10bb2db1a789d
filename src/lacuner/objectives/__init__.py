"""Scores and labels to a loss."""
