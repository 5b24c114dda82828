"""Training: descent, what it learns, its plan, and how ranks and workers share it.

`trainer.py` takes the steps of a problem, and is compared with `reference.py`, in plain NumPy.
Searches, and the directory of a run, are those of `difflogic.experiment`.
"""
