"""Hard circuits as plain logic: to be simplified, proved, inspected, simulated and exported.

Nothing here knows how a circuit was trained; `automaton.py` alone turns a model into logic.
"""
