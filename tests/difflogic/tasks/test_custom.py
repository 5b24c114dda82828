"""Custom tasks: found, loaded, refused, and never run unless that is allowed."""

import hashlib
import re
import sys

import numpy as np
import pytest

from difflogic.circuit.gates import Op
from difflogic.circuit.hard_netlist import netlist_of
from difflogic.config import load_config
from difflogic.config.effects import without_effect
from difflogic.config.manual import describe
from difflogic.evaluation.battery import run_tests
from difflogic.evaluation.check_plan import Plan
from difflogic.evaluation.exactness import held_out_streams
from difflogic.evaluation.judge import Judge
from difflogic.evaluation.trial import count_wrong
from difflogic.library.training import resolve
from difflogic.model.model import Model
from difflogic.search.verifier import Verifier
from difflogic.system.errors import ConfigError
from difflogic.system.work import Stopped
from difflogic.tasks import custom, make_task
from difflogic.tasks.code import contradiction, find_code
from tests.difflogic.circuit.circuits import circuit_of
from tests.difflogic.tasks.custom_task import CONFIG, SOURCE, has_run, write


@pytest.fixture(autouse=True)
def _nothing_loaded(monkeypatch):
    """Each test begins like a new process, without loaded code."""
    monkeypatch.setattr(custom, "LOADED", {})
    monkeypatch.setattr(sys, "path", list(sys.path))


def load(path, *overrides, allow_code=True):
    return load_config(path, overrides, allow_code=allow_code)


def error(*arguments, **options):
    with pytest.raises(ConfigError) as caught:
        load(*arguments, **options)
    return str(caught.value)


def test_a_task_beside_its_configuration(tmp_path):
    config = load(write(tmp_path))
    assert config.task.kind == "shift.py:Shift"
    assert config.task.sha256 == hashlib.sha256(SOURCE.encode()).hexdigest()
    assert config.to_dict()["task"]["by"] == 1
    task = make_task(config)
    start, target = task.draw(np.random.default_rng(0))
    np.testing.assert_array_equal(target[0], np.roll(start[0], 1, axis=1))
    assert (task.start, config.task.start_name) == ("random", "random")
    assert has_run(tmp_path)
    assert "# cells to move by (an integer from 0 to 3)\nby = 1" in describe(config)


def test_the_copy_of_a_run_is_found_by_its_hash(tmp_path):
    (tmp_path / "tasks").mkdir()
    (tmp_path / "run").mkdir()
    write(tmp_path / "tasks")
    path = write(tmp_path, SOURCE, CONFIG.replace('"shift.py', '"tasks/shift.py'))
    config = load(path)
    code = custom.code_of(config.task)
    code.keep(tmp_path / "run")
    assert find_code(config.task.kind, tmp_path / "run", config.task.sha256).text == code.text


STAGES = "stages = property(lambda self: (self, self.on_grid(9, 9)))\n\n    def sample"


@pytest.mark.parametrize(
    ("change", "says"),
    {
        (SOURCE, "x = 1"): "has no class Shift: no class there is a difflogic.Task",
        ("class Shift(", "class Shifted("): 'has no class Shift: did you mean "Shifted"?',
        ("class Shift(Task)", "class Shift(dict)"): "Shift is not a task: derive the class from",
        ("def sample", "def simple"): "Shift has no method sample",
        ("import numpy as np", "import numpi"): "line 4: ModuleNotFoundError: No module named",
        ("rng.integers", "np.random.default_rng().integers"): "two samples for the same gen",
        ("board = rng.", "raise SystemExit(0)\n        board = rng."): "sample failed in line 19",
        (".astype(float)", ".astype(str)"): "real numbers of shape (1, 4, 5) are needed",
        ("def sample", "stays = 'yes'\n\n    def sample"): "stays must be True or False",
        ("def sample", "patches = [1]\n\n    def sample"): "patches must be by size, arrays",
        ("def sample", STAGES): "stages must be tasks with as many channels, the last of them self",
        ("def sample", "steps_seen = 1,\n\n    def sample"): "define loss(self, states, target)",
        ("def sample", "start = 'foo'\n\n    def sample"): 'start must be "random", "center"',
    }.items(),
)
def test_invalid_classes(tmp_path, change, says):
    assert change[0] in SOURCE
    path = write(tmp_path, SOURCE.replace(*change))
    message = error(path)
    assert str(tmp_path / "shift.py") in message
    assert says in message


def test_a_class_that_inherits_a_tiles_stages_is_taken(tmp_path):
    source = """
from difflogic.tasks.tile import Tile
class Shift(Tile):
    class Section(Tile.Section):
        kind: str
"""
    config = load_config("bricks").to_toml().replace('kind = "tile"', 'kind = "shift.py:Shift"')
    task = make_task(load(write(tmp_path, source, config)))
    assert task.stages[-1] is not task


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("none.py:Shift", "none.py: no such file"),
        ("json.tool:Shift", 'names no .py file: write it as "my_task.py:Shift"'),
        ("shift.py:", "kind must be"),
    ],
)
def test_invalid_kinds(tmp_path, kind, says):
    path = write(tmp_path, config=CONFIG.replace("shift.py:Shift", kind))
    assert says in error(path)


def test_the_class_checks_its_keys(tmp_path):
    path = write(tmp_path)
    message = error(path, "task.by=4")
    assert message == "--set task.by=4: [task] by must be an integer from 0 to 3, not 4"
    message = error(path, "task.bye=1")
    assert 'no key "bye" in [task]: did you mean "by"?' in message
    assert "[task] by: must be a boolean" in error(path, "task.by={a=1}", allow_code=False)
    path = write(tmp_path, SOURCE.replace("default=1", "default=9"))
    assert "[task] by must be an integer from 0 to 3, not 9" in error(path)


CHECK = """
        @pydantic.field_validator("by")
        @classmethod
        def check(cls, by):
            {}
"""


@pytest.mark.parametrize(
    ("raised", "says"),
    [
        ("raise SystemExit(0)", "line 21: SystemExit: 0"),
        ("raise GeneratorExit('no')", "line 21: GeneratorExit: no"),
        ("return 1 / (by - 1)", "line 21: ZeroDivisionError: division by zero"),
    ],
)
def test_a_class_whose_validators_fail_is_named_with_the_line(tmp_path, raised, says):
    path = write(tmp_path, checking(raised))
    assert error(path) == (f"{tmp_path / 'shift.py'}: Shift.Section failed in {says}")


@pytest.mark.parametrize("kind", [KeyboardInterrupt, Stopped])
def test_a_stop_in_a_class_stays_one(tmp_path, kind):
    path = write(tmp_path, checking(f"import {kind.__module__} as of; raise of.{kind.__name__}"))
    with pytest.raises(kind):
        load(path)


def checking(statements):
    """The source of a class whose section runs statements while it is checked."""
    source = SOURCE.replace("import numpy as np", "import numpy as np, pydantic")
    field = re.search(r" *by: int.*\n", source)[0]
    return source.replace(field, field + CHECK.format(statements))


def test_another_single_start_needs_a_name(tmp_path):
    one = SOURCE.replace("board = rng.integers(0, 2, ", "board = np.ones(")
    assert 'give the class start = "random"' in error(write(tmp_path, one))
    named = one.replace("    def sample", '    start = "zeros"\n\n    def sample')
    assert load(write(tmp_path, named)).task.start_name == "zeros"


CASES = """
    def cases(self):
        rng = np.random.default_rng(0)
        pairs = [self.sample(rng) for _ in range(3)]
        from difflogic import Cases; starts, targets = map(np.stack, zip(*pairs))
        return {}
"""


@pytest.mark.parametrize(
    ("ending", "message"),
    {
        "pairs": "it returns a list of 3: stack the starts to one array",
        "Cases('all', starts, 2 * targets, 'zero', 1, '')": "gives targets other than 0 and 1",
        "Cases('all', starts, targets[:2], 'zero', 1, '')": "real numbers of shape (3, 1",
        "Cases('all', starts[[0, 1, 0]], targets, 'zero', 1, '')": "2 has the start of case 0",
    }.items(),
)
def test_invalid_cases_are_noticed_before_training(tmp_path, ending, message):
    found = error(write(tmp_path, SOURCE + CASES.format(ending)))
    assert "Shift.cases" in found
    assert message in found
    assert len(found) < 500


def test_cells_that_do_not_count_contradict_nothing():
    nan = np.nan
    starts = np.zeros((4, 1, 1, 2), np.uint8)
    for targets, found in (
        ([[0, nan], [nan, 1], [0, 1], [0, nan]], None),
        ([[0, nan], [nan, 1], [0, 0], [0, nan]], (2, 0)),
    ):
        assert contradiction(starts, np.array(targets)[:, None, None]) == found


def test_samples_that_contradict_each_other_are_worth_a_warning(tmp_path):
    assert without_effect(load(write(tmp_path))) == []
    loose = SOURCE.replace("self.section.by, axis", "rng.integers(0, 2), axis")
    row = CONFIG.replace("height = 4", "height = 1")
    path = write(tmp_path, loose.replace("self.height", "1"), row)
    (words,) = without_effect(load(path))
    assert "equal starts and different targets" in words


LATE = """
    stays = True

    @property
    def due(self):
        return self.automaton.steps + [0, 3][self.section.by]

    @property
    def lasting_target(self):
        return np.zeros((1, self.height, self.width), np.uint8)

    def sample(self, rng):
        return rng.integers(0, 2, (1, 1, 6), np.uint8), self.lasting_target.astype(float)
"""


def test_a_row_without_larger_ones_that_is_due_later_than_the_training_step(tmp_path):
    """Zeros enter from the left, so that all cells of 1×6 are 0 from step 6 on."""
    text = CONFIG.replace("height = 4\nwidth = 5", "height = 1\nwidth = 6")
    text = text.replace("periodic", "zero").replace("steps = 1", "steps = 3")
    source = (SOURCE + LATE).replace("default=1", "default=3")
    path = write(tmp_path, source, text)
    assert "Shift.due failed in line 26: IndexError" in error(path)
    netlist, ops = netlist_of(circuit_of([(Op.AND, 3, 4)], [9]), 1)
    for by, right in (0, False), (1, True):
        config = resolve(path, [f"task.by={by}"], allow_code=True)  # tries the class with this key
        plan = Plan.of(config.problem.task, 64, held_out_streams(0))
        assert Verifier(netlist, plan, Judge(netlist, plan)).verify(ops)[0] is right
        counted = plan.judge(count_wrong(netlist, ops, plan.scene, plan.starts))
        assert (counted.exact, counted.counts[0].step) == (right, 3 + 3 * by)
    refused = run_tests(Model.create(config), ["gates"]).not_applicable
    assert "on 1×24 cells the class draws no sample" in refused["generalisation"]
    write(tmp_path, source.replace("+ [0", "- [1"), text)
    assert "due must be a whole number from 3" in error(path, "task.by=0")
