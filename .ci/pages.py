"""The pages as a site: this lays them out for Sphinx, which conf.py beside it sets up: `make site`.

The README, docs/, all that they link to, and a reference of the public names go to where they lie
in the repository: each link and anchor is the same there.
"""

from __future__ import annotations

import inspect
import re
import shutil
import sys
from pathlib import Path

import difflogic

ROOT = Path(__file__).parents[1]
PAGES = {
    "Train": "experiments local-rules computing pictures tiles tough tasks learning runs sweeps",
    "From data": "examples identify odds chance blocks",
    "Circuits": "circuits regions simulation seeing circuit-file silicon",
    "Proofs": "certificates one-side checkers reliability",
    "Speed": "performance sharing gpu",
    "Python": "library reference layers",
    "Look up": "glossary configuration compare citing ../SECURITY ../CHANGELOG",
    "Inside": "architecture ../CONTRIBUTING notebook/README",
}
"""The pages of docs/ in the site's contents, by their heading; getting-started is first."""
REFERENCE = """# Reference

The public names of `difflogic`. [Library](library.md) shows how they are used.
"""
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")


def stage(there: Path) -> None:
    """Lay out the pages, and what they link to, in a new folder."""
    shutil.rmtree(there, ignore_errors=True)
    shutil.copytree(ROOT / "docs", there / "docs")
    for page in ROOT.glob("*.md"):
        shutil.copy(page, there)
    for page in sorted(there.rglob("*.md")):
        text = re.sub(r"^```.*?^```|`[^`]*`", "", page.read_text("utf-8"), flags=re.M | re.S)
        for target in LINK.findall(text):
            file = (page.parent / target).resolve()
            if not file.exists():
                file.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / file.relative_to(there.resolve()), file)
    (there / "docs" / "reference.md").write_text(reference(), encoding="utf-8")
    with (there / "README.md").open("a", encoding="utf-8") as readme:
        readme.write(contents())
    move = '<meta http-equiv="refresh" content="0; url=README.html">\n'
    (there / "index.html").write_text(move, encoding="utf-8")


def anchor(heading: str) -> str:
    """Return a heading's anchor, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def reference() -> str:
    """Return the page of the public names, from their docstrings."""
    parts = [REFERENCE]
    for name in sorted(difflogic.homes()):
        what = getattr(difflogic, name)
        kind = "class" if inspect.isclass(what) else "function" if callable(what) else "data"
        members = "\n   :members:" if kind == "class" else ""
        directive = f".. auto{kind}:: difflogic.{name}{members}"
        parts.append(f"## {name}\n\n```{{eval-rst}}\n{directive}\n```\n")
    return "\n".join(parts)


def contents() -> str:
    """Return the contents of the site, for the end of its first page."""
    parts = ["```{toctree}\n:hidden:\ndocs/getting-started\n```\n"]
    for heading, names in PAGES.items():
        lines = "\n".join(f"docs/{name}".replace("docs/../", "") for name in names.split())
        parts.append(f"```{{toctree}}\n:hidden:\n:caption: {heading}\n\n{lines}\n```\n")
    return "\n" + "\n".join(parts)


if __name__ == "__main__":
    stage(Path(sys.argv[1]))
