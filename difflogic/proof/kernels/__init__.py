"""Compiled kernels of proofs."""
