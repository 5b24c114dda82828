"""The directory of a sweep: written, read back, and refused."""

import pytest

from difflogic.scale.sweeps.directory import FILE, SweepDirectory
from difflogic.system.errors import RunDirectoryError
from tests.difflogic.scale.sweeps.small import question


@pytest.fixture
def place(tmp_path):
    return SweepDirectory(tmp_path)


def test_a_question_is_read_back(place):
    asked = question(
        "training.weight_decay=0.0,0.5", "update.gates=[8,4,2],[6,4,2]", seeds=(0, 1, 7)
    )
    place.write_question(asked)
    found = place.read_question()
    assert found.asked == asked.asked
    assert found.seeds == asked.seeds
    assert found.axes == asked.axes
    assert [variant.name for variant in found.variants] == [
        variant.name for variant in asked.variants
    ]
    assert [variant.values for variant in found.variants] == [
        variant.values for variant in asked.variants
    ]


def test_a_picture_of_ones_own_stays_when_its_file_is_gone(place, tmp_path):
    files = []
    for name, rows in (("cross", "#.#\n.#.\n#.#"), ("dot", "...\n.#.\n...")):
        files.append(tmp_path / f"{name}.txt")
        files[-1].write_text(rows + "\n")
    from difflogic.scale.sweeps.question import Asked, ask

    asked = Asked("lizard", (), (f"task.target={files[0]},{files[1]}",))
    before = ask(asked, (0,))
    place.write_question(before)
    for file in files:
        file.unlink()
    after = place.read_question()
    assert [c.config.task.target for c in after.variants] == [
        c.config.task.target for c in before.variants
    ]


def test_seeds_are_added_to_the_same_question(place):
    place.write_question(question(seeds=(0, 1)))
    assert place.join(question(seeds=(1, 5))).seeds == (0, 1, 5)


def test_another_question_is_refused_with_its_keys(place):
    place.write_question(question())
    with pytest.raises(RunDirectoryError, match=r"training\.batch: 2 → 3") as caught:
        place.join(question(overrides=("training.batch=3",)))
    assert "dct sweep --dir" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: text[: text.index(" = ") + 3], "cannot be used"),
        (lambda text: "", "no key 'format'"),
        (lambda text: text.replace("version = 2", "version = 1"), "another version of dct"),
        (lambda text: text.replace("version = 2", 'version = "2"'), "another version of dct"),
        (lambda text: text.replace('"dct-sweep"', '"x"'), "another format"),
        (lambda text: text.replace("batch = 2", "batch = 0"), r"\[training\] batch"),
        (
            lambda text: text.replace("variants.checkerboard-small", 'variants."../x"'),
            "variant's name",
        ),
        (lambda text: text.replace('seeds = "0-1"', 'seeds = "x"'), "must be numbers"),
    ],
)
def test_a_damaged_file_is_refused(place, change, says):
    place.write_question(question())
    path = place.path / FILE
    path.write_text(change(path.read_text()))
    with pytest.raises(RunDirectoryError, match=says) as caught:
        place.read_question()
    assert str(path) in str(caught.value)


def test_a_directory_of_something_else_is_refused(place):
    place.require_empty()
    (place.path / "thesis.tex").write_text("years of work")
    with pytest.raises(RunDirectoryError, match=r"holds thesis\.tex"):
        place.require_empty()


def test_what_a_process_left_that_was_killed_at_once_is_nothing(place):
    (place.path / ".lock").touch()
    (place.path / ".dct-0123456789abcdef.tmp").touch()
    place.require_empty()
    (place.path / "dct.tmp").touch()
    with pytest.raises(RunDirectoryError, match=r"holds dct\.tmp"):
        place.require_empty()


def test_a_place_that_cannot_be_looked_into_is_refused(tmp_path):
    place = SweepDirectory(tmp_path / ("x" * 300))
    with pytest.raises(RunDirectoryError, match="cannot be used for a sweep: file name too long"):
        place.exists  # noqa: B018


def test_files_from_elsewhere_arrive_with_the_summary_last(place, monkeypatch):
    (variant,) = question().variants
    files = {"summary.json": b"{}", "model.npz": b"model", "config.toml": b"c"}
    place.write_run(variant, 3, files)
    path = place.run_path(variant, 3)
    assert {file.name: file.read_bytes() for file in path.iterdir()} == files
    written = sorted(path.iterdir(), key=lambda file: file.stat().st_mtime_ns)
    assert written[-1].name == "summary.json"
