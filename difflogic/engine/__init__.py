"""The engine: rollouts of soft and of hard automata, and their gradients, on processor cores.

`soft/rollout.py` is its front for training, `hard/hard_simulator.py` for hard circuits,
`hard/candidates.py` for searches. All of it is compared with `oracle.py`, in plain NumPy. It knows
circuits and grids, but no task.
"""
