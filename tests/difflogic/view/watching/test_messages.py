"""Events for a browser: everything once, then only what is new."""

import base64
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from difflogic.circuit import gates
from difflogic.config import load_config
from difflogic.engine import oracle
from difflogic.model.model import Model
from difflogic.run.metrics import MetricsRow
from difflogic.view.watching import Feed
from difflogic.view.watching.messages import MOST_EVENTS, Listener
from tests.difflogic.simulation.naive import fire_mask
from tests.difflogic.view.histories import rows
from tests.difflogic.view.node import needs_node, run_node


def model(*changes, seed=0):
    made = Model.create(load_config("checkerboard-small", changes))
    logits = np.random.default_rng(seed).normal(0, 3, made.logits.shape).astype(np.float32)
    return replace(made, logits=logits)


def events_of(listener, feed):
    events = list(listener.events(feed.snapshot))
    json.dumps(events, allow_nan=False)
    return dict(events)


def decoded(text, dtype):
    return np.frombuffer(base64.b64decode(text), dtype)


def test_everything_is_sent_once():
    feed, listener, found = Feed(), Listener(), model()
    assert set(events_of(listener, feed)) == {"rows", "state"}
    feed.publish(model=found, epoch=3, rows=rows(3), status="running")
    events = events_of(listener, feed)
    assert set(events) == {"run", "rows", "circuit", "state"}
    assert [row[0] for row in events["rows"]["rows"]] == [1, 2, 3]
    assert events_of(listener, feed) == {}
    feed.publish(rows=rows(5))
    events = events_of(listener, feed)
    assert [row[0] for row in events["rows"]["rows"]] == [4, 5]
    assert not events["rows"]["begins"]
    assert events["rows"]["rows"][1][4] == 1 - 5 / 5000, "the share of decided gates"
    assert events["rows"]["searches"] == [[5, None, None, None, None]], "without details"
    feed.publish(rows=rows(10))
    assert events_of(listener, feed)["rows"]["searches"] == [[10, 40, 10, 9, False]]


def test_the_circuit_is_sent_unchanged():
    feed, listener, found = Feed(), Listener(), model()
    feed.publish(model=found, epoch=1)
    circuit = events_of(listener, feed)["circuit"]
    netlist = found.netlist
    for name in ("a", "b", "param", "outputs"):
        np.testing.assert_array_equal(
            decoded(circuit["netlist"][name], "<i4"), getattr(netlist, name)
        )
    assert [int(sign, 16) for sign in circuit["ops"]] == found.ops.tolist()
    sure = gates.softmax(found.logits.astype(np.float64)).max(axis=1) > 0.9
    assert circuit["decided"][0] == pytest.approx(
        sure[: found.config.architecture.kernels * found.config.architecture.kernel_gates].mean()
    )
    assert sum(map(sum, circuit["histogram"])) == len(found.ops)
    feed.publish(model=replace(found, logits=-found.logits), epoch=2)
    events = events_of(listener, feed)
    assert set(events) == {"circuit"}
    assert "netlist" not in events["circuit"], "the wiring is the same"


def test_a_run_that_went_back_is_sent_from_its_beginning():
    feed, listener = Feed(), Listener()
    feed.publish(rows=rows(9))
    events_of(listener, feed)
    feed.publish(rows=rows(4))
    events = events_of(listener, feed)["rows"]
    assert events["begins"]
    assert len(events["rows"]) == 4
    feed.publish(rows=(*rows(3), MetricsRow(4, 7.0)))
    assert events_of(listener, feed)["rows"]["begins"], "other rows than before"


def test_restarts_are_sent_once():
    feed, listener = Feed(), Listener()
    found = rows(9, (4, 6))
    sent = []
    for count in (3, 4, 5, 6, 7, 9):
        feed.publish(rows=found[:count])
        events = events_of(listener, feed)["rows"]
        sent.append([list(start) for start in events["starts"]])
        assert events["rows"][-1][5] == found[count - 1].attempt
    assert sent == [[], [], [[4, 2]], [], [[6, 3]], []]
    events = events_of(Listener(), feed)["rows"]
    assert [start[0] for start in events["starts"]] == [4, 6]
    feed.publish(rows=rows(3 * MOST_EVENTS, range(1, 3 * MOST_EVENTS)))
    starts = events_of(Listener(), feed)["rows"]["starts"]
    assert (len(starts), starts[-1][0]) == (MOST_EVENTS, 3 * MOST_EVENTS - 1)


@pytest.mark.thorough
@needs_node
@pytest.mark.parametrize(("boundary", "rate"), [("zero", 0.6), ("periodic", 1.0)])
def test_the_soft_circuit_is_that_of_the_oracle(boundary, rate):
    found = model(
        f'automaton.boundary="{boundary}"',
        f"automaton.fire_rate={rate}",
        "task.height=5",
        "task.width=6",
        "automaton.steps=4",
    )
    feed, listener = Feed(), Listener()
    feed.publish(model=found, epoch=1)
    events = events_of(listener, feed)
    run, netlist = events["run"], found.netlist
    table = decoded(events["circuit"]["coefficients"], "<f4")
    wires = {name: getattr(netlist, name).tolist() for name in ("a", "b", "param", "outputs")}
    shown = run_node(
        Path(__file__).with_name("run_soft.mjs"),
        page=(Path(__file__).parents[4] / "difflogic" / "view" / "watching" / "page").as_uri(),
        run=run,
        coefficients=table.tolist(),
        netlist={"channels": netlist.channels, **wires},
    )
    start = np.array([[int(sign) for sign in text] for text in run["start"]]).reshape(-1, 5, 6)
    masks = np.stack([fire_mask(0, step, 5, 6, rate) for step in range(4)]) if rate < 1 else None
    coefficients = gates.mix(gates.softmax(found.logits.astype(np.float64)))
    states = oracle.rollout(netlist, coefficients, start, 4, boundary, masks)
    expected = np.stack([state[list(run["visible"])].reshape(-1, 30) for state in states])
    np.testing.assert_allclose(shown, expected, atol=1e-4)
