"""Sweeps: one experiment over many seeds and settings, as separate runs.

A sweep's `plan` is stored in its `directory`. Its missing runs become jobs (`planned_run`), which
`execution` does on this machine's cores or on a cluster (`backends`, `cluster`). Their summaries
become tables (`results`).
"""
