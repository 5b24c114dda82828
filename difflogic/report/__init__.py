"""A run as one page for a browser: what was learned, how, and the automaton itself, running.

    source = read(path)
    page = build(source, simplified automaton, results of `evaluation.evaluate`)

The page's own files, in `page/`, are a template, a style sheet and modules of JavaScript.
"""

from difflogic.report.document import build
from difflogic.report.source import Source, read

__all__ = ["Source", "build", "read"]
