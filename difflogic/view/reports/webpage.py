"""Pages as single HTML files, which load nothing and run no other script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from difflogic.circuit.automaton import Automaton
from difflogic.circuit.gates import DECIDED
from difflogic.evaluation.scores import Evaluation
from difflogic.inspection.equations import equations
from difflogic.system.templates import rendered
from difflogic.tasks import custom, make_task
from difflogic.tasks.base import Task
from difflogic.tasks.parts import Exhibit
from difflogic.version import __version__
from difflogic.view.reports import circuits, contents, curves, symbols
from difflogic.view.reports.assets import ASSETS, asset, bundle, embedded, policy
from difflogic.view.reports.contents import ReportSource

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
    "live.js",
    "main.js",
)
"""The report's modules, each after those that it imports."""

GALLERY_SCRIPTS = (*SCRIPTS[: SCRIPTS.index("judge.js")], "screen.js", "gallery.js")
"""The modules of a page of several automata."""


def build(source: ReportSource, small: Automaton, results: Evaluation | None) -> str:
    """Return the report of a source whose circuit is simplified to `small`.

    `results` are those of `run_tests`, or None for a circuit that cannot be evaluated.
    """
    model = source.model
    trained = source.automaton
    simplified = small.circuit is not trained.circuit
    after = circuits.drawing(small)
    before = circuits.drawing(trained, small.circuit.labels) if simplified else None
    drawn = "after" if model else None
    data = _data(source, small, circuits.running(small), tested=True) | {
        "simplified": simplified,
        "trainedDrawing": "before" if simplified else drawn,
        "drawings": {"after": after, "before": before},
        "ops": contents.op_table(),
    }
    if results is not None and "noise" in results.tests:
        data["charts"]["noise-chart"] = curves.noise_chart(results.tests["noise"].as_dict())
    if model is not None and before is not None:
        bits = 8 if "tiled" in before else 16
        data["logits"] = circuits.logits(model, circuits.drawn_gates(before), bits)
    return _report(
        source,
        small,
        data,
        facts=contents.facts(source, small),
        simplified=simplified,
        drawn_before=before is not None,
        equations=equations(small.circuit).texts,
        origin=contents.origin(source),
        training=contents.training(source),
        results=results,
    )


def live_policy() -> str:
    """Return the content policy of `build_live`, for its HTTP header."""
    return policy(asset("report.css"), bundle(SCRIPTS), live=True) + "; frame-ancestors 'none'"


def build_live(source: ReportSource, news: dict[str, Any]) -> str:
    """Return the page of a run that trains, or has trained, for a browser that gets its news.

    The source's circuit is not simplified. `news` are those of `watching.news`.
    """
    small = source.automaton
    data = _data(source, small, circuits.interpreted(small), tested=False) | news
    return _report(source, small, data, live=True, facts=news["facts"], results=None)


def _data(
    source: ReportSource, small: Automaton, automaton: dict[str, Any], tested: bool
) -> dict[str, Any]:
    task = _task(source)
    shown = _exhibit(source)
    encoding = symbols.encoding_of(small)
    first = contents.first_settings(small, shown)
    if encoding:  # paint with the first symbol besides the background
        brush = int(encoding["background"] == 0)
        first = {**first, "brush": brush, "size": 1, "marks": False}
    elif task is not None:
        first["given"] = contents.example(task, small, first)
    if small.parts:
        first["brush"] = "part 1"
    painted = source.painted
    if painted is not None:
        first["height"], first["width"] = painted.shape
        automaton["painted"] = ["".join(f"{part:x}" for part in row) for row in painted.tolist()]
    return contents.parts(source) | {
        "automaton": automaton | {"encoding": encoding},
        "target": shown.target,
        "first": first,
        "examples": symbols.examples_of(small, source.model, tested=tested),
    }


def _task(source: ReportSource) -> Task | None:
    if source.model is None or not custom.is_loaded(source.model.config.task):
        return None
    return make_task(source.model.config)


def _exhibit(source: ReportSource) -> Exhibit:
    task = _task(source)
    return task.exhibit if task else Exhibit()


def _report(source: ReportSource, small: Automaton, data: Mapping[str, Any], **values: Any) -> str:
    model = source.model
    return _page(
        "report.html",
        SCRIPTS,
        data,
        first=data["first"],
        source=source,
        small=small,
        encoding=data["automaton"]["encoding"],
        charts=data["charts"],
        shown=_exhibit(source),
        command=contents.train_command(model.config) if model else None,
        decided=DECIDED,
        **values,
    )


def build_gallery(automata: Sequence[Automaton]) -> str:
    """Return a page on which several automata run, are damaged now and then, and heal."""
    data = [circuits.running(each) for each in automata]
    return _page("gallery.html", GALLERY_SCRIPTS, data, automata=automata)


def _page(
    template: str,
    scripts: Sequence[str],
    data: Mapping[str, Any] | Sequence[Any],
    live: bool = False,
    **values: Any,
) -> str:
    from markupsafe import Markup

    style = asset("report.css")
    script = bundle(scripts)
    return rendered(
        ASSETS / template,
        policy=policy(style, script, live),
        live=live,
        style=Markup(style),
        script=Markup(script),
        data=Markup(embedded(data)),
        version=__version__,
        **values,
    )
