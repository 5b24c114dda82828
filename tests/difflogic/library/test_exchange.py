"""Results in notebooks: short texts, valid XML pictures, and isolated pages."""

import html
import re
from xml.etree import ElementTree

import pytest

import difflogic
from difflogic.library.reporting import framed

SETTINGS = ["training.epochs=3", "finishing.from_epoch=1000", "training.restart_every=0"]


def framed_page(text):
    found = re.match('<iframe sandbox="allow-scripts" [^>]* srcdoc="([^"]*)">', text)
    return html.unescape(found[1])


def test_a_framed_page_is_complete_and_may_only_run_scripts():
    page = '<p title="a">&amp; "quoted"</p>'
    assert framed_page(framed(page)) == page


@pytest.mark.slow
def test_results_have_short_representations_and_need_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = difflogic.train("checkerboard-small", SETTINGS, directory="run")
    loaded = difflogic.load(run.path)
    small = difflogic.simplify(loaded, "low")
    shown = [run, loaded, loaded.model, loaded.automaton, small, difflogic.inspect(loaded)]
    shown += [loaded.model.config, loaded.automaton.circuit, difflogic.plan()]
    shown += [difflogic.evaluate(loaded, ["exactness"], starts=1)]
    shown += [difflogic.prove(loaded, small.automaton)]
    assert [each for each in shown if len(repr(each)) > 200] == []
    assert ElementTree.fromstring(small._repr_svg_()).tag.endswith("svg")
    reported = loaded.report(tests=False)
    assert reported.page == difflogic.report("run", tests=False).page
    assert len(repr(reported)) < 400
    assert framed_page(reported._repr_html_()) == reported.page
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
