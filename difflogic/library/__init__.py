"""Everything the program does, as plain functions: commands parse, call one of these, and print.

Each function checks its arguments, prints nothing, and returns a dataclass. `difflogic` exports
them all. Long ones take a `progress` callback, and raise what it raises. `train`, `sweep` and
`identify` also take `should_stop`: if it returns true, they keep what they have so far.
"""
