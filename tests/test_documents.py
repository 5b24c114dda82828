"""What the documents show must be so: code runs, commands exist, links lead somewhere."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from difflogic.config import document

ROOT = Path(__file__).parent.parent
USER_PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "runs" / "README.md"])
NOTEBOOK = sorted(ROOT.glob("docs/notebook/*.md"))
"""What was tried: its commands and settings are those of their day."""

PAGES = [*USER_PAGES, *NOTEBOOK]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMAND = re.compile(r"^(?:    |> )?dct (.*?)(?:  +#.*)?$")
"""A line that is a command: indented, or in a fenced block; what follows # is a remark."""


@dataclass(frozen=True)
class Shown:
    """A command that a page shows."""

    text: str
    page: str
    whole: bool
    """Whether it can be run as it stands; running text may name a command without its arguments."""


def commands() -> list[Shown]:
    """Return the commands of all user pages, each once."""
    found: dict[str, Shown] = {}
    for page in USER_PAGES:
        fenced = False
        for line in page.read_text(encoding="utf-8").splitlines():
            fenced ^= line.startswith("```")
            match = COMMAND.match(line)
            if match and (fenced or line.startswith("    ")):
                text = f"dct {match[1]}"
                if text not in found or not found[text].whole:
                    found[text] = Shown(text, page.name, whole=True)
            for command in re.findall(r"`(dct [^`…]+)`", line):
                if not re.search(r"\b[A-Z]{3,}\b", command):  # RUN, FILE: places, no commands
                    found.setdefault(command, Shown(command, page.name, whole=False))
    return list(found.values())


COMMANDS = commands()


@pytest.mark.thorough
def test_python_example_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```python\n(.*?)```", README, flags=re.S)
    exec(compile(block, "README.md", "exec"), {})
    assert capsys.readouterr().out.startswith("20 ")
    assert (tmp_path / "checkerboard.npz").exists()


def test_the_page_of_all_keys_is_up_to_date():
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert page == document(), "run: dct config docs > docs/configuration.md"


def test_pages_are_short():
    lengths = {page.name: len(page.read_text("utf-8").splitlines()) for page in USER_PAGES}
    assert lengths["README.md"] <= 100
    del lengths["configuration.md"]  # as long as there are keys
    assert not {name: length for name, length in lengths.items() if length > 200}


def test_tests_that_the_page_on_reliability_names_are_there():
    page = (ROOT / "docs" / "reliability.md").read_text("utf-8")
    named = re.findall(r"`(tests/[\w/.]+\.py)(?:::(\w+))?`", page)
    assert len(named) > 30
    for file, name in named:
        assert re.search(rf"^ *def {name}\(" if name else "", (ROOT / file).read_text(), re.M)


def links(page: Path) -> list[tuple[str, str]]:
    """Return a page's links and pictures as (target, anchor), except those to other sites."""
    found = re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", page.read_text(encoding="utf-8"))
    return [(target, anchor) for target, anchor in found if not re.match(r"[a-z]+:", target)]


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.*)$", text, flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target, anchor in links(page):
        led = page.parent / target if target else page
        assert led.exists(), f"{page.name} links to {target}, which does not exist"
        if anchor and led.suffix == ".md":
            assert anchor in anchors(led), f"{page.name} links to {target}#{anchor}"


@pytest.mark.parametrize("page", sorted(ROOT.glob("docs/*.md")), ids=lambda page: page.name)
def test_every_page_is_reached(page):
    reached = {
        (other.parent / target).resolve()
        for other in PAGES
        for target, _ in links(other)
        if other != page
    }
    assert page.resolve() in reached, f"no page links to {page.name}"


def test_commands_are_found():
    assert len(COMMANDS) >= 30
    pages = {command.page for command in COMMANDS if command.whole}
    assert {"README.md", "getting-started.md", "sweeps.md"} <= pages


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.text)
def test_commands_are_accepted(command):
    """Parse each command as the program does, without running it."""
    import typer

    from cli.app import app

    program = typer.main.get_command(app)
    problem = None
    try:
        parse(program, shlex.split(command.text)[1:])
    except Exception as error:
        if getattr(error, "exit_code", None) == 0:  # an option that answers at once, such as --list
            return
        if command.whole or type(error).__name__ not in ("MissingParameter", "NoArgsIsHelpError"):
            problem = f"{command.page}: {command.text}: {error!r}"
    assert problem is None, problem


def parse(program, words):
    context = program.make_context("dct", words)
    while hasattr(program, "resolve_command"):
        rest = [*context._protected_args, *context.args]
        if not rest and program.invoke_without_command:
            return
        name, program, rest = program.resolve_command(context, rest)
        context = program.make_context(name, rest, parent=context)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "leaves"),
    [
        (ROOT / "README.md", ("life.json", "life.v", "state.png")),
        (ROOT / "docs" / "getting-started.md", ("checkerboard.json",)),
    ],
    ids=lambda value: value.name if isinstance(value, Path) else "",
)
def test_the_way_for_newcomers_runs_as_written(page, leaves, tmp_path):
    """A newcomer types what stands there, from the first line on, in an empty directory."""
    way = page.read_text(encoding="utf-8").split("## Commands")[0]
    commands = [line.strip() for line in way.splitlines() if line.startswith("    dct ")]
    assert len(commands) >= 4
    for command in commands:
        done = subprocess.run(
            [sys.executable, "-m", "cli", *shlex.split(command)[1:]],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=900,
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"
        assert "Traceback" not in done.stderr
    assert not [name for name in leaves if not (tmp_path / name).exists()]
