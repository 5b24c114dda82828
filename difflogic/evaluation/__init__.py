"""Evaluation of trained circuits: the hard circuit, on starts that training never draws."""
