"""The engine that finds many names at once: shared by dictionaries and lexicons."""
