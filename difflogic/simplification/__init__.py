"""From the argmax netlist to a small circuit that does the same, stage by stage."""

from difflogic.simplification.effort import EFFORTS as EFFORTS
from difflogic.simplification.effort import Effort as Effort
from difflogic.simplification.stages import Simplification as Simplification
from difflogic.simplification.stages import Stage as Stage
from difflogic.simplification.stages import simplify as simplify
