"""The data type with gaps, its files, and what can be counted without a model."""
