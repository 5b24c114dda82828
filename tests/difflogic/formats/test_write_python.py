"""The NumPy module, run by a Python that can import only NumPy."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings

from difflogic.formats.write_python import write_python
from tests.difflogic.formats import examples
from tests.difflogic.formats.tools import call

RUN = """
import importlib.util, sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] not in ("numpy", *sys.stdlib_module_names):
            raise ImportError(f"not for this test: {name}")

sys.meta_path.insert(0, Refuse())
import numpy as np

arrays = np.load("in.npz")
results = {}
for number in range(int(sys.argv[1])):
    spec = importlib.util.spec_from_file_location(f"m{number}", f"{number}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    state = arrays[f"state{number}"]
    for step, fire in enumerate(arrays[f"fire{number}"]):
        before = state.copy()
        state = module.step(state, fire) if module.FIRE_RATE < 1 else module.step(state)
        results[f"{number}-{step}"] = state
np.savez("out.npz", **results)
"""


@settings(max_examples=1)
@given(automata=examples.automata())
def test_steps_of_grids(tmp_path_factory, automata):
    automata, folder = [*examples.wicked(), *automata], tmp_path_factory.mktemp("python")
    arrays = {}
    expected = []
    for number, rollout in enumerate(examples.rollouts(automata, 5)):
        automaton, start, fires, states = rollout
        (folder / f"{number}.py").write_text(write_python(automaton))
        dtype = (np.uint8, np.bool_, np.float32)[number % 3]
        arrays |= {f"state{number}": start.astype(dtype), f"fire{number}": fires}
        expected.append(states.astype(dtype))
    np.savez(folder / "in.npz", **arrays)
    # -I: no environment, and no directory of this project on the path.
    call(sys.executable, "-I", "-c", RUN, len(automata), cwd=folder)
    found = np.load(folder / "out.npz")
    for number, states in enumerate(expected):
        for step, state in enumerate(states):
            np.testing.assert_array_equal(found[f"{number}-{step}"], state, strict=True)


def test_a_state_of_another_shape_is_refused():
    names = {}
    exec(write_python(examples.life()), names)
    step = names["step"]
    for shape in [(3, 3), (2, 3, 3), (1, 1, 3, 3)]:
        with pytest.raises(ValueError, match=r"state must be \(1, height, width\), not"):
            step(np.zeros(shape))
