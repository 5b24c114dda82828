"""The directory of a sweep: written, read back, and refused."""

import pytest

from difflogic.sweeps.directory import SweepDirectory
from difflogic.sweeps.sweep_plan import Request, make_plan
from difflogic.system.errors import RunDirectoryError
from tests.difflogic.sweeps.small import small_plan


@pytest.fixture
def place(tmp_path):
    return SweepDirectory(tmp_path)


def test_a_plan_is_read_back(place):
    grid = "training.weight_decay=0.0,0.5", "update.gates=[8,4,2],[6,4,2]"
    plan = small_plan(*grid, seeds=(0, 1, 7))
    place.write_plan(plan)
    found = place.read_plan()
    assert (found.request, found.seeds, found.axes) == (plan.request, plan.seeds, plan.axes)
    one, other = ([(each.name, each.values) for each in q.variants] for q in (found, plan))
    assert one == other


def test_the_file_of_a_picture_is_needed_only_once(place, tmp_path):
    files = []
    for name, rows in (("cross", "#.#\n.#.\n#.#"), ("dot", "...\n.#.\n...")):
        files.append(tmp_path / f"{name}.txt")
        files[-1].write_text(rows + "\n")
    before = make_plan(Request("lizard", (), (f"task.target={files[0]},{files[1]}",)), (0,))
    place.write_plan(before)
    for file in files:
        file.unlink()
    after = place.read_plan()
    one, other = ([each.config.task.target for each in q.variants] for q in (after, before))
    assert one == other


def test_seeds_are_added_to_the_same_plan(place):
    place.write_plan(small_plan(seeds=(0, 1)))
    assert place.join(small_plan(seeds=(1, 5))).seeds == (0, 1, 5)


NAMES = ("x/../../x", "..", "x\\y")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("version = 3", "version = 1", "another version of dct"),
        ('"dct-sweep"', '"x"', "another format"),
        ("batch = 2", "batch = 0", r"\[training\] batch"),
        *(
            ("variants.checkerboard-small", f"variants.'{name}'", "variant's name")
            for name in NAMES
        ),
        ('seeds = "0-1"', 'seeds = "x"', "must be numbers"),
        (None, "", "no key 'format'"),
        (None, "format = ", "cannot be used"),
    ],
)
def test_a_damaged_file_is_refused(place, old, new, says):
    place.write_plan(small_plan())
    path = place.sweep
    path.write_text(new if old is None else path.read_text().replace(old, new))
    with pytest.raises(RunDirectoryError, match=says) as caught:
        place.read_plan()
    assert str(path) in str(caught.value)


def test_a_directory_must_hold_nothing_but_what_a_killed_sweep_left(place):
    (place.path / ".lock").touch()
    (place.path / ".dct-0123456789abcdef.tmp").touch()
    place.require_empty()
    (place.path / "dct.tmp").touch()
    with pytest.raises(RunDirectoryError, match="is not empty"):
        place.require_empty()
