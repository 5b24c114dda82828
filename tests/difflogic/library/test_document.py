"""The examples of docs/library.md run as written, in one directory."""

import re

import pytest

import difflogic
from difflogic.simplification import EFFORTS
from tests.paths import DOCS

PAGE = DOCS / "library.md"
TEXT = PAGE.read_text("utf-8")
OTHERS = {
    name: PAGE.with_name(f"{name}.md").read_text("utf-8")
    for name in ("layers", "circuits", "identify", "tough", "examples")
}
LAYERS, CIRCUITS, *_ = (
    re.findall(r"```python\n(.*?)```", text, re.DOTALL) for text in OTHERS.values()
)


@pytest.mark.thorough
def test_the_examples_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(EFFORTS, "normal", EFFORTS["low"])  # a gate less takes two seconds
    names: dict[str, object] = {}
    blocks = list(re.finditer(r"```python\n(.*?)```", TEXT, re.DOTALL))
    assert len(blocks) > 8
    for block in blocks:
        # Keep the page's line numbers in tracebacks.
        before = "\n" * TEXT[: block.start(1)].count("\n")
        exec(compile(before + block[1], str(PAGE), "exec"), names)
    out = capsys.readouterr().out
    assert "gates, proved\n" in out
    assert "False 3\n" in out
    assert "1 in all, 3 epochs\n" in out
    assert "True True\n" in out  # two ways to compute losses and gradients agree
    assert "stopped after " in out
    names = ["small.json", "small.v", "end.npz", "end.png", "sweep/table.csv", "run.html"]
    for name in [*names, "rollout.png"]:
        assert (tmp_path / name).stat().st_size


@pytest.mark.once
def test_the_examples_of_layers_that_need_nothing_else_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for block in LAYERS:
        if not re.search("torch|jax", block):
            exec(compile(block, "layers.md", "exec"), {})
    assert capsys.readouterr().out == "(2, 2, 8, 16, 16) (1496, 16) (2, 8, 16, 16)\n20\n"


def test_every_public_function_is_documented_with_an_example():
    functions = set(re.findall(r"`(\w+)`", TEXT.partition("| function |")[2].partition("\n\n")[0]))
    shown = "".join([TEXT, *OTHERS.values()])
    for name in functions:
        assert callable(getattr(difflogic, name))
        assert re.search(rf"\b\w+\.{name}\(", shown)
    homes = difflogic.homes()
    verbs = {name for name in homes if name.islower() or ".library." in homes[name]}
    assert verbs - {"follow", "load_config", "mpi_ranks", "working"} <= functions


def test_importing_packages_hides_no_public_name():
    """An imported package would replace a function of the same name."""
    import difflogic.sweeps.execution

    for name in difflogic.homes():
        assert callable(getattr(difflogic, name))


def test_the_gates_truth_table_and_steps_of_a_circuit(tmp_path, monkeypatch, capsys):
    (tmp_path / "docs").symlink_to(PAGE.parent)
    monkeypatch.chdir(tmp_path)
    exec(CIRCUITS[0], {})
    assert "140 of 512 neighbourhoods lead to 1" in capsys.readouterr().out


@pytest.mark.once
@pytest.mark.slow
@pytest.mark.parametrize(("framework", "example"), [("torch", 0), ("jax", 1)])
def test_the_examples_of_layers_run(framework, example, capsys):
    pytest.importorskip(framework, reason=f"{framework} is not installed", exc_type=ImportError)
    exec(LAYERS[example], {})
    assert "proved: True" in capsys.readouterr().out
