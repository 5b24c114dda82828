"""Rules of automata found from recordings of their cells."""

from difflogic.examples.film import Recording as Recording
from difflogic.identification.explanation import Explanation as Explanation
from difflogic.identification.explanation import identify as identify
from difflogic.identification.inquiry import Inquiry as Inquiry
from difflogic.identification.rules import Space as Space
