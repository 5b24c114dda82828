"""Proofs that every start ends in the target: docs/certificates.md explains how."""
