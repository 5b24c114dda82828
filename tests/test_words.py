"""Words that claim a proof come from the module whose function proved it, and from no other."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

SOURCES = {
    r"no other rule": {"difflogic/identification/explanation.py"},
    r"\bfewest\b|\bneeds? fewer\b": {"difflogic/identification/explanation.py"},
    r"\bdetermined\b": {
        "difflogic/identification/explanation.py",
        "difflogic/identification/solver.py",  # counts them while it asks
    },
    r"(?<!not )proved for every (?!state)": {
        "difflogic/proof/convergence/methods.py",
        "difflogic/proof/convergence/every_size.py",
        "difflogic/proof/every_length.py",
        "difflogic/proof/local_rule.py",
    },
    r"proved at step": {"difflogic/proof/cases.py"},
    r"keep missing the target": {
        "difflogic/proof/convergence/methods.py",
        "difflogic/proof/convergence/every_size.py",
    },
    r"never reaches": {"difflogic/proof/answer.py"},
    r"to any length": {"difflogic/evaluation/padded.py"},
}
"""The modules and templates that say each word to users."""


def texts(path: Path) -> list[str]:
    """Return the text of a template, or the texts of a module that are no docstrings."""
    source = path.read_text()
    if path.suffix != ".py":
        return [re.sub(r"{#.*?#}", "", source, flags=re.DOTALL)]
    tree = ast.walk(ast.parse(source))
    nodes = [node for node in tree if isinstance(node, ast.Expr | ast.Constant)]
    alone = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    return [
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone
    ]


@pytest.mark.thorough
def test_words_of_proofs_have_one_source():
    said: dict[str, set[str]] = {word: set() for word in SOURCES}
    for path in [*Path("cli").rglob("*"), *Path("difflogic").rglob("*")]:
        if path.suffix in (".py", ".jinja", ".html", ".js"):
            found = "\n".join(texts(path))
            for word in SOURCES:
                if re.search(word, found, re.IGNORECASE):
                    said[word].add(path.as_posix())
    assert said == SOURCES
