"""The experiment of a picture: the grid, circuit, steps and recipe that suit it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from difflogic.circuit.colors import hex_color
from difflogic.circuit.grid import NEIGHBORHOOD
from difflogic.config import Config, Override, load_config
from difflogic.config.sections import fit_layer_widths
from difflogic.library.experiments import Experiment, refuse_both
from difflogic.library.groups import PictureOptions
from difflogic.pictures.growth import Growth
from difflogic.pictures.images import MOST_PICTURE_SIDE
from difflogic.pictures.picture import Picture, is_image, read
from difflogic.pictures.places import MOST_PERIOD, Places, ring
from difflogic.pictures.text import render_picture
from difflogic.system.errors import ConfigError

LEAST_HEALED = 4
"""Rows and columns of the smallest grid that can heal."""

MOST_LEARNED = 64
"""Longest side where cells learn their places, or where a proof runs every damage."""

LEARNED_SIDE = 16
"""Longest side, in cells, on which cells learn their places; on larger grids they count them. At 32
cells, learning places worked for one picture in two, and took minutes."""

COUNTING_LAYERS = 12
COUNTING_WIDTH = 512
COUNTING_EPOCHS = 200
"""With counted places, what is still wrong after the last epoch is corrected."""

SINGLE_STEPS = {
    "perception.kernels": 1,
    "perception.gates": [8],
    "perception.directions": "same",
    "update.carry": 0,
    "training.weight_decay": 0,
    "training.later_steps": 0,
    "training.restart_every": 0,
    "pool.batch": 0,
    "pool.damage_tries": 1,
}
"""One step is learned: the rest of a growth follows from it."""

COUNTING_KEYS = SINGLE_STEPS | {
    "automaton.places": True,
    "finishing.rectify": 0,
    "finishing.candidates": 0,
    "finishing.from_epoch": 0,
    "finishing.every": 10**6,
    "training.epochs": COUNTING_EPOCHS,
}

TILE_LAYERS = 5
LEARNED_TILE = 8
"""Layers of a tile's circuit, and the longest side of a tile that is learned without counters."""

COUNTED_LAYERS = 3
COUNTED_WIDTH = 64
MOST_COUNTED = 20
"""Of a tile with counted places; and the most bits of a place, whose whole table is corrected."""
COUNTED_TILE = {"perception.wiring": "moore", "training.epochs": 100}


def picture(config: str | None, options: PictureOptions, resumed: bool) -> Experiment:
    """Return the experiment of a picture, with grid, circuit and steps that suit it.

    Raises ConfigError for options that conflict, and for what is no picture.
    """
    target = options.target
    colors = options.colors
    channels = options.channels
    chosen = options.choose_configuration
    if config is not None:
        load_config(config)  # such as a picture in its place, which is refused
    if options.tile:
        return tile_for(config, options)
    if options.asynchronous:
        raise ConfigError("--async is for tiles: use it with --tile")
    if colors is not None and options.palette:
        raise ConfigError("--colors and --palette both choose colours: give only one of them")
    if colors is not None:
        refuse_both("--colors", config)
    if chosen and config is not None:
        raise ConfigError(
            f"{config}: --hold, --heal, --size, --steps, --colors, --palette and --tough "
            "choose a configuration by the picture: name one by --target in its place, or use --set"
        )
    shows = target is not None and colors is None and is_image(target)
    if config is None and not resumed and (chosen or shows):
        found = read(target or "lizard", colors, options.size, options.palette)
        return experiment_for(found, options)
    default = "letter-g" if colors == 3 or (colors is None and target == "letter-g") else "lizard"
    overrides = [] if target is None else [picture_override(target)]
    if channels is not None:
        changes = circuit_for(config or default, channels)
        overrides += overriding(changes, f"--channels {channels}")
    named = None if target in (None, config or default) else picture_name(target)
    return Experiment(config, default, overrides, named, "pattern")


def tile_for(config: str | None, options: PictureOptions) -> Experiment:
    """Return how to learn a tile. Raises ConfigError for options that are not about tiles."""
    given = (options.hold, options.heal, options.tough)
    if any(given) or options.channels is not None or options.steps is not None:
        raise ConfigError(
            "--tile stays and heals: leave out --hold, --heal, --tough, --channels and --steps"
        )
    refuse_both("--tile", config)
    if options.target is None:
        raise ConfigError("--tile needs a picture that repeats: name its file by --target")
    tile = read(options.target, options.colors, options.size, options.palette)
    own, rows, columns = tile.bits.shape
    if max(rows, columns) > MOST_PERIOD:
        raise ConfigError(
            f"{tile.name}: {rows}×{columns} cells are more than the {MOST_PERIOD}×"
            f"{MOST_PERIOD} of a tile: cut one tile out, or make it smaller with --size"
        )
    # No multiple of the tile's sides, so that each edge cuts a tile.
    height = max(13, 2 * rows + 1)
    width = max(13, 2 * columns + 1)
    rate = 0.6 if options.asynchronous else 1.0
    changes = _picture_settings(tile) | {
        "task.height": height,
        "task.width": width,
        "automaton.steps": round((height + width) / rate**2),
        "automaton.fire_rate": rate,
    }
    changes["task.tile"] = changes.pop("task.target")
    if max(rows, columns) <= LEARNED_TILE:
        channels = own + len(ring(rows)) + len(ring(columns))
        how = "learned by lessons of one step"
        wide = max(64, 1 << (24 * channels - 1).bit_length())
        gates = fit_layer_widths([wide] * TILE_LAYERS + [0], 4 * channels, channels)
        changes |= {"automaton.channels": channels, "update.gates": gates}
    else:
        places = Places.within((rows, columns))
        how = "places are counted; learned, then corrected"
        if places.known > MOST_COUNTED:
            raise ConfigError(
                f"{tile.name}: {rows}×{columns} cells need {places.known} bits for a place, more "
                f"than {MOST_COUNTED}: use --size with powers of two, or smaller ones"
            )
        changes |= COUNTING_KEYS | COUNTED_TILE | {"automaton.periods": [rows, columns]}
        growth = Growth(own, height, width, places)
        changes |= _counting_circuit(growth, places, COUNTED_LAYERS, COUNTED_WIDTH)
    lines = [
        f"{Path(tile.name).name}: {tile.words}, as a tile of {columns}×{rows} cells",
        f"goal: the tile from every start, on every grid; {how}, on {width}×{height} cells",
    ]
    overrides = overriding(changes, f"--target {tile.name}")
    name = picture_name(tile.name).replace("pattern", "tile", 1)
    return Experiment(None, "hexagons", overrides, name, "tile", lambda config: lines)


def picture_override(target: str) -> Override:
    """Return the override for a picture: a file, or a shipped name if there is no such file."""
    path = Path(target)
    looks_like_a_path = path.suffix != "" or len(path.parts) > 1
    name = str(path.absolute()) if looks_like_a_path or path.is_file() else target
    return Override("task.target", name, f"--target {target}")


def picture_name(target: str) -> str:
    """Name an experiment after its picture's file."""
    stem = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in Path(target).stem)
    return f"pattern-{stem}"[:64]


def experiment_for(picture: Picture, options: PictureOptions) -> Experiment:
    """Return how to grow a picture, and then hold it, or heal it after damage.

    Raises ConfigError for a picture that is too large, or too small to heal, and for choices that
    do not fit.
    """
    growth = growth_for(picture, options)
    channels = options.channels
    longer = max(growth.height, growth.width)
    steps = options.steps or max(12, round(1.125 * longer), growth.least_steps)
    is_rolled_out = not (growth.hold or growth.places)
    lasting = "lizard-heal" if growth.heal else "lizard-hold"
    base = "letter-g" if is_rolled_out else lasting
    changes = _picture_settings(picture) | {"automaton.steps": steps, "task.hold": growth.hold}
    if growth.heal:
        changes["task.heal"] = list(growth.heal)
    if growth.places is not None:
        changes |= COUNTING_KEYS | _counting_circuit(growth, growth.places)
    elif channels is not None:
        changes |= circuit_for(base, channels)
    overrides = overriding(changes, f"--target {picture.name}")
    told = ", told by majorities" if growth.places is not None and growth.places.tough else ""
    places = f", its place among them{told}" if growth.places else ""

    def about(config: Config) -> list[str]:
        return [
            f"{Path(picture.name).name}: {picture.words}",
            *([f"warning: {picture.warning}"] if picture.warning else []),
            f"circuit: {config.automaton.channels} bits per cell{places}, layers of "
            f"{max(config.update.gates)} gates; from nothing, zero boundary",
            f"goal: {_goal(growth, steps)}",
        ]

    return Experiment(None, base, overrides, picture_name(picture.name), "pattern", about)


def growth_for(picture: Picture, options: PictureOptions) -> Growth:
    """Return how a picture grows by some options. Raises ConfigError if they do not fit."""
    own, height, width = picture.bits.shape
    longer = max(height, width)
    least = min(height, width)
    heal = options.heal
    tough = options.tough
    if tough and options.channels is not None:
        raise ConfigError("--tough does not go with --channels: leave one out")
    counts = tough or (longer > LEARNED_SIDE and options.channels is None)
    most = MOST_PICTURE_SIDE if counts else MOST_LEARNED
    if longer > most:
        why = "" if counts else " with --channels"
        raise ConfigError(
            f"{picture.name}: {height}×{width} cells are more than {most}×{most}{why}: "
            "choose a smaller grid with --size"
        )
    if heal and least < LEAST_HEALED:
        raise ConfigError(
            f"{picture.name}: {height}×{width} cells are too few to heal: use {LEAST_HEALED} rows "
            "and columns or more, or leave --heal out"
        )
    places = Places.over(height, width, tough) if counts else None
    sides = tuple(sorted({max(1, least // 4), least // 2})) if heal else ()
    return Growth(own, height, width, places, hold=options.hold or heal, heal=sides)


def _goal(growth: Growth, steps: int) -> str:
    """Say what is asked of a picture."""
    goal = f"to be right at step {steps}"
    if growth.hold:
        goal += ", and to stay"
    if growth.heal:
        squares = " or ".join(map(str, growth.heal))
        goal += f", and grow back after any square of {squares} cells is erased"
    if growth.places is not None:
        goal += "; learned, then corrected"
    return goal


def _counting_circuit(
    growth: Growth, places: Places, depth: int = COUNTING_LAYERS, width: int = COUNTING_WIDTH
) -> dict[str, Any]:
    """Return the sizes of a circuit that counts places."""
    reads_own = places.tough or places.periods
    inputs = places.known * (1 if reads_own else NEIGHBORHOOD)
    widths = list[int]()
    for _ in range(depth):
        # No two gates of a layer read the same pair.
        inputs = min(width, inputs * (inputs - 1) // 2)
        widths.append(inputs)
    while widths[-1] > 2 * growth.bits:
        widths.append((widths[-1] + 1) // 2)
    widths.append(growth.bits)
    layers = places.layers(len(widths))
    gates = [width + len(layer.op) for width, layer in zip(widths, layers, strict=True)]
    return {
        "automaton.channels": growth.channels,
        "update.gates": gates,
        "automaton.tough": places.tough,
    }


def _picture_settings(picture: Picture) -> dict[str, Any]:
    bits = picture.bits
    return {
        "task.target": render_picture(bits),
        "task.palette": [hex_color(color) for color in picture.palette],
        "task.loss_channels": list(range(len(bits))),
        "task.height": bits.shape[1],
        "task.width": bits.shape[2],
    }


def overriding(changes: Mapping[str, Any], typed: str) -> tuple[Override, ...]:
    """Return what an option, as the user typed it, changes in a configuration."""
    return tuple(Override(key, value, typed) for key, value in changes.items())


def circuit_for(base: str, channels: int) -> dict[str, Any]:
    """Return the keys for another number of channels, with a matching update circuit."""
    config = load_config(base)
    inputs = channels * (1 + config.perception.kernels * config.perception.gates[-1])
    gates = fit_layer_widths(config.update.gates, inputs, channels)
    return {"automaton.channels": channels, "update.gates": gates}
