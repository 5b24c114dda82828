"""The primitives, emitted through LLVM. The kernels made of them are compared with `oracle.py`."""
