"""The primitives, emitted through LLVM: only the compiler ever runs this code.

The kernels made of them are compared with `oracle.py`; `kernels/plain.py` says what each one means.
"""
