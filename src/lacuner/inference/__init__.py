"""A trained run to entities."""
