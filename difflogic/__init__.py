"""Differentiable logic cellular automata: train them fast, harden them, trust them.

The public names are imported when they are first used, since the compiled kernels behind them take
a moment to load.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from difflogic.version import __version__ as __version__

if TYPE_CHECKING:
    from difflogic.circuit.specification import Cases as Cases
    from difflogic.config import Config as Config
    from difflogic.config import load_config as load_config
    from difflogic.engine.hardware import Hardware as Hardware
    from difflogic.engine.soft.rollout import Engine as Engine
    from difflogic.engine.soft.work_stats import WorkStats as WorkStats
    from difflogic.evaluation.exactness import check as check
    from difflogic.experiment.following import follow as follow
    from difflogic.experiment.searching import Trainer as Trainer
    from difflogic.library.applying import apply as apply
    from difflogic.library.benchmarking import bench as bench
    from difflogic.library.benchmarking import compare as compare
    from difflogic.library.benchmarking import plan as plan
    from difflogic.library.conditions import Conditions as Conditions
    from difflogic.library.conditions import Rectangle as Rectangle
    from difflogic.library.evaluating import evaluate as evaluate
    from difflogic.library.evaluating import inspect as inspect
    from difflogic.library.exemplifying import train_examples as train_examples
    from difflogic.library.exporting import export as export
    from difflogic.library.groups import Assumptions as Assumptions
    from difflogic.library.groups import Claims as Claims
    from difflogic.library.groups import ExampleOptions as ExampleOptions
    from difflogic.library.groups import Frames as Frames
    from difflogic.library.groups import SweepOptions as SweepOptions
    from difflogic.library.identifying import identify as identify
    from difflogic.library.identifying import identify_chance as identify_chance
    from difflogic.library.layers import SoftRollout as SoftRollout
    from difflogic.library.loaded_circuit import load as load
    from difflogic.library.proving import certify as certify
    from difflogic.library.proving import prove as prove
    from difflogic.library.records import runs as runs
    from difflogic.library.rendering import render as render
    from difflogic.library.reporting import plot as plot
    from difflogic.library.reporting import report as report
    from difflogic.library.serving import watch as watch
    from difflogic.library.signals import rule as rule
    from difflogic.library.simplifying import simplify as simplify
    from difflogic.library.simulating import simulate as simulate
    from difflogic.library.sweeping import sweep as sweep
    from difflogic.library.training import train as train
    from difflogic.model.model import Model as Model
    from difflogic.system.errors import DctError as DctError
    from difflogic.system.ranks import mpi_ranks as mpi_ranks
    from difflogic.tasks import Task as Task
    from difflogic.training.plan import ParallelPlan as ParallelPlan

PROJECT = "dct"
"""Identifies this package: another one on PyPI has the same name."""

_NAMES = {
    "difflogic.circuit.specification": "Cases",
    "difflogic.config": "Config load_config",
    "difflogic.engine.hardware": "Hardware",
    "difflogic.training.plan": "ParallelPlan",
    "difflogic.engine.soft.rollout": "Engine",
    "difflogic.engine.soft.work_stats": "WorkStats",
    "difflogic.evaluation.exactness": "check",
    "difflogic.library.benchmarking": "bench compare plan",
    "difflogic.library.evaluating": "evaluate inspect",
    "difflogic.library.applying": "apply",
    "difflogic.library.exemplifying": "train_examples",
    "difflogic.library.exporting": "export",
    "difflogic.library.groups": "Assumptions Claims ExampleOptions Frames SweepOptions",
    "difflogic.library.identifying": "identify identify_chance",
    "difflogic.library.layers": "SoftRollout",
    "difflogic.library.records": "runs",
    "difflogic.library.loaded_circuit": "load",
    "difflogic.library.rendering": "render",
    "difflogic.library.reporting": "plot report",
    "difflogic.library.signals": "rule",
    "difflogic.library.serving": "watch",
    "difflogic.library.proving": "certify prove",
    "difflogic.library.simplifying": "simplify",
    "difflogic.library.conditions": "Conditions Rectangle",
    "difflogic.library.simulating": "simulate",
    "difflogic.library.sweeping": "sweep",
    "difflogic.library.training": "train",
    "difflogic.model.model": "Model",
    "difflogic.system.errors": "DctError",
    "difflogic.system.ranks": "mpi_ranks",
    "difflogic.tasks": "Task",
    "difflogic.experiment.following": "follow",
    "difflogic.experiment.searching": "Trainer",
}
"""The public names of each module."""

_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
