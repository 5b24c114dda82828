"""The public names. `difflogic` reads this list, and imports each when it is first used."""

# ruff: noqa: I001  (one line for a module)
from difflogic.circuit.specification import Cases as Cases
from difflogic.config import Config as Config, load_config as load_config
from difflogic.engine.soft.rollout import Engine as Engine
from difflogic.examples.assumptions import Assumptions as Assumptions
from difflogic.experiment.following import follow as follow
from difflogic.experiment.example_options import ExampleOptions as ExampleOptions
from difflogic.experiment.example_run import train_examples as train_examples
from difflogic.experiment.searching import Trainer as Trainer
from difflogic.identification.identified import (
    identify as identify,
    identify_chance as identify_chance,
)
from difflogic.library.applying import apply as apply
from difflogic.library.conditions import Conditions as Conditions, Rectangle as Rectangle
from difflogic.library.evaluating import check as check, evaluate as evaluate, inspect as inspect
from difflogic.library.exporting import export as export
from difflogic.library.groups import Claims as Claims, Frames as Frames
from difflogic.library.joining import join as join
from difflogic.library.layers import SoftRollout as SoftRollout
from difflogic.library.loaded import load as load
from difflogic.library.proving import certify as certify, prove as prove
from difflogic.library.rendering import render as render
from difflogic.library.reporting import report as report
from difflogic.library.signals import rule as rule
from difflogic.library.simplifying import simplify as simplify
from difflogic.library.simulating import simulate as simulate
from difflogic.library.training import train as train
from difflogic.model.model import Model as Model
from difflogic.run.records import runs as runs
from difflogic.speed.benchmark import bench as bench, compare as compare, plan as plan
from difflogic.sweeps.sweep_options import SweepOptions as SweepOptions
from difflogic.sweeps.sweep import sweep as sweep
from difflogic.system.errors import DctError as DctError
from difflogic.system.ranks import mpi_ranks as mpi_ranks
from difflogic.system.work import working as working
from difflogic.tasks import Task as Task
from difflogic.view.watching.serving import watch as watch
