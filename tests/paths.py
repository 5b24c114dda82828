"""Places in the repository."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GALLERY = DOCS / "gallery"
