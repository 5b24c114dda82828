"""What the program does, as plain functions: the commands parse, call one of these, and show.

Each checks what it is given, prints nothing, and returns a dataclass. `difflogic` offers them all
by name. Those that take a while take `progress`, which hears how far they are, and `should_stop`,
which is asked as often; where it says yes, StoppedError is raised, and training saves first.
"""
