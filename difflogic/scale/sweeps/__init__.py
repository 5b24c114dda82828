"""Sweeps: one experiment over many seeds and settings, whole runs side by side.

A question (`question`) is asked in a directory of its own (`directory`); its runs that are not
there yet are jobs (`work`) for this machine's cores or a cluster (`backends`, `execution`); their
summaries become tables (`results`, `tables`).
"""
