"""A run's files: its directory, lock, checkpoints, curves, summary and notes, and lists of runs."""
