"""Training: the loop, what it learns, its plan, and the directory of a run.

`trainer.py` is the loop, to which `searching.py` adds searches for exact circuits; `session.py`
runs it in a directory. `reference.py` is one step in plain NumPy: the fast one is compared with it.
"""
