"""The page as text: its content, no requests, and no way in for hostile texts."""

import base64
import html
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difflogic.config import load_config
from difflogic.evaluation.battery import run_tests
from difflogic.model.hardening import from_model
from difflogic.model.model import Model
from difflogic.view.reports import ReportSource, assets, build, webpage
from difflogic.view.reports.circuits import LOGIT_STEP, drawing, drawn_gates
from tests.difflogic.run.summaries import summary
from tests.difflogic.view.histories import rows
from tests.difflogic.view.reports.pages import EXPERIMENTS, automaton, hash_of, page, rules_of
from tests.examples import any_seed

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>'\"&lt;{{ 7*7 }}"


class Parts(HTMLParser):
    """Elements with their attributes, and the texts of scripts and styles."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements = []
        self.texts = {}
        self._inside = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._inside = (tag, dict(attrs).get("type"))

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        if self._inside and self._inside[0] in ("script", "style"):
            self.texts.setdefault(self._inside, []).append(data)


@pytest.fixture(scope="module")
def trained():
    """A small run from somewhere else: all its texts are hostile."""
    model = Model.create(load_config("checkerboard-small"))
    found = summary(
        epochs=10**30,
        exact_epoch=10**30,
        seconds={"training": -1.0, "processor": 1e300, "phases": {HOSTILE: 1.0}},
        scores={"checked": {"tested": HOSTILE}, "assurance": {"text": HOSTILE}, "accuracy": 0.0},
        versions={HOSTILE: HOSTILE},
        cpu={"name": HOSTILE, "count": -1},
    )
    named = replace(from_model(model), name=HOSTILE)
    return ReportSource(named, model, rows(900), found, exact_epoch=10**30)


@pytest.fixture(scope="module")
def hostile(trained):
    names = {"symbols": (HOSTILE, "b"), "background": 1}
    encoding = names | {"features": (f"={HOSTILE}",), "outputs": ("=b",)}
    small = replace(automaton("checkerboard"), name=HOSTILE, encoding=encoding)
    return build(trained, small, run_tests(trained.model, ["gates"]))


def test_hostile_texts_make_no_element(hostile):
    parts = Parts(hostile)
    assert [tag for tag, _ in parts.elements].count("script") == 2
    assert "img" not in {tag for tag, _ in parts.elements}
    assert not any(name.startswith("on") for _, attrs in parts.elements for name in attrs)
    assert "{{ 7*7 }}" in html.unescape(hostile), "and are shown as they are"
    assert "49" not in Parts(hostile).texts.get(("style", None), "")


def test_the_policy_allows_only_these_texts(hostile):
    parts = Parts(hostile)
    rules = rules_of(hostile)
    assert rules["default-src"] == "'none'"
    assert "unsafe-inline" not in str(rules)
    for kind, key in (("script-src", ("script", "module")), ("style-src", ("style", None))):
        assert hash_of("".join(parts.texts[key])) in rules[kind]
    assert not any("style" in attrs for _, attrs in parts.elements)


@pytest.mark.once
@pytest.mark.parametrize("name", ["checkerboard", "letter-g"])
def test_the_page_is_small_and_links_to_no_other_place(name):
    text = page(name)
    assert len(text.encode()) < 500_000
    parts = Parts(text)
    links = [
        value
        for _, attrs in parts.elements
        for key, value in attrs.items()
        if key in ("src", "href")
    ]
    assert set(links) == {"data:,", "#automaton"}
    assert set(re.findall(r"https?://[^\"' ]+", text)) == {"http://www.w3.org/2000/svg"}


@pytest.mark.thorough
@settings(max_examples=20)
@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_embedded_values_end_no_element_and_are_read_back(value):
    text = assets.embedded({"value": value})
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == {"value": value}


@pytest.mark.parametrize("scripts", [webpage.SCRIPTS, webpage.GALLERY_SCRIPTS])
def test_the_bundle_has_all_modules_in_order_of_imports(scripts):
    names = {path.name for path in assets.ASSETS.glob("*.js")}
    assert names == {*webpage.SCRIPTS, *webpage.GALLERY_SCRIPTS}
    seen = set()
    defined = []
    for name in scripts:
        text = assets.asset(name)
        assert set(re.findall(r"from \"\./(\w+\.js)\"", text)) <= seen, name
        seen.add(name)
        kinds = "const|let|(?:async )?function|class"
        defined += re.findall(rf"^(?:export )?(?:{kinds}) (\w+)", text, re.M)
    assert len(defined) == len(set(defined)), "a name at the top of two modules"
    assert not re.search(r"^(import|export) ", assets.bundle(scripts), re.M)


def numbers(text, kind):
    return np.frombuffer(base64.b64decode(text), kind)


def data_of(text):
    return json.loads("".join(Parts(text).texts["script", "application/json"]))


@pytest.mark.thorough
def test_logits_belong_to_the_gates_drawn(trained):
    rng = np.random.default_rng(0)
    drawn_at_random = rng.normal(0, 5, trained.model.logits.shape).astype(np.float32)
    model = replace(trained.model, logits=drawn_at_random)
    found = from_model(model)
    small = found.with_circuit(replace(found.circuit, labels=found.circuit.labels))
    data = data_of(build(replace(trained, automaton=found, model=model), small, None))
    table = numbers(data["logits"]["table"], "<i2").reshape(-1, 16)
    before = data["drawings"]["before"]
    gates = [
        gate
        for gate, kind in zip(before["names"], before["kinds"], strict=True)
        if kind not in "iov"
    ]
    assert drawn_gates(before) == gates
    for gate, row in zip(gates, numbers(data["logits"]["of"], "<u2"), strict=True):
        expected = drawn_at_random[model.netlist.param[gate]]
        np.testing.assert_allclose(table[row] * LOGIT_STEP, expected, atol=LOGIT_STEP)
        assert int(expected.argmax()) == int(found.circuit.op[gate])


@settings(max_examples=5)
@given(st.sampled_from(EXPERIMENTS[:4]), any_seed)
def test_the_drawing_computes_the_next_state(name, seed):
    """Node by node, as on the page, against the circuit."""
    found = automaton(name)
    drawn = drawing(found)
    bits = np.random.default_rng(seed).integers(0, 2, found.circuit.inputs).astype(bool)
    expected = found.circuit.next_state(bits[:, None])[:, 0].tolist()
    assert computed(found.circuit, drawn, bits) == dict(
        zip(found.circuit.labels, expected, strict=True)
    )


def computed(circuit, drawn, bits):
    """The next states by label, as the page computes them."""
    place = {label: channel for channel, label in enumerate(circuit.labels)}
    values = []
    results = {}
    for kind, a, b in zip(drawn["kinds"], drawn["a"], drawn["b"], strict=True):
        if kind == "i":
            values.append(int(bits[a * circuit.channels + place[b]]))
        elif kind in "ov":
            values.append(values[a])
            results[b] = values[a]
        else:
            values.append(int(kind, 16) >> (3 - 2 * values[a] - values[b]) & 1)
    return results
