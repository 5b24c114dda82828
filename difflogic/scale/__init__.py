"""Many runs and many workers: sweeps, speed, and the comparisons of every way to share work."""
