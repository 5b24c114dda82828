"""Training steps on a GPU, by a shader: many runs of one shape side by side.

`learned.py` takes the place of the processor's optimizer and engine. A step is compared with
`oracle.py`, in plain NumPy.
"""
