import numpy as np

from difflogic.circuit.gates import Op
from difflogic.evaluation import gate_counts
from tests.difflogic.evaluation.naive import random_model, with_ops
from tests.difflogic.training.tiny import tiny


def test_scopes():
    # Two channels, kernels of 8, 4 and 2 gates; the update's last gates are the outputs.
    config = tiny("task.loss_channels=[0]")
    model = random_model(config)
    ops = np.full(42, Op.A, np.uint8)
    assert gate_counts.count(with_ops(model, ops))["scopes"]["next_state"]["both"]["gates"] == 0
    ops[3] = Op.B
    ops[41] = Op.TRUE  # channel 1
    found = gate_counts.count(with_ops(model, ops))
    every = found["scopes"]["all"]
    assert every["both"]["active"] == 1
    assert [every[part]["gates"] for part in ("perception", "update", "both")] == [28, 14, 42]
    assert found["scopes"]["next_state"]["update"]["ops"]["TRUE"] == 1
    ops[40] = Op.FALSE  # channel 0, the loss channel
    ops[:28] = Op.XOR  # nothing listens
    found = gate_counts.count(with_ops(model, ops))
    scopes = found["scopes"]
    assert scopes["all"]["perception"]["active"] == 28
    assert scopes["next_state"]["both"]["gates"] == 2
    assert scopes["next_state"]["perception"]["gates"] == 0
    assert scopes["loss_channels"]["both"]["ops"] == {op.name: int(op == 0) for op in Op}
    assert found["active_gates_per_cell"] == {"next_state": 2, "loss_channels": 1}
