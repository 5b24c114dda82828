"""Only difflogic/tasks knows the kinds of task: other code asks a task what it does."""

import re

from difflogic.tasks import TASKS
from tests.paths import ROOT

MODULES = "|".join(TASKS)
CLASSES = "|".join(
    name for task in TASKS.values() for name in (task.__name__, task.Section.__name__)
)
NAMES = rf"\b({MODULES}|{CLASSES})\b"
ASKS_FOR_A_KIND = re.compile(
    rf"from difflogic\.tasks\.({MODULES}) import "
    rf"|from difflogic\.tasks import (\([^)]*|[^(\n]*){NAMES}"
    rf"|import difflogic\.tasks\.({MODULES})\b"
    r"|\b(task|section)\.kind\b"
)


def test_other_code_does_not_ask_for_a_kind():
    files = [path for folder in ("difflogic", "cli") for path in (ROOT / folder).rglob("*.py")]
    others = [path for path in files if ROOT / "difflogic" / "tasks" not in path.parents]
    assert len(others) > 100
    assert not [path for path in others if ASKS_FOR_A_KIND.search(path.read_text("utf-8"))]
