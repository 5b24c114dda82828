"""What commands go on with: a model's circuit is simplified, a circuit's own file is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from difflogic.circuit.gates import Op
from difflogic.config import load_config
from difflogic.library.loading import load
from difflogic.model.model import Model


@pytest.fixture
def model(tiny: list[str], tmp_path: Path) -> str:
    """A model whose gates all hand on their second input, as no gate does at first."""
    model = Model.create(load_config("checkerboard-small", tiny))
    model.logits[:] = 0
    model.logits[:, Op.B] = 1
    path = tmp_path / "model.npz"
    model.save(path)
    return str(path)


def test_a_model_is_simplified_and_a_circuits_file_is_not(dct: Any, model: str) -> None:
    whole = load(Path(model)).automaton
    assert dct("export", model, "-o", "small.json").exit_code == 0
    assert load(Path("small.json")).automaton.circuit.gates == 0
    assert dct("export", model, "-o", "whole.json", "--unsimplified").exit_code == 0
    assert dct("export", "whole.json", "-o", "again.json").exit_code == 0
    assert load(Path("again.json")).automaton.circuit.gates == whole.circuit.gates == 70
