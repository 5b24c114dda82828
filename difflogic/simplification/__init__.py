"""From a trained circuit to a small circuit that computes the same, stage by stage."""

from difflogic.simplification.passes import EFFORTS as EFFORTS
from difflogic.simplification.passes import EffortLimits as EffortLimits
from difflogic.simplification.passes import Pass as Pass
from difflogic.simplification.passes import Simplification as Simplification
from difflogic.simplification.passes import is_compiled as is_compiled
from difflogic.simplification.passes import simplify as simplify
