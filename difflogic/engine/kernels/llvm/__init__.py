"""The primitives, emitted through LLVM: only the compiler ever runs this code."""
