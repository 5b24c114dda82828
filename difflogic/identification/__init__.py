"""Rules of automata found from recordings of their cells."""

from difflogic.identification.identified import Identified as Identified
from difflogic.identification.identified import identify as identify
from difflogic.identification.recording import Question as Question
from difflogic.identification.recording import Recording as Recording
from difflogic.identification.rules import Space as Space
