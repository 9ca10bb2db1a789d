"""Labels put back: what a corpus misses, how many, and a fuller corpus to learn from."""
