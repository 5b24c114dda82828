"""How Sphinx builds the site of the pages from what pages.py lays out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments.lexers.special import TextLexer
from sphinx.addnodes import download_reference
from sphinx.highlighting import lexers

from difflogic.version import __version__

sys.path.insert(0, str(Path(__file__).parent))
project = "dct"
version = release = __version__
copyright = "the dct authors"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = "README"
html_theme = "furo"
html_title = "dct"
html_copy_source = False
myst_heading_anchors = 6
myst_heading_slug_func = "pages.anchor"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
# Docstrings name code between single backquotes.
default_role = "code"
suppress_warnings = ["toc.not_included", "myst.xref_missing_directory"]


def keep_places(app: Any, tree: nodes.document) -> None:
    """Link to files where they lie: Sphinx would copy them to a folder of downloads."""
    for link in list(tree.findall(download_reference)):
        plain = nodes.reference("", "", *link.children, refuri=link["reftarget"])
        link.replace_self(plain)


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("doctree-read", keep_places)
    app.config.html_extra_path = [str(app.srcdir)]
    lexers["csv"] = TextLexer()
