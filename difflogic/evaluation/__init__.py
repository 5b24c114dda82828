"""Evaluation of trained circuits: the hard circuit, on starts that training never draws."""

from difflogic.evaluation.exactness import Exactness, check
from difflogic.evaluation.scene import Streams
from difflogic.evaluation.tests import TESTS, choose, run_tests

__all__ = ["TESTS", "Exactness", "Streams", "check", "choose", "run_tests"]
