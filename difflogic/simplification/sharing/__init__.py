"""What neighbouring cells compute alike, computed once: planes that are read at offsets.

A cell's circuit says nothing of its neighbours', though they run the same one: the sum of a column
of cells serves three cells beside each other. A `SharedCircuit` has such values as planes, and
`share` finds one with few operations per cell, proved to make the same next states.
"""

from difflogic.simplification.sharing.circuit import SharedCircuit as SharedCircuit
from difflogic.simplification.sharing.search import EFFORTS as EFFORTS
from difflogic.simplification.sharing.search import Effort as Effort
from difflogic.simplification.sharing.search import Shared as Shared
from difflogic.simplification.sharing.search import share as share
