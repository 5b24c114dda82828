"""Damaged files of every kind: readers accept or refuse each, in bounded time and memory.

With DCT_DAMAGED=COUNT this many of each kind, with other damages than the usual ones.
"""

import io
import json
import os
import resource
import time
from functools import cache
from random import Random

import numpy as np
import pytest
from PIL import Image
from psutil import Process

from difflogic.config import load_config
from difflogic.examples.assumptions import Assumptions
from difflogic.experiment.searching import Trainer
from difflogic.experiment.session import execute
from difflogic.formats import circuit_file
from difflogic.formats.circuit_file import write_circuit
from difflogic.identification import drawn
from difflogic.identification.identified import identify_chance
from difflogic.library import loaded, starts
from difflogic.library.conditions import Conditions
from difflogic.model.model import Model
from difflogic.run.checkpoint import read_checkpoint
from difflogic.run.lock import RunLock
from difflogic.run.metrics import COLUMNS, History, MetricsRow, read_metrics
from difflogic.run.records import list_runs
from difflogic.run.run_directory import LOCK, SWEEP, RunDirectory
from difflogic.run.settings import read_config
from difflogic.run.summary import read_summary
from difflogic.simulation.bit_grid import Geometry
from difflogic.simulation.simulator import LAST_STEP, Simulator, World
from difflogic.sweeps import directory
from difflogic.system.errors import DctError, RunDirectoryError
from tests.difflogic.circuit.circuits import automaton
from tests.difflogic.circuit.rules import life_like
from tests.difflogic.formats.made import assert_same, random_circuit
from tests.difflogic.sweeps.small import small_plan
from tests.difflogic.training.tiny import tiny
from tests.fuzz.damage import damaged

MOST_SECONDS = 10.0
MOST_BYTES = 2**30
EPOCHS = 3
CONFIG = tiny(f"training.epochs={EPOCHS}")

KINDS = {
    "circuit": ("circuit.json", "json"),
    "chance": ("chance.json", "json"),
    "model": ("any.npz", "archive"),
    "state": ("state.npz", "archive"),
    "config": ("config.toml", "lines"),
    "summary": ("summary.json", "json"),
    "metrics": ("metrics.csv", "lines"),
    "checkpoint": (f"checkpoint-{EPOCHS}.npz", "archive"),
    "sweep": (SWEEP, "lines"),
    "lock": (LOCK, "bytes"),
    "text": ("start.txt", "bytes"),
    "rle": ("start.rle", "bytes"),
    "image": ("start.png", "bytes"),
}
"""File name and form of each kind."""


@cache
def template():
    with Trainer(CONFIG) as trainer:
        return trainer.state()


def simulator(circuit, height, width, boundary):
    geometry = Geometry(circuit.channels, height, width, boundary)
    return Simulator(circuit, World(geometry), "interpreter")


def grids():
    """Grids that a saved state may be of."""
    circuits = [random_circuit(channels, 8, np.random.default_rng(2)) for channels in (1, 2)]
    return simulator(circuits[0], 3, 5, "periodic"), simulator(circuits[1], 4, 70, "periodic")


def valid(kind, folder):
    """Make valid files of a kind; `folder` is empty."""
    path = folder / KINDS[kind][0]
    rng = np.random.default_rng(1)
    match kind:
        case "circuit":
            circuits = [life_like("3", "23"), random_circuit(2, 8, rng), random_circuit(3, 40, rng)]
            return [write_circuit(automaton(circuit)).encode() for circuit in circuits]
        case "chance":
            identify_chance(rng.integers(0, 2, (99, 9)), Assumptions("line-1")).save(path)
        case "state":
            made = []
            for grid in grids():
                grid.randomize()
                starts.save_state(path, grid)
                made.append(path.read_bytes())
            return made
        case "metrics":
            rows = [MetricsRow(epoch + 1, 5.0 - epoch, 4.0, 0.5) for epoch in range(EPOCHS)]
            return [History(rows).to_csv().encode()]
        case "lock":
            return [b'{"pid": 1, "host": "x"}']
        case "text":
            return [b"..#..\n.###.\n..#..\n", b"0123\nff00\n", b"rgb.\nymc.\n"]
        case "rle":
            return [b"#C x\nx = 3, y = 3, rule = B3/S23\nbo$2bo$3o!\n"]
        case "image":
            images = []
            for form in ("PNG", "GIF", "BMP", "JPEG", "TIFF", "WEBP"):
                file = io.BytesIO()
                Image.effect_mandelbrot((9, 7), (-2, -1, 1, 1), 9).save(file, form)
                images.append(file.getvalue())
            return images
        case "model":
            sizes = ["automaton.channels=1", "perception.kernels=2", "update.gates=[4, 2, 1]"]
            Model.create(load_config("checkerboard", sizes)).save(path)
        case "sweep":
            plan = small_plan("training.batch=2,4", seeds=(0, 3))
            directory.SweepDirectory(folder).write_plan(plan)
        case _:
            execute(CONFIG, folder)
    return [path.read_bytes()]


def read(kind, path):
    """Read a file. What is accepted must be of use: run, or be saved and read back."""
    run = RunDirectory(path.parent)
    match kind:
        case "circuit" | "model":
            made = loaded.load(path).automaton
            if made.circuit.rows < 10_000:
                made.circuit.next_state(np.zeros((made.circuit.inputs, 1), np.uint64))
                assert_same(circuit_file.parse(json.loads(write_circuit(made)), "x"), made)
        case "chance":
            made = loaded.load(path, drawn.parse).automaton
            simulator(made.circuit, 9, 9, made.boundary).run(1)
        case "state":
            small, large = grids()
            try:
                starts.load_state(path, small)
            except DctError:
                starts.load_state(path, large)
                small = large
            if small.step < LAST_STEP:
                small.run(1)
            assert small.grid.bits().max() <= 1
        case "config":
            read_config(run)
        case "summary":
            read_summary(run)
        case "metrics":
            history, problem = read_metrics(run, EPOCHS)
            if problem is not None:
                raise RunDirectoryError(problem)
            assert history.epoch == EPOCHS
            assert history.to_csv().startswith(",".join(COLUMNS))
        case "checkpoint":
            read_checkpoint(path, template())
        case "sweep":
            directory.SweepDirectory(path.parent).read_plan()
        case "lock":
            with RunLock(path.parent):
                list_runs(path.parent)
        case _:
            with simulator(life_like("3", "23"), 16, 16, "zero") as grid:
                starts.prepare(grid, automaton(life_like("3", "23")), Conditions(start=str(path)))


def accepts(kind, path, content):
    """Return whether a file is read. A refusal must be short, and name the file."""
    path.write_bytes(content)
    began = time.process_time()
    try:
        read(kind, path)
        accepted = True
    except DctError as error:
        message = str(error)
        accepted = False
        # A circuit may be refused for what it is; each problem of settings has its own line.
        told = (path.name, path.parent.name, "automaton", "channel")
        assert any(name in message for name in told), message
        settings = kind in ("config", "sweep") or "problems in the configuration" in message
        assert len(message) < (20_000 if settings else 1000), message
        assert settings or "\n" not in message, message
    finally:
        path.unlink(missing_ok=True)
    assert time.process_time() - began < MOST_SECONDS
    return accepted


@pytest.fixture
def bounded():
    """Let this process map MOST_BYTES more."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (Process().memory_info().vms + MOST_BYTES, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.once
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_are_read_or_refused(kind, tmp_path, bounded):
    name, form = KINDS[kind]
    contents = valid(kind, tmp_path)
    path = tmp_path / "here" / name
    path.parent.mkdir()
    accepted = [accepts(kind, path, content) for content in contents]
    # Text in three colours is no start of a circuit with one visible channel.
    assert accepted[0] if kind == "text" else all(accepted)
    count = int(os.environ.get("DCT_DAMAGED", 150))
    for number in range(count):
        random = Random(f"{kind}-{count}-{number}")
        content = damaged(form, random.choice(contents), random)
        try:
            accepts(kind, path, content)
        except Exception as error:
            (tmp_path / "failed").write_bytes(content)
            raise AssertionError(f"number {number}, kept as {tmp_path / 'failed'}") from error
