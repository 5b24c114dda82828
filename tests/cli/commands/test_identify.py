"""`dct identify`: recordings of all kinds, output and refusals."""

import json
import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image

from difflogic.examples.film import Reading, read
from difflogic.system.errors import ConfigError
from tests.difflogic.identification import automata
from tests.difflogic.identification.automata import film, life, soup
from tests.paths import DOCS

CRITTERS = DOCS / "critters.gif"


@pytest.fixture(scope="module")
def frames():
    return film(life, soup(np.random.default_rng(0), (40, 40)), 10)


def pictures(frames, cell=1, shades=(0, 255)):
    """Frames as images, each cell a square."""
    levels = np.array(shades, np.uint8)[frames]
    return [Image.fromarray(np.kron(each, np.ones((cell, cell), np.uint8))) for each in levels]


def save_film(path, frames, *looks):
    first, *rest = pictures(frames, *looks)
    first.save(path, save_all=True, append_images=rest)


def rle(cells):
    rows = "$".join("".join("bo"[cell] for cell in row) for row in cells)
    return f"x = {cells.shape[1]}, y = {cells.shape[0]}, rule = B3/S23\n{rows}!\n"


def test_a_recording_becomes_a_circuit(dct, tmp_path, frames):
    save_film(tmp_path / "film.gif", frames, 3)
    out = str(tmp_path / "rule.json")
    settings = "--symmetry outer-totalistic --effort low"
    result = dct(f"identify film.gif {settings} -o {out}").good
    assert "40×40 cells, 3 pixels each; black = 0, white = 1; nothing unseen" in result.stdout
    assert "rule: B3/S23" in result.stdout
    assert "no other rule explains the recording" in result.stdout
    assert dct(f"simulate {out} --steps 3 --size 8x8").good
    assert dct(f"export {out} -o rule.v").good
    save_film(tmp_path / "short.gif", frames[5:7])
    for more in ("", "--noise", "--symmetry auto"):
        assert "rule: perhaps B3/S23" in dct(f"identify short.gif {settings} {more}").stdout


def test_a_rule_by_blocks(dct, tmp_path):
    asked = f"identify {CRITTERS} --neighbourhood margolus"
    found = dct(f"{asked} -o rule.json").stdout
    assert "of frame 0 is row 1, column 1 of its block, and one further" in found
    assert "properties: reversible, not number-conserving," in found
    told = dct(f"{asked} --json").json
    assert (told["corners"], told["table"][0]["next"]) == ([[1, 1]], "11/11")


def test_a_space_time_diagram_of_a_line(dct, tmp_path):
    start = soup(np.random.default_rng(0), (80,), 0.5)
    pictures(film(automata.elementary(110), start, 30)[None])[0].save(tmp_path / "line.png")
    film_and_kind = "line.png --neighbourhood line-1"
    assert "rule: rule 110" in dct(f"identify {film_and_kind} --threshold 0.5").stdout
    # More than half of the cells are ones here, and are taken for the ground.
    found = dct(f"identify {film_and_kind}").stdout
    assert "white = 0, black = 1" in found
    assert "rule: rule 137 (rule 110 with --states black,white)" in found
    assert "rule: rule 110," in dct(f"identify {film_and_kind} --states black,white").stdout


BLINKER = np.zeros((5, 5), int)
BLINKER[2, 1:4] = 1


def alpha(cells):
    """Black on transparent greys."""
    return np.stack([90 - 90 * cells] * 3 + [255 * cells], axis=-1).astype(np.uint8)


def turned(path, cells):
    """Save an image that lies on its side, and says so."""
    exif = Image.Exif()
    exif[0x0112] = 6  # turn it by a quarter, clockwise
    Image.fromarray(255 * np.rot90(cells).astype(np.uint8)).save(path, exif=exif)


@pytest.mark.parametrize(
    ("pixels", "told"),
    [
        (alpha, "transparent = 0, black = 1"),
        (lambda cells: np.where(cells, 60000, 1000).astype(np.uint16), "grey:1000 = 0, grey:60000"),
        (lambda cells: cells.astype(np.uint16), "black = 0, grey:1 = 1"),
        (turned, "black = 0, white = 1"),
        (lambda cells: 0 * alpha(cells), "error one colour, transparent"),
        (lambda cells: (cells + 65535).astype(np.int32), "error greys of 32 bits"),
    ],
)
def test_what_images_hold_is_told(tmp_path, pixels, told):
    # In the second frame, the commoner colour is that of the ones.
    frames = np.stack([BLINKER, 1 - BLINKER, 0 * BLINKER])
    frames[:, 0, 0] = 1  # has no symmetry
    paths = [tmp_path / f"{number}.tiff" for number in range(3)]
    for path, cells in zip(paths, frames, strict=True):
        if pixels is turned:
            turned(path, cells)
        else:
            Image.fromarray(pixels(cells)).save(path)
    if told.startswith("error"):
        with pytest.raises(ConfigError, match=told.removeprefix("error ")):
            read(paths)
        return
    found = read(paths)
    assert told in found.told
    assert_array_equal(found.frames[0], frames)


def test_spins_and_unseen_cells(tmp_path):
    frames = film(automata.elementary(30), soup(np.random.default_rng(0), (40,), 0.5), 20)
    np.savez(tmp_path / "s.npz", frames=2 * frames - 1)
    with pytest.raises(ConfigError, match="-1 means unseen: give --states -1,1"):
        read([tmp_path / "s.npz"], Reading(line=True))
    found = read([tmp_path / "s.npz"], Reading(True, ("-1", "1")))
    assert_array_equal(found.frames[0, :, 0], frames)
    found = read([tmp_path / "s.npz"], Reading(True, 2))
    assert f"{(frames == 0).sum()} of 800 cells unseen" in found.told


@pytest.mark.parametrize(
    ("rule", "first", "size"),
    [
        ("B3/S23", (2, 3), (8, 8)),
        ("B3/S23:T12,9", (-4, -6), (9, 12)),
        ("B3/S23:P12,9", (-4, -6), (9, 12)),
    ],
)
def test_patterns_lie_where_golly_cut_them(tmp_path, rule, first, size):
    start = np.zeros((9, 12), int)
    start[2:5, 3:6] = [[0, 1, 0], [0, 0, 1], [1, 1, 1]]
    frames = film(life, start, 5)
    paths = [tmp_path / f"{number}.RLE" for number in range(5)]
    for path, cells in zip(paths, frames, strict=True):
        (y, x), (bottom, right) = (edge(np.argwhere(cells), axis=0) for edge in (np.min, np.max))
        text = rle(cells[y : bottom + 1, x : right + 1]).replace("B3/S23", rule)
        place = f"Pos={x + first[1]},{y + first[0]} " if x + first[1] or y + first[0] else ""
        path.write_text(f"#CXRLE {place}Gen=7\n{text}")
    found = read(paths)
    seen = frames if ":" in rule else frames[:, : size[0], 1 : 1 + size[1]]
    assert_array_equal(found.frames[0], seen)
    assert (found.rule, found.edge) == ("B3/S23", "zero" if ":P" in rule else "periodic")
    one = paths[1].read_text()
    for wrong, words, where in (
        (one.replace(rule, "B3/S23:K9,9"), "several universes", paths[:1]),
        (re.sub("Pos=-?", "Pos=99999999", one), "too many|outside", paths[:1]),
        (re.sub("Pos=", "Pos=x", one), "no place", paths[1:2]),
        (re.sub("Pos=", "Pos ", one), "names no place", paths[1:2]),
        (one.replace("#CXRLE", "#C").replace(rule, "B3/S23"), "cut out", paths),
    ):
        for path in where:
            path.write_text(wrong)
        with pytest.raises(ConfigError, match=words):
            read(paths)


TWELVE = np.arange(48).reshape(2, 4, 6) % 12
FIVE = np.random.default_rng(0).integers(0, 5, (6, 6))
HOSTILE = {
    "g.gif": lambda path, _: save_film(path, TWELVE % 5, 1, [0, 60, 90, 120, 255]),
    "t.tiff": lambda path, _: save_film(path, TWELVE, 1, range(0, 240, 20)),
    "z.npz": lambda path, _: np.savez(path, frames=np.zeros((2, 3, 3))),
    "b.npz": lambda path, _: np.savez_compressed(path, frames=np.zeros((33, 1024, 1024), "u1")),
    "x.gif": lambda path, _: path.write_bytes(b"GIF?"),
    "west.npz": lambda path, _: np.savez(path, frames=[np.roll(FIVE, k) for k in range(3)]),
    "one.rle": lambda path, frames: path.write_text(rle(frames[0])),
    "two.rle": lambda path, frames: path.write_text(rle(frames[0][:5])),
}
REFUSED = {
    "g.gif --states 2": "--threshold",
    "g.gif --cell 7": "cannot be divided into cells",
    "g.gif --states white,blak": "no colour",
    "g.gif --states white,red": "has the colour black",
    "g.gif --threshold 0.5 --states white,black": "leave out their names",
    "t.tiff --states 12": "12 states of 9 cells",
    "z.npz --cell 2": "has no pixels",
    "z.npz --states white,red": "has numbers",
    "b.npz": "at most",
    "x.gif": "not a recording",
    "west.npz --neighbourhood hexagonal --memory 1 -o r.json": "leave out the file",
    "one.rle": "one frame",
    "one.rle two.rle": "same size",
}


@pytest.mark.once
def test_bad_recordings_are_refused_with_the_remedy(dct, tmp_path, frames):
    for name, write in HOSTILE.items():
        write(tmp_path / name, frames)
    for words, said in REFUSED.items():
        assert said in dct(f"identify {words}").refusal, words


def rows_of_pairs(rng, count, query=True):
    """A task of rows of three states, each the sum of a cell and its neighbours, modulo 3."""
    task = {"train": []}
    for width in rng.integers(9, 14, count).tolist():
        row = rng.integers(0, 3, width + 2)
        after = (row[:-2] + row[1:-1] + row[2:]) % 3
        task["train"].append({"input": row[1:-1].tolist(), "output": after.tolist()})
    if query:
        task["query"] = task["train"][0]["input"]
    return task


def test_pairs_of_rows_get_odds_and_a_prediction(dct, tmp_path):
    task = rows_of_pairs(np.random.default_rng(0), 5)
    (tmp_path / "rows.json").write_text(json.dumps(task))
    predicted = tmp_path / "next.json"
    out = str(tmp_path / "rule.json")
    options = f"--gap auto --symmetry auto --predict {predicted} -o {out}"
    result = dct(f"identify rows.json {options}").good
    assert "5 pairs of" in result.stdout
    assert "by odds, not by proof, the rule is of:" in result.stdout
    assert "linear, line-1, 1 step" in result.stdout
    found = json.loads(predicted.read_text())
    inside = task["train"][0]["output"][1:-1]
    assert found["states"][0][1:-1] == inside
    assert np.shape(found["odds"]) == (3, 1, len(inside) + 2)
    assert min(found["probability"][0][1:-1]) > 0.99
    assert dct(f"simulate {out} --steps 3 --size 1x30").good
    assert "exists already" in dct(f"identify rows.json --predict {predicted}").refusal


def test_films_go_on(dct, tmp_path):
    """From any frame, in any file that shows it, in the states that the recording has."""
    start = np.random.default_rng(2).choice([0, 1, 2], (24, 24), p=[0.7, 0.2, 0.1])
    cells = film(automata.brains_brain, start, 12)
    circuit = str(tmp_path / "rule.json")
    last = pictures(cells, 3, (90, 255, 0))[9]
    save_film(tmp_path / "film.gif", cells[:10], 3, (90, 255, 0))
    last.save(tmp_path / "still.png")
    options = f"--symmetry outer-totalistic --effort low -o {circuit} --predict next.npz"
    made = dct(f"identify film.gif {options}")
    known = re.search(r"(\S+) = 0, (\S+) = 1, (\S+) = 2", made.stdout).groups()
    states = np.array([known.index(name) for name in ("#5a5a5a", "white", "black")])[cells]
    assert_array_equal(np.load(tmp_path / "next.npz")["states"], states[10])
    np.save(tmp_path / "array.npy", states[9])
    np.savez(tmp_path / "film.npz", frames=states[:10])
    files = {"film.gif": 4, "still.png": 9, "next.npz": 10, "array.npy": 9, "film.npz": 9}
    for name, first in files.items():
        frame = str(first) if name == "film.gif" else "last"
        options = "--frame", frame, "--steps", str(11 - first), "--json"
        done = dct(f"simulate {circuit} --start {tmp_path / name}", *options).good
        ones = {str(bit): int((states[11] >> bit & 1).sum()) for bit in range(2)}
        assert done.json["populations"] == ones, name
    for name, hint in (("film.npz", "the frames 0 to 9"), ("zeros", "name its file")):
        path = name if name == "zeros" else str(tmp_path / name)
        assert hint in dct(f"simulate {circuit} --start {path} --frame 10").refusal


@pytest.mark.thorough
def test_bad_pairs_are_refused_with_the_remedy(dct, tmp_path):
    def refused(pairs, *options):
        text = json.dumps([{"input": one, "output": other} for one, other in pairs])
        (tmp_path / "pairs.json").write_text(text)
        return dct("identify pairs.json", *options).refusal

    for pairs, words in (
        ([([0, 1], [1, 0])] * 10_001, "at most 10000"),
        ([([0, 1] * 100, [1, 0] * 100)] * 2000, "cells"),
        ([([0] * 20, [0, 1] * 10)], "no rule"),
    ):
        assert words in refused(pairs), words
    two = [([0, 1, 1], [1, 0, 0]), ([0, 1, 1, 0], [1, 0, 0, 0])]
    for options, words in (
        ("--boundary periodic", "several sizes"),
        ("--radius 1 --neighbourhood line-2", "leave out --neighbourhood line-2"),
        ("--radius 4", "whole number from 1 to 3"),
        ("--neighbourhood line-1 --memory 1", "needs three frames"),
    ):
        assert words in refused(two, options), options


def test_a_rule_by_chance_is_hinted_at_found_and_run(dct, tmp_path):
    rng = np.random.default_rng(0)
    frames = film(
        lambda cells: life(cells) * (rng.random(cells.shape) < 0.9), soup(rng, (32, 32)), 9
    )
    path = str(tmp_path / "film.npz")
    out = str(tmp_path / "rule.json")
    np.savez(path, frames=frames)
    assert "of 996 cases: a rule by chance? --chance" in dct(f"identify {path}").stderr
    result = dct(f"identify {path} --chance -o {out}")
    assert "by chance 3, always followed by one state" in result.stdout
    assert "no dependence seen beside, above and diagonally" in result.stdout
    assert dct(f"simulate {out} --steps 3").good
    assert dct(f"render {out} -o film.gif").good
    for verb in ("export --format golly", "inspect", "simplify"):
        assert "is a rule by chance, and has no gates" in dct(f"{verb} {out}").refusal
    for option in (f"--predict {out}", "--effort low"):
        said = dct(f"identify {path} --chance {option}").refusal
        assert f"--chance and {option.split()[0]}" in said
