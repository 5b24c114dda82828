"""The commands: each parses its options, calls the library, and shows the result."""
