"""The news of a living run: everything once, then only what is new, as in its report."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from difflogic.circuit.circuit import Circuit
from difflogic.model.hardening import from_model
from difflogic.run.metrics import MetricsRow
from difflogic.view.watching import Feed
from difflogic.view.watching.news import WAITING_PAGE, news, page
from tests.difflogic.view.histories import model, rows


class Browser:
    """Asks for what it does not know yet."""

    def __init__(self, feed):
        self.feed = feed
        self.number = 0

    def ask(self):
        found = self.feed.since(self.number)
        json.dumps(found, allow_nan=False)
        self.number = found.pop("number")
        return found


def test_everything_is_told_once():
    feed = Feed()
    found = model()
    browser = Browser(feed)
    assert set(browser.ask()) == {"facts", "gone"}
    assert page(feed.snapshot) == WAITING_PAGE
    feed.publish(model=found, rows=rows(3), state="training")
    told = {"facts", "charts", "histograms", "circuit", "page"}
    assert set(browser.ask()) == told
    assert browser.ask() == {}
    feed.publish(rows=rows(10, (4, 6)))
    told = browser.ask()
    assert set(told) == {"facts", "charts"}
    facts = dict(told["facts"])
    assert facts["state"] == "training"
    assert facts["epoch"] == "10 of 20,000"
    assert facts["attempt"] == "3"
    assert facts["last search"] == "40 → 10 wrong bits, 9 tried"
    assert facts["gates decided"] == "99.8%"
    assert told["charts"]["loss-chart"]["starts"] == [4, 6]
    feed.publish(rows=(*rows(3), MetricsRow(4, 7.0)))  # went back to a checkpoint
    lines = dict(browser.ask()["charts"]["loss-chart"]["lines"])
    assert lines["soft loss"][-1] == (4, 7.0)
    feed.publish(model=replace(found, logits=-found.logits))
    assert set(browser.ask()) == {"histograms", "circuit"}
    feed.publish(model=model("training.seed=5"))
    assert "page" in browser.ask(), "other settings: the page loads itself again"


def test_the_circuit_computes_what_that_of_the_model_does():
    feed = Feed()
    found = model()
    feed.publish(model=found)
    parts = Browser(feed).ask()["circuit"]
    arrays = (np.array(parts[name]) for name in ("op", "a", "b", "outputs"))
    circuit = Circuit(*arrays, tuple(parts["labels"]))
    trained = from_model(found).circuit
    assert circuit.gates < trained.gates
    cases = np.random.default_rng(1).integers(0, 2**64, (trained.inputs, 20), np.uint64)
    np.testing.assert_array_equal(circuit.next_state(cases), trained.next_state(cases))


@pytest.mark.parametrize(
    ("training", "state", "words", "gone"),
    [
        (True, "training", "training", "trains does not answer.*dct watch runs/a.*--resume runs/a"),
        (True, "finished", "finished; dct report runs/a adds", "The run is over.*dct watch runs/a"),
        (
            False,
            "stopped",
            "stopped; dct train --resume runs/a",
            "dct watch runs/a does not answer",
        ),
    ],
)
def test_a_page_says_what_has_ended_and_how_to_go_on(training, state, words, gone):
    feed = Feed()
    feed.publish(model=model(), rows=rows(3), path="runs/a", training=training, state=state)
    found = news(feed.snapshot)
    assert dict(found["facts"])["state"].startswith(words)
    assert re.search(gone, found["gone"])
    assert 'id="gone"' in page(feed.snapshot)
