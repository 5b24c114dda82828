"""Everything the program does, as plain functions: a command parses, calls one, and prints.

Each function checks its arguments, prints nothing, and returns a dataclass. `difflogic` exports
them all. Within `working(tell=…)` they tell how far they are; an exception that it raises cancels
the work. `train`, `sweep` and `identify` take `should_stop`: if it returns true, they stop and keep
their partial results.
"""
