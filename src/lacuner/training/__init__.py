"""The loop, its batches, and the folder that keeps a run."""
