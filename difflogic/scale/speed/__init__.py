"""Speed of training steps over workers: measured, and compared."""
