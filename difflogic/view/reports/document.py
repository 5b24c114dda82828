"""Pages as single HTML files, which load nothing and run no other script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.gates import DECIDED
from difflogic.inspection.equations import equations
from difflogic.run.metrics import restarts
from difflogic.tasks import exhibit_of
from difflogic.tasks.parts import Exhibit
from difflogic.version import __version__
from difflogic.view.reports import circuits, contents, curves, examples
from difflogic.view.reports.assets import asset, bundle, embedded, policy
from difflogic.view.reports.source import Source

SCRIPTS = (
    "random_bits.js",
    "grid.js",
    "interpreter.js",
    "compiled.js",
    "simulation.js",
    "judge.js",
    "screen.js",
    "charts.js",
    "gif.js",
    "drawing.js",
    "tiles.js",
    "details.js",
    "encoding.js",
    "examples.js",
    "player.js",
    "pointer.js",
    "main.js",
)
"""The report's modules, each after those that it imports."""

CHARTS = ("loss", "decided", "searches", "noise")
"""The charts on the page."""

GALLERY_SCRIPTS = (*SCRIPTS[: SCRIPTS.index("judge.js")], "screen.js", "gallery.js")
"""The modules of a page of several automata."""


def build(source: Source, small: Automaton, results: Mapping[str, Any] | None) -> str:
    """Return the report of a source whose circuit is simplified to `small`.

    `results` are those of `evaluation.run_tests`, or None for a circuit that cannot be evaluated.
    """
    model, trained = source.model, source.automaton
    shown = Exhibit() if model is None else exhibit_of(model.config)
    simplified = small.circuit is not trained.circuit
    after = circuits.drawing(small)
    before = circuits.drawing(trained, small.circuit.labels) if simplified else None
    exact = source.summary["exact_epoch"] if source.summary else None
    published = model.config.published.learned_by if model else None
    charts = curves.charts(source.history, exact, published) if model else {}
    if results is not None and "noise" in results["tests"]:
        charts["noise"] = curves.noise_chart(results["tests"]["noise"])
    encoding, first = examples.encoding_of(small), contents.first_settings(small, shown)
    if encoding:  # paint with the first symbol besides the background
        brush = int(encoding["background"] == 0)
        first = {**first, "brush": brush, "size": 1, "marks": False}
    data: dict[str, Any] = {
        "automaton": circuits.running(small) | {"encoding": encoding},
        "target": shown.target,
        "first": first,
        "examples": examples.examples_of(small, model),
        "simplified": simplified,
        "trainedDrawing": "before" if simplified else "after" if model else None,
        "drawings": {"after": after, "before": before},
        "ops": contents.op_table(),
        "charts": {f"{name}-chart": charts[name] for name in CHARTS if name in charts},
        "histograms": {} if results is None else contents.histograms(results),
    }
    if model is not None and before is not None:
        bits = 8 if "tiled" in before else 16
        data["logits"] = circuits.logits(model, circuits.drawn_gates(before), bits)
    return _page(
        "report.html",
        SCRIPTS,
        data,
        source=source,
        small=small,
        encoding=encoding,
        simplified=simplified,
        drawn_before=before is not None,
        shown=shown,
        equations=equations(small.circuit).texts,
        command=contents.train_command(model.config) if model else None,
        exact=exact,
        published=published,
        attempts=contents.attempts(source.history),
        restarts=len(restarts(source.history or ())),
        decided=DECIDED,
        results=results,
        charts=charts,
    )


def build_gallery(automata: Sequence[Automaton]) -> str:
    """Return a page on which several automata run, are damaged now and then, and heal."""
    data = [circuits.running(each) for each in automata]
    return _page("gallery.html", GALLERY_SCRIPTS, data, automata=automata)


def _page(
    template: str, scripts: Sequence[str], data: Mapping[str, Any] | Sequence[Any], **values: Any
) -> str:
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    style, script = asset("report.css"), bundle(scripts)
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    return environment.from_string(asset(template)).render(
        policy=policy(style, script),
        style=Markup(style),
        script=Markup(script),
        data=Markup(embedded(data)),
        version=__version__,
        **values,
    )
