"""Everything the program does, as plain functions: commands parse, call one of these, and print.

Each function checks its arguments, prints nothing, and returns a dataclass. `difflogic` exports
them all. Long ones take a `progress` callback, and `should_stop`, which they call as often; if it
returns true they raise StoppedError, after saving if they train.
"""
