"""Experiments: training with searches for exact circuits, in the directory of a run.

`searching.py` searches when it is due, and keeps the best circuit; `session.py` saves, resumes and
sums up; `example_race.py` lets ways to learn from examples take turns. Configurations become
problems here: `difflogic.training` and `difflogic.search` know none.
"""
