"""How training steps scale over workers: measured here, fitted by laws, and simulated beyond."""
