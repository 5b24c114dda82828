"""From a trained circuit to a small circuit that computes the same, stage by stage."""

from difflogic.simplification.stages import EFFORTS as EFFORTS
from difflogic.simplification.stages import Effort as Effort
from difflogic.simplification.stages import Pass as Pass
from difflogic.simplification.stages import Simplification as Simplification
from difflogic.simplification.stages import simplify as simplify
