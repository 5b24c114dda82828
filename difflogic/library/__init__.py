"""Everything the program does, as plain functions: a command parses, calls one, and prints.

Each function checks its arguments, prints nothing, and returns a dataclass. `difflogic` exports
them all. Long ones take a `progress` callback; an exception that it raises cancels the work.
`train`, `sweep` and `identify` also take `should_stop`: if it returns true, they stop and keep
their partial results.
"""
