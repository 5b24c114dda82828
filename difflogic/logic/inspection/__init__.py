"""What can be said of a circuit: its equations, its symmetries, its fixed points."""

from difflogic.logic.inspection.survey import MOST_CELLS as MOST_CELLS
from difflogic.logic.inspection.survey import Inspection as Inspection
from difflogic.logic.inspection.survey import Limits as Limits
from difflogic.logic.inspection.survey import channel_number as channel_number
from difflogic.logic.inspection.survey import inspect as inspect
from difflogic.logic.inspection.survey import wires as wires
