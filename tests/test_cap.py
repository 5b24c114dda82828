"""The caps on code in pyproject.toml: lines with code, without comments and docstrings.

Of templates, pages and shaders all lines count that are not blank.
"""

import ast
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PARTS = {"product": ("cli", "difflogic"), "tests": ("tests",), "templates": ("cli", "difflogic")}
TEMPLATES = {".css", ".html", ".jinja", ".js", ".wgsl"}
SLACK = 100


def code_lines(source):
    """Return how many lines have more than comments and strings that stand alone."""
    counts, alone = set(), set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                alone.update(range(node.lineno, node.end_lineno + 1))
            case ast.Constant(value=str()) | ast.JoinedStr():
                counts.update(range(node.lineno, node.end_lineno + 1))
    for number, line in enumerate(source.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            counts.add(number)
    return len(counts - alone)


def filled_lines(source):
    """Return how many lines are not blank."""
    return sum(bool(line.strip()) for line in source.splitlines())


def test_what_counts():
    assert filled_lines("{# why #}\n\n  \n<p>\n") == 2
    assert code_lines('"""Doc.\n\nMore."""\n\n# why\nx = """a\n\nb"""  # three\n') == 3
    assert code_lines('def f():\n    """Doc."""\n\n    return (\n        1,\n    )\n') == 4


@pytest.mark.thorough
@pytest.mark.parametrize("part", PARTS)
def test_code_stays_within_its_cap(part):
    cap = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["dct"]["cap"][part]
    suffixes, count = ({".py"}, code_lines) if part != "templates" else (TEMPLATES, filled_lines)
    files = [path for folder in PARTS[part] for path in (ROOT / folder).rglob("*")]
    found = sum(count(path.read_text("utf-8")) for path in files if path.suffix in suffixes)
    where = f"the cap of {cap} on {part} in [tool.dct.cap] of pyproject.toml"
    assert found <= cap, (
        f"{found} lines are {found - cap} above {where}: remove as many, or raise the cap and say "
        "why in that commit"
    )
    assert found >= cap - SLACK, f"{found} lines are {cap - found} below {where}: lower it"
