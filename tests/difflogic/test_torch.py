"""The engine as a PyTorch module: PyTorch's gradient check, and the library's bits."""

import copy
import io

import pytest
from numpy.testing import assert_array_equal

from difflogic import SoftRollout
from difflogic.model.model import Model
from difflogic.system.errors import ConfigError
from tests.difflogic.training.tiny import tiny

torch = pytest.importorskip("torch", reason="PyTorch is not installed", exc_type=ImportError)
LogicAutomaton = pytest.importorskip("difflogic.torch").LogicAutomaton


@pytest.fixture
def automaton():
    module = LogicAutomaton(Model.create(tiny("training.precision=float64")))
    torch.manual_seed(1)
    with torch.no_grad():
        module.logits += torch.randn_like(module.logits)
    return module


def starts_of(automaton, batch=2, size=(3, 4)):
    return torch.rand(batch, automaton.rollout.model.netlist.channels, *size, dtype=torch.float64)


def test_gradients_pass_pytorchs_check():
    settings = "training.precision=float64", "automaton.fire_rate=0.7"
    automaton = LogicAutomaton(Model.create(tiny(*settings)))
    torch.manual_seed(1)
    starts = starts_of(automaton).requires_grad_()
    masks = torch.rand(2, 3, 3, 4) < 0.7

    def run(logits, starts):
        how = {"steps": 3, "keep": [0, 2, 3], "masks": masks}
        return torch.func.functional_call(automaton, {"logits": logits}, (starts,), how)

    logits = automaton.logits.detach().clone().requires_grad_()
    assert torch.autograd.gradcheck(run, (logits, starts), fast_mode=True)


@pytest.mark.parametrize("hard", [False, True])
def test_a_module_gives_the_bits_of_the_library(automaton, hard):
    module = LogicAutomaton(automaton.model, hard=hard, workers=2)
    starts = (starts_of(automaton) > 0.5).to(torch.uint8)
    kept = module(starts, steps=4, keep="all")
    other = module(starts, steps=2)  # before the first backward pass
    (kept**2).sum().backward()
    states, pull_back = SoftRollout(module.model, hard=hard)(
        automaton.logits.detach().numpy(), starts.numpy(), steps=4, keep="all"
    )
    assert_array_equal(kept.detach(), states)
    assert_array_equal(module.logits.grad, pull_back(2 * states)[0])
    assert_array_equal(other.detach(), states[:, 2])


def test_a_module_is_copied_saved_and_shown(automaton):
    starts = starts_of(automaton)
    expected = automaton(starts).detach()
    file = io.BytesIO()
    torch.save(automaton.state_dict(), file)
    file.seek(0)
    fresh = LogicAutomaton(automaton.rollout.model)
    fresh.load_state_dict(torch.load(file))
    for other in (fresh, copy.deepcopy(automaton), LogicAutomaton(automaton.model)):
        assert torch.equal(other(starts), expected)
    assert len(repr(automaton)) < 200
    other = LogicAutomaton(Model.create(tiny("training.precision=float64", "training.seed=9")))
    before = other.logits.detach().clone()
    with pytest.raises(
        ConfigError, match="of a circuit with other wires: load it into a module of"
    ):
        other.load_state_dict(automaton.state_dict())
    with pytest.raises(ConfigError, match="other wires"):
        torch.nn.Sequential(other).load_state_dict(torch.nn.Sequential(automaton).state_dict())
    assert torch.equal(other.logits, before)


def test_torch_compile_leaves_a_module_as_it_is(automaton):
    """Traced, its last bits would differ; and nothing is compiled here."""
    starts = starts_of(automaton)
    broken = []
    compiled = torch.compile(automaton, backend=lambda *parts: broken.append(parts))
    assert torch.equal(compiled(starts), automaton(starts))
    assert not broken


def test_wrong_arguments_are_refused(automaton):
    with pytest.raises(ConfigError, match=r"starts have shape \(3, 4\): give"):
        automaton(torch.zeros(3, 4))
    with pytest.raises(ConfigError, match=r"states: of type str is not a tensor"):
        automaton("states")
    with pytest.raises(ConfigError, match=r"strided of torch.bfloat16: give states.to_dense"):
        automaton(torch.zeros(1, 2, 3, 4, dtype=torch.bfloat16))
    with pytest.raises(ConfigError, match=r"states are on the device meta: give states.cpu\(\)"):
        automaton(starts_of(automaton).to("meta"))
    changed = starts_of(automaton)
    states = automaton(changed)
    changed.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        states.sum().backward()
