"""Reports: a run as one page for a browser, with the running automaton.

Templates, the style sheet and the modules of JavaScript are in `page/`.
"""

from difflogic.view.reports.document import build, build_gallery
from difflogic.view.reports.source import Source, read_training

__all__ = ["Source", "build", "build_gallery", "read_training"]
