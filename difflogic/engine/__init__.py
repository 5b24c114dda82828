"""The engine: rollouts of soft and of hard automata, and their gradients, on processor cores.

`rollout.py` is its front for training, `hard.py` for hard circuits, `candidates.py` for searches.
All of it is compared with `oracle.py`, in plain NumPy. It knows circuits and grids, but no task.
"""
