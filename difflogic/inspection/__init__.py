"""What can be said of a circuit: its equations, its symmetries, its fixed points."""

from difflogic.inspection.survey import MOST_CELLS as MOST_CELLS
from difflogic.inspection.survey import Inspection as Inspection
from difflogic.inspection.survey import Limits as Limits
from difflogic.inspection.survey import inspect as inspect
from difflogic.inspection.survey import wires as wires
