"""What a trained circuit is worth: the hard circuit, on starts that training never draws."""

from difflogic.evaluation.exactness import ExactnessCheck, held_out

__all__ = ["ExactnessCheck", "held_out"]
