"""Speed of training steps over workers: measured, fitted by laws, and predicted."""
