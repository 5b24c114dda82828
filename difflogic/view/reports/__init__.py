"""Reports: a run as one page for a browser, with the running automaton.

Templates, the style sheet and the modules of JavaScript are in `page/`.
"""

from difflogic.view.reports.contents import ReportSource, read_training
from difflogic.view.reports.webpage import build, build_gallery, build_live, live_policy

__all__ = ["ReportSource", "build", "build_gallery", "build_live", "live_policy", "read_training"]
