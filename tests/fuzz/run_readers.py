"""Damages configurations, runs, sweeps and starts, and checks how their readers handle them.

readers.py does the same for circuits and models, and has the damage that they share.
"""

from __future__ import annotations

import io
from pathlib import Path
from random import Random

from PIL import Image

from difflogic.circuit.automaton import Automaton
from difflogic.scale.sweeps.directory import FILE, SweepDirectory
from difflogic.simulation import starts
from difflogic.simulation.bit_grid import Geometry
from difflogic.simulation.simulator import Conditions, Simulator
from difflogic.system.errors import DctError
from difflogic.training.checkpoint import read_checkpoint
from difflogic.training.lock import NAME, RunLock
from difflogic.training.metrics import COLUMNS, History, MetricsRow
from difflogic.training.run_directory import RunDirectory, list_runs
from difflogic.training.session import execute
from tests.difflogic.circuit.circuits import automaton
from tests.difflogic.formats.made import life
from tests.difflogic.scale.sweeps.small import small_plan
from tests.difflogic.training.tiny import tiny
from tests.fuzz import readers

NAMES = {
    "config": "config.toml",
    "summary": "summary.json",
    "metrics": "metrics.csv",
    "checkpoint": "checkpoint-3.npz",
    "sweep": FILE,
    "lock": NAME,
    "text": "start.txt",
    "rle": "start.rle",
    "image": "start.png",
}
"""The file name of each kind."""

KINDS = tuple(NAMES)

EPOCHS = 3
_STATE = {}


def seeds(kind: str, folder: Path) -> list[bytes]:
    """Return valid files of a kind; `folder` is for a temporary run."""
    match kind:
        case "sweep":
            SweepDirectory(folder).write_plan(small_plan("training.batch=2,4", seeds=(0, 3)))
            return [(folder / FILE).read_bytes()]
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
            for kind_of, mode in (("PNG", "RGBA"), ("PNG", "P"), ("GIF", "P"), ("BMP", "RGB")):
                content = io.BytesIO()
                Image.effect_mandelbrot((9, 7), (-2, -1, 1, 1), 9).convert(mode).save(
                    content, kind_of
                )
                images.append(content.getvalue())
            return images
    run = folder / f"run-for-{kind}"
    if not run.exists():
        execute(tiny(f"training.epochs={EPOCHS}"), run)
    return [(run / NAMES[kind]).read_bytes()]


def damage(kind: str, content: bytes, random: Random) -> bytes:
    """Return a file with some damage, as text or by its meaning."""
    if kind == "checkpoint":
        return readers.damage("state", content, random)
    if kind == "summary":
        return readers.damage("circuit", content, random)
    if kind in ("config", "sweep", "metrics") and random.random() < 0.6:
        return _damage_lines(content, random)
    return readers.damage("text", content, random)


def _damage_lines(content: bytes, random: Random) -> bytes:
    lines = content.decode(errors="replace").splitlines()
    for _ in range(random.choice([1, 1, 2, 5])):
        place = random.randrange(len(lines)) if lines else 0
        match random.randrange(6):
            case 0 if lines:
                del lines[place]
            case 1 if lines:
                lines[place:place] = [lines[place]] * random.choice([1, 2, 99])
            case 2 if lines:
                random.shuffle(lines)
            case 3 if lines:
                key, equals, _ = lines[place].partition("=" if "=" in lines[place] else ",")
                value = random.choice(readers.VALUES)
                lines[place] = f"{key}{equals}{value!r}"
            case 4:
                lines.insert(place, ".".join("a" * random.choice([1, 9, 300])) + " = 1")
            case _:
                lines.insert(place, "[" * random.choice([1, 2, 99]) + "x]")
    return "\n".join(lines).encode()


def check(kind: str, content: bytes, folder: Path) -> bool:
    """Read `content` under its usual name; return whether it was accepted.

    A refused file must raise a short error that names it.
    """
    path = folder / NAMES[kind]
    path.write_bytes(content)
    try:
        _read(kind, path)
    except DctError as error:
        message = str(error)
        assert path.name in message or folder.name in message, message
        assert len(message) < 20_000, len(message)
        return False
    finally:
        path.unlink(missing_ok=True)
    return True


def _read(kind: str, path: Path) -> None:
    run = RunDirectory(path.parent)
    match kind:
        case "config":
            run.read_config()
        case "summary":
            run.read_summary()
        case "metrics":
            history = run.read_metrics(EPOCHS)
            assert len(history) == EPOCHS
            assert history.to_csv().startswith(",".join(COLUMNS))
        case "checkpoint":
            read_checkpoint(path, _template())
        case "sweep":
            SweepDirectory(path.parent).read_plan()
        case "lock":
            with RunLock(path.parent):
                list_runs(path.parent)
        case _:
            made = _picture_automaton()
            geometry = Geometry(made.circuit.channels, 16, 16, "zero")
            with Simulator(made.circuit, Conditions(geometry), "interpreted") as simulator:
                starts.prepare(simulator, made, str(path), 0.5)


def _template() -> dict:
    if "template" not in _STATE:
        from difflogic.training.searching import Trainer

        _STATE["template"] = Trainer(tiny(f"training.epochs={EPOCHS}")).state()
    return _STATE["template"]


def _picture_automaton() -> Automaton:
    return automaton(life())
