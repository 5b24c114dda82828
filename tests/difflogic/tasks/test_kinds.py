"""A task owns what is its own: nothing outside difflogic/tasks asks which kind one is."""

import ast
from pathlib import Path

import pytest

from difflogic.tasks import TASKS

ROOT = Path(__file__).parents[3]
FILES = [
    path
    for folder in ("difflogic", "cli")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if ROOT / "difflogic" / "tasks" not in path.parents
]
OWN_MODULES = {f"difflogic.tasks.{kind}" for kind in TASKS}
CLASSES = {name for task in TASKS.values() for name in (task.__name__, task.Section.__name__)}


def questions(tree):
    """What asks for a kind of task: an attribute `task.kind`, or a task's own class or module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "kind":
            owner = node.value
            name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
            if name in ("task", "section"):
                yield node.lineno, ast.unparse(node)
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                if node.module in OWN_MODULES or full in OWN_MODULES:
                    yield node.lineno, full
                if (node.module or "").startswith("difflogic.tasks") and alias.name in CLASSES:
                    yield node.lineno, full
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in OWN_MODULES:
                    yield node.lineno, alias.name


@pytest.mark.thorough
def test_nobody_asks_for_a_kind():
    assert len(FILES) > 100
    for path in FILES:
        found = list(questions(ast.parse(path.read_text(encoding="utf-8"))))
        assert not found, path


@pytest.mark.parametrize(
    "code",
    [
        "if config.task.kind == 'life': pass",
        "task = 1\ntask.kind",
        "from difflogic.tasks.life import Life",
        "from difflogic.tasks import Life",
        "from difflogic.tasks import pattern",
        "import difflogic.tasks.checkerboard",
    ],
)
def test_a_question_would_be_found(code):
    assert len(list(questions(ast.parse(code)))) >= 1
