import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from difflogic.config import load_config
from difflogic.system.errors import ConfigError
from difflogic.system.streams import Purpose
from difflogic.tasks import Task, draw_batch, make_task
from difflogic.tasks.parts import TaskError
from difflogic.tasks.section import TaskSection
from tests.difflogic.tasks.made import automaton
from tests.paths import DOCS


@pytest.fixture
def task():
    return make_task(load_config("checkerboard", ["task.loss_channels=[0, 3]"]))


class Given(Task):
    """A task with samples from the test."""

    def sample(self, rng):
        return self.given(rng)


def given(sample):
    section = TaskSection(kind="given", height=2, width=3)
    task = Given(section, automaton(1))
    task.given = sample
    return task


def wrong_target(value):
    def sample(rng):
        target = np.zeros((1, 2, 3))
        if rng.random() < 0.5:
            target[0, 1, 2] = value
        return np.zeros((1, 2, 3), np.uint8), target

    return given(sample)


def test_samples_do_not_depend_on_the_batch_size(task):
    few, many = (draw_batch(task, 1, 2, batch)[0] for batch in (2, 5))
    assert_array_equal(few, many[:2])
    assert_array_equal(draw_batch(task, 1, 2, 3, first=2)[0], many[2:])


def test_batches_differ_by_seed_epoch_sample_and_purpose(task):
    batches = [
        draw_batch(task, 1, 0, 2)[0],
        draw_batch(task, 2, 0, 2)[0],
        draw_batch(task, 1, 1, 2)[0],
        draw_batch(task, 1, 0, 2, Purpose.HELD_OUT_START)[0],
    ]
    assert len({sample.tobytes() for batch in batches for sample in batch}) == 8


@pytest.mark.parametrize("value", [np.inf, -np.inf, 2e9])
def test_huge_targets_are_refused(value):
    with pytest.raises(ConfigError, match=rf"Given: .* is {value} in .* row 1, column 2"):
        draw_batch(wrong_target(value), 0, 0, 64)


def test_some_cell_must_count():
    assert np.isnan(draw_batch(wrong_target(np.nan), 0, 0, 64)[1]).any()
    nothing = given(lambda rng: (START, TARGET * np.nan))
    with pytest.raises(TaskError, match=r"Given.sample gives a target of NaN alone"):
        draw_batch(nothing, 0, 0, 1)


START = np.zeros((1, 2, 3), np.uint8)
TARGET = np.zeros((1, 2, 3))


@pytest.mark.parametrize(
    ("sample", "says"),
    [
        (START, "must be a start and a target"),
        ((START, TARGET, TARGET), "must be a start and a target"),
        ((START[0], TARGET), r"start, .* \(2, 3\) .* uint8, each 0 or 1, of shape \(1, 2, 3\)"),
        ((START, TARGET[:, :1]), r"target, .* \(1, 1, 3\) .*: real numbers of shape \(1, 2, 3\)"),
        ((START, None), "a target, of type NoneType: "),
        ((START.astype(float), TARGET), "and type float64: uint8, each 0 or 1"),
        ((START.astype(np.uint16), TARGET), "and type uint16: uint8"),
        ((START + 2, TARGET), "a start with the value 2"),
    ],
)
def test_invalid_samples(sample, says):
    with pytest.raises(TaskError, match=f"Given.sample .*{says}"):
        draw_batch(given(lambda rng: sample), 0, 0, 2)


def lasting(target):
    """A task with a lasting target."""

    class Lasting(Given):
        lasting_target = target

    return Lasting(TaskSection(kind="given", height=2, width=3), automaton(1))


def test_a_lasting_target_is_bits_of_its_shape():
    assert given(None).find_lasting_target() is None
    assert lasting(TARGET + 1).find_lasting_target().dtype == np.uint8
    for wrong in (TARGET[0], TARGET + 0.5, np.zeros((2, 2, 3)), "none"):
        with pytest.raises(TaskError, match=r"must be bits of shape \(1, 2, 3\)"):
            lasting(wrong).find_lasting_target()


def plain(start):
    return given(lambda rng: (start, TARGET))


def test_start_names():
    center = START.copy()
    center[:, 1, 1] = 1
    assert plain(START).start == "zeros"
    assert plain(center).start == "center"
    assert not plain(center).has_random_start
    noise = given(lambda rng: (rng.integers(0, 2, (1, 2, 3), np.uint8), TARGET))
    assert noise.has_random_start
    assert noise.start == "random"
    with pytest.raises(TaskError, match="neither zeros nor one cell of ones in the middle"):
        plain(START + 1).start  # noqa: B018 - the property must raise


def test_the_page_lists_what_a_class_may_define():
    page = (DOCS / "tasks.md").read_text("utf-8")
    table = page.partition("## What a class may define")[2].partition("[base.py]")[0]
    rows = "".join(re.findall(r"^\| (`.*?) \|", table, re.M))
    listed = {"sample", "steps_seen", *re.findall(r"`(?:class )?(\w+)", rows)}
    own = {name for name in vars(Task) if not name.startswith("_")}
    assert listed == own - {"lessons", "whole", "has_changing_targets", "has_loss"}
