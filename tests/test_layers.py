"""Imports point down the "Layout" of docs/architecture.md, and from cli to difflogic.

No package has an import cycle, and what one must know to understand a module stays small.
"""

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import accumulate

import pytest

from tests.paths import DOCS, ROOT
from tests.test_cap import code_tokens

BUDGETS = {
    "difflogic.engine.hard": 43_000,
    "difflogic.engine.oracle": 8_900,
    "difflogic.engine.soft": 36_650,
    "difflogic.proof": 59_400,
    "difflogic.search": 79_600,
    "difflogic.training": 73_600,
    "difflogic.training.reference": 28_000,
    "difflogic.training.trainer": 71_550,
}
"""Most tokens of a module or package and all it imports, however late; raise one for a reason.

Those above them, which join what is below, have none: it would punish who uses what is there.
"""

KIT = ("circuit", "formats", "proof", "simplification", "simulation", "inspection")
"""Packages that work on circuits, whatever they were trained for."""


def layers():
    """Return the places of modules and packages in the layout: (line, position in the line)."""
    text = (DOCS / "architecture.md").read_text("utf-8")
    layout = text.partition("## Layout")[2].partition("    difflogic/\n")[2]
    found = {}
    for level, line in enumerate(layout.splitlines()):
        if not line.startswith("      "):
            return found
        # A line has one module and its purpose, or only modules.
        words = line.split()
        names = [word for word in words if word.endswith((".py", "/"))]
        for place, name in enumerate(names if names == words else names[:1]):
            found[name.removesuffix(".py").rstrip("/")] = level, place
    raise AssertionError("the layout has no end")


@cache
def imported(path):
    """Return the full names of everything that a file imports, also inside functions."""
    return names_in(ast.walk(ast.parse(path.read_text())), path)


@cache
def used_names(path):
    """Return what a file imports to run: without what only type checkers import."""

    def run(node):
        is_typing = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for child in node.orelse if is_typing else ast.iter_child_nodes(node):
            yield child
            yield from run(child)

    return names_in(run(ast.parse(path.read_text())), path)


def names_in(nodes, path):
    names = []
    for node in nodes:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: imports are absolute here"
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def files(folder):
    return sorted((ROOT / folder).rglob("*.py"))


def test_the_layout_names_every_part():
    parts = {path.stem for path in (ROOT / "difflogic").glob("*.py")} - {"__init__"}
    parts |= {path.parent.name for path in (ROOT / "difflogic").glob("*/__init__.py")}
    assert set(layers()) == parts


def test_imports_point_down():
    found = layers()
    for path in files("difflogic"):
        own = path.relative_to(ROOT / "difflogic").with_suffix("").parts[0]
        for name in () if own == "__init__" else imported(path):
            top, *rest = name.split(".")
            assert top != "cli", f"{path}: only cli knows cli"
            if top == "difflogic" and rest[:1] != [own]:
                assert {*rest[:1]} & {*found}, f"{path} imports the package itself: {name}"
                assert found[rest[0]] > found[own], f"{path} imports {name}, which stands above it"


def modules(folder):
    """Return the full names of a package's modules, and their files."""
    found = {}
    for path in files(folder):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def cycle(graph):
    """Return modules that form an import cycle; None if there is no cycle."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return " imports ".join(reversed(error.args[1]))
    return None


@pytest.mark.parametrize("package", ["cli", "difflogic"])
def test_there_are_no_import_cycles(package):
    known = modules(package)
    graph = {name: set() for name in known}
    for name, path in known.items():
        for full in imported(path):
            module = full if full in known else full.rpartition(".")[0]
            # A package runs before its modules. The one at the top imports lazily: it is left out.
            for used in accumulate(module.split("."), "{}.{}".format):
                if used in known and package not in (name, used) and not name.startswith(used):
                    graph[name].add(used)
    assert cycle(graph) is None


def needed(package):
    """Return a module, or the modules of a package, and all modules that they import."""
    known = modules("cli") | modules("difflogic")
    found = set()
    waiting = [name for name in known if f"{name}.".startswith(f"{package}.")]
    while waiting:
        name = waiting.pop()
        if name in known and name not in found:
            found.add(name)
            used = used_names(known[name])
            waiting += [full if full in known else full.rpartition(".")[0] for full in used]
    return {name: known[name] for name in found}


@pytest.mark.parametrize("package", BUDGETS)
def test_what_one_must_know_stays_small(package):
    found = sum(code_tokens(path.read_text("utf-8")) for path in needed(package).values())
    budget = BUDGETS[package]
    assert found <= budget, f"{package} needs {found} tokens, above its budget of {budget}"
    assert found >= 0.9 * budget, f"{package} needs {found} tokens: lower its budget of {budget}"


def test_the_circuit_kit_knows_no_configuration_and_no_task():
    for package in KIT:
        for name in needed(f"difflogic.{package}"):
            assert not name.startswith(("difflogic.config", "difflogic.tasks", "difflogic.model"))


def reading():
    """Return the files that docs/architecture.md tells newcomers to read first."""
    text = (DOCS / "architecture.md").read_text("utf-8")
    table = text.partition("## Read these first")[2]
    return [DOCS / place for place in re.findall(r"^\| \d+ .*?\]\((.*?)\)", table, re.M)]


def test_the_first_files_can_be_read_in_an_evening():
    assert 8 <= len(reading()) <= 12
    assert sum(len(path.read_text().splitlines()) for path in reading()) <= 4500
    for path in reading():
        assert not any(map(is_fast, imported(path.resolve()))), f"{path} is not plain"


def is_fast(name):
    """Whether an import makes code that only machines read: compiled, emitted, or for a GPU."""
    return name.split(".")[0] in ("numba", "llvmlite", "wgpu") or name in (
        f"difflogic.system.jit.{how}"
        for how in ("kernel", "borrowing_kernel", "part", "driver", "primitive", "by_reference")
    )


def test_fast_code_names_the_plain_code_that_it_is_compared_with():
    plain = {path.name for path in reading()}
    for path in files("difflogic"):
        if any(map(is_fast, imported(path))) and "jit" not in path.parts:
            places = path, path.with_name("__init__.py")
            said = [ast.get_docstring(ast.parse(each.read_text())) or "" for each in places]
            named = {name for text in said for name in re.findall(r"`(\w+\.py)`", text)}
            assert named & plain, f"{path} and its package name none of {sorted(plain)}"


def test_the_checks_find_violations():
    assert imported(ROOT / "difflogic" / "circuit" / "gates.py")
    found = layers()
    assert found["sweeps"] < found["simulation"] < found["proof"] < found["circuit"]
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}}) is not None
    assert cycle({"a": {"b"}, "b": {"c"}, "c": set()}) is None
