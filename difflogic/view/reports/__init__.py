"""A run as one page for a browser: what was learned, how, and the automaton itself, running.

The page's own files, in `page/`, are a template, a style sheet and modules of JavaScript.
"""

from difflogic.view.reports.document import build, build_gallery
from difflogic.view.reports.source import Source, read_training

__all__ = ["Source", "build", "build_gallery", "read_training"]
