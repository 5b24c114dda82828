"""From the argmax netlist to a small circuit that does the same, stage by stage."""

from difflogic.logic.simplification.effort import EFFORTS as EFFORTS
from difflogic.logic.simplification.effort import Effort as Effort
from difflogic.logic.simplification.stages import Simplification as Simplification
from difflogic.logic.simplification.stages import Stage as Stage
from difflogic.logic.simplification.stages import simplify as simplify
