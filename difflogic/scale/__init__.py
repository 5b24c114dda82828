"""Many runs and many workers: sweeps, speed, and comparisons of all ways to share work."""
