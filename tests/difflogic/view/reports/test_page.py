"""The page in a real browser: its simulation, its controls, and no other requests."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from selenium.webdriver.common.keys import Keys

from difflogic.config import load_config
from difflogic.evaluation.battery import run_tests
from difflogic.model.hardening import from_model
from difflogic.model.model import Model
from difflogic.view.reports import ReportSource, build
from tests.difflogic.view.histories import model, rows
from tests.difflogic.view.reports.browser import needs_browser
from tests.difflogic.view.reports.pages import automaton, page
from tests.difflogic.view.reports.test_engines import case, in_python

pytestmark = [needs_browser, pytest.mark.slow]


@pytest.fixture
def board(window, tmp_path):
    """The checkerboard's page; afterwards there are no messages and no requests."""
    address = window.show(tmp_path, page("checkerboard"))
    yield window
    assert window.messages() == []
    assert set(window.requests()) <= {address}


def wrong_cells(bits):
    """The number of cells of channel 0 that differ from the checkerboard."""
    y, x = np.indices(bits.shape[1:]) // 2
    return int((bits[0] != (x + y) % 2).sum())


@cache
def expected_after_200_steps(name, edges):
    found = automaton(name)
    strokes = [(100, 2, 3, 3)]
    shown = case(found, found.height, found.width, edges == "periodic", 200, strokes)
    # Compiled, as by `dct simulate` on large grids; test_engines compares with the interpreter.
    return in_python(shown, "compiled")


@pytest.mark.once
@pytest.mark.parametrize("engine", ["WebAssembly", "JavaScript"])
@pytest.mark.parametrize("name", ["checkerboard-async", "lizard"])
def test_200_steps_with_painted_damage_agree_with_the_library(window, tmp_path, name, engine):
    address = window.show(tmp_path, page(name))
    found = automaton(name)
    for edges in ("zero", "periodic"):
        window.set("#engine", engine)
        window.set("#size", f"{found.height}x{found.width}")
        window.set("#edges", edges)
        window.set("#seed", 3)
        window.set("#brush-size", 3)
        window.choose("brush", "erase")
        window.js("dct.player.advance(100)")
        window.drag((2, 3))
        window.js("dct.player.advance(100)")
        assert window.js("return dct.simulation.engine.name") == engine
        assert_array_equal(window.bits(), expected_after_200_steps(name, edges))
    assert window.messages() == []
    assert set(window.requests()) <= {address}


def test_without_webassembly_the_circuit_is_interpreted(window, tmp_path):
    """If a policy forbids WebAssembly, the page says so and continues."""
    window.show(tmp_path, page("checkerboard").replace("wasm-unsafe-eval", "none"))
    assert "the circuit is interpreted" in window.text("#trouble")
    window.js("dct.player.advance(50)")
    assert wrong_cells(window.bits()) == 0
    window.messages()  # the browser reports what the policy forbade


def test_a_page_is_played_from_end_to_end(board):
    """Play, pause, step and reset; damage that heals; a cell's bits and a gate in the drawing."""
    board.find("#play").click()
    board.wait("return dct.simulation.step >= 3")
    board.find("#play").click()
    board.wait("return document.querySelector('#play').textContent === 'Play'")
    now = board.js("return dct.simulation.step")
    board.find("#step").click()
    board.wait(f"return document.querySelector('#shown-step').textContent === '{now + 1}'")
    board.find("#reset").click()
    assert board.js("return dct.simulation.step") == 0
    start = case(automaton("checkerboard"), 16, 16, False, 0, seed=0)
    assert_array_equal(board.bits(), in_python(start))

    board.js("dct.player.advance(60)")
    board.wait("return document.querySelector('#shown-wrong').textContent === '0'")
    board.drag((3, 3), (5, 7))
    hurt = wrong_cells(board.bits())
    assert hurt > 9
    board.wait(f"return document.querySelector('#shown-wrong').textContent === '{hurt}'")
    assert board.js("return document.querySelectorAll('#curve .start').length") == 1
    colors = board.js(
        "const c = document.querySelector('#cells').getContext('2d').getImageData(0, 0, 16, 16);"
        "return new Set(new Uint32Array(c.data.buffer)).size"
    )
    assert colors == 3, "right ones, right zeros, and zeros that are wrong"

    assert board.text("#cell-head") == "Row 5, column 7, and around it"
    lit = board.js(
        "return Object.fromEntries([...document.querySelectorAll('.node.next')].map((n) =>"
        " [n.textContent, n.classList.contains('on')]))"
    )
    board.js("dct.player.advance(1)")
    after = board.bits()
    labels = automaton("checkerboard").circuit.labels
    assert lit == {f"n{label}′": bool(after[c, 5, 7]) for c, label in enumerate(labels)}
    board.js("dct.player.advance(60)")
    board.wait("return document.querySelector('#shown-wrong').textContent === '0'")

    board.js(
        "document.querySelector('.node.or').dispatchEvent("
        "new PointerEvent('pointerover', {bubbles: true}))"
    )
    assert "∨" in board.text("#gate")
    rows = board.js(
        "return [...document.querySelectorAll('.truth tr')].slice(1).map((r) =>"
        " [...r.children].map((c) => Number(c.textContent)))"
    )
    assert [row[:2] for row in rows] == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert 0 < sum(row[2] for row in rows) < 4

    for start, ones in (("zeros", 0), ("center", automaton("checkerboard").circuit.channels)):
        board.set("#start", start)
        assert board.bits().sum() == ones
    for name, value in (("size", "64x64"), ("start", "random"), ("seed", 11)):
        board.set(f"#{name}", value)
    board.js("dct.player.advance(7)")
    shown = case(automaton("checkerboard"), 64, 64, False, 7, seed=11)
    assert_array_equal(board.bits(), in_python(shown))


@pytest.mark.parametrize("brush", ["ones", "noise"])
def test_each_brush_paints_a_square_of_its_size(board, brush):
    board.set("#brush-size", 4)
    board.choose("brush", brush)
    assert board.text("#brush-hint")
    before = board.bits()
    board.drag((8, 9))
    after = board.bits()
    inside = np.zeros((16, 16), bool)
    inside[6:10, 7:11] = True
    assert_array_equal(after[:, ~inside], before[:, ~inside])
    painted = after[:, inside]
    if brush == "noise":
        assert 16 < painted.sum() < 64, "of 80"
    else:
        assert painted[0].all()
        assert_array_equal(painted[1:], before[1:, inside])


def test_thousands_of_gates_are_tiles(window, tmp_path):
    """Their values for a cell's bits, the text of one, and arrow keys along wires."""
    many = model(name="lizard", spread=20)
    trained = from_model(many)
    small = automaton("lizard")
    window.show(tmp_path, build(ReportSource(trained, many), small, None))
    window.choose("drawn", "before")
    assert window.js("return document.querySelectorAll('#drawing canvas').length") == 1
    window.drag((5, 7))
    circuit = trained.circuit
    labels = list(small.circuit.labels)
    bits = np.array(window.js("return Array.from(dct.simulation.neighborhood(5, 7))"), bool)
    whole = np.zeros((9, circuit.channels), bool)
    whole[:, labels] = bits.reshape(9, -1)
    expected = circuit.next_state(whole.reshape(-1, 1))[labels, 0]
    values = window.js(
        "const { circuit } = dct.drawing; return Array.from(circuit.values).filter("
        "(_, node) => circuit.isOutput(node))"
    )
    assert values == expected.tolist()
    left, top = window.js(
        "const d = dct.drawing, c = d.canvas; c.scrollIntoView({ block: 'center' });"
        "const box = c.getBoundingClientRect(), n = d.circuit.size >> 1;"
        "return [box.left + (d.x[n] + 3) * d.scale, box.top + (d.y[n] + 3) * d.scale]"
    )
    window.js(
        "document.elementFromPoint(...arguments).dispatchEvent(new PointerEvent('pointermove',"
        "{ bubbles: true, clientX: arguments[0], clientY: arguments[1] }))",
        left,
        top,
    )
    node = window.js("return dct.drawing.node")
    assert node == window.js("return dct.drawing.circuit.size >> 1")
    name = window.js(f"return dct.drawing.circuit.name({node})")
    assert window.text("#gate").startswith(f"{name}: ")
    assert "Its logits" in window.text("#gate")
    window.js("document.querySelector('#drawing').focus()")
    window.press(Keys.ARROW_LEFT)
    assert window.js(f"return dct.drawing.circuit.sources({node})[0] === dct.drawing.node")
    goes_up_and_down(window)
    window.set("#zoom", 2)
    colors = window.js(
        "dct.drawing.draw(); const c = dct.drawing.canvas;"
        "const image = c.getContext('2d').getImageData(0, 0, c.width, c.height);"
        "return new Set(new Uint32Array(image.data.buffer)).size"
    )
    assert colors > 8
    assert window.messages() == []


def test_everything_by_keyboard_alone(board):
    board.js("document.querySelector('.skip').focus()")
    order = []
    for _ in range(40):
        board.press(Keys.TAB)
        order.append(
            board.js("const e = document.activeElement; return e.id || e.name || e.tagName")
        )
    controls = """cells play step reset speed brush brush-size channel mark-wrong pause-at size
        start edges seed fire engine drawing"""
    assert set(controls.split()) <= set(order)
    nameless = board.js(
        "return [...document.querySelectorAll('input, select, button, canvas')].filter((e) =>"
        " !(e.labels?.length || e.textContent.trim() || e.getAttribute('aria-label')))"
        ".map((e) => e.outerHTML)"
    )
    assert nameless == []
    board.js("document.querySelector('#cells').focus()")
    board.press("s", "s")
    assert board.js("return dct.simulation.step") == 2
    board.press(Keys.ARROW_UP, Keys.ARROW_LEFT)
    assert board.text("#cell-head").startswith("Row 7, column 7")
    before = board.bits()
    board.press(" ")
    painted = np.argwhere((board.bits() != before).any(axis=0))
    assert painted.min() >= 5
    assert painted.max() <= 9
    board.press("p")
    board.wait("return dct.simulation.step > 3")
    board.press("p", "r")
    assert board.js("return [dct.player.playing, dct.simulation.step]") == [False, 0]
    board.js("document.querySelector('#drawing').focus()")
    board.press(Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    assert board.js("return document.querySelectorAll('.node.chosen').length") == 1
    assert board.js("return dct.drawing.node === dct.drawing.circuit.readers[0][0]")
    board.press(Keys.ARROW_LEFT)
    goes_up_and_down(board)


def goes_up_and_down(window):
    """Arrow keys go up and down in a column."""
    place = (
        "const d = dct.drawing, [x, y] = d.x ? [d.x, d.y] : [d.circuit.data.x, d.circuit.data.y];"
        "return [d.node, x[d.node], y[d.node]]"
    )
    begun, x, y = window.js(place)
    window.press(Keys.ARROW_DOWN)
    other, same, below = window.js(place)
    assert (same, below > y) == (x, True)
    window.press(Keys.ARROW_UP)
    assert window.js(place) == [begun, x, y]
    assert other != begun


def test_a_picture_is_grown_when_the_page_opens_and_grows_again(window, tmp_path):
    small = automaton("letter-g")
    made = Model.create(load_config("letter-g"))
    text = build(ReportSource(small, made), small, None)
    window.show(tmp_path, text)
    state = "return [dct.player.playing, dct.simulation.step]"
    assert window.js(state) == [False, small.steps]
    window.js("document.querySelector('#play').click()")
    window.wait(f"return dct.simulation.step < {small.steps} && dct.player.playing")


def test_a_page_fits_a_phone_and_a_laptop(window, tmp_path):
    made = Model.create(load_config("checkerboard-small"))
    source = ReportSource(from_model(made), made, rows(40), exact_epoch=40)
    text = build(source, source.automaton, run_tests(made))
    with window.screen():
        window.show(tmp_path, text)
        rights = window.js(
            "return [...document.querySelectorAll('svg.chart, .scroll td, .scroll th')].map((e) =>"
            " e.getBoundingClientRect().right)"
        )
        assert len(rights) > 30
        assert max(*rights, window.js("return document.documentElement.scrollWidth")) <= 360
        tiny = window.js(
            "return [...document.querySelectorAll('button, select')].filter((e) =>"
            " e.offsetParent && e.getBoundingClientRect().height < 39).map((e) => e.id)"
        )
        assert tiny == []
        left, top = window.js(
            "const c = document.querySelector('#cells'); c.scrollIntoView({block: 'center'});"
            "const b = c.getBoundingClientRect();"
            "return [b.left + b.width / 2, b.top + b.height / 2]"
        )
        window.js("document.querySelector('[name=brush][value=ones]').click()")
        before = window.bits()
        for kind, points in (("touchStart", [{"x": left, "y": top}]), ("touchEnd", [])):
            touch = {"type": kind, "touchPoints": points}
            window.driver.execute_cdp_cmd("Input.dispatchTouchEvent", touch)
        assert (window.bits() != before).any(), "touch paints"
        assert window.messages() == []
    with window.screen(width=1280, height=800, mobile=False):
        window.show(tmp_path, text)
        places = window.js(
            "return [...document.querySelectorAll('#cells, #play')].map((e) =>"
            " e.getBoundingClientRect().bottom)"
        )
        assert max(places) <= 800


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast(window, tmp_path, scheme):
    """At least 4.5 to 1, as WCAG 2.2 requires."""
    window.show(tmp_path, page("checkerboard"), prefers_color_scheme=scheme)
    pairs = window.js(
        """
        const found = [];
        const texts = 'p, dt, dd, h1, h2, legend, button, figcaption, pre, .choices span, .good';
        for (const e of document.querySelectorAll(texts)) {
          if (!e.offsetParent || !e.textContent.trim()) continue;
          let ground = e;
          const clear = (x) => getComputedStyle(x).backgroundColor === 'rgba(0, 0, 0, 0)';
          while (clear(ground) && ground.parentElement) ground = ground.parentElement;
          const colors = [getComputedStyle(e).color, getComputedStyle(ground).backgroundColor];
          found.push([...colors, e.textContent.slice(0, 30)]);
        }
        return found;
        """
    )
    assert len(pairs) > 30

    def luminance(color):
        parts = [int(part) / 255 for part in color[4:-1].split(",")]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return np.dot(linear, [0.2126, 0.7152, 0.0722])

    for text, ground, words in pairs:
        light, dark = sorted([luminance(text), luminance(ground)], reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (words, text, ground)
