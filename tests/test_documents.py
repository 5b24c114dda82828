"""The documents are true: code runs, commands exist, links have targets."""

import importlib.util
import json
import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import difflogic
from cli.app import app
from difflogic.config.manual import document, editor_schema
from difflogic.simplification import EFFORTS
from difflogic.tasks import custom
from tests import results
from tests.difflogic.identification.automata import brains_brain, film
from tests.paths import DOCS, ROOT

USER_PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "runs" / "README.md"])
NOTEBOOK = sorted(ROOT.glob("docs/notebook/*.md"))
"""A record of experiments: its commands and settings may be out of date."""

PAGES = [*USER_PAGES, *NOTEBOOK]
README = (ROOT / "README.md").read_text("utf-8")
COMMAND = re.compile(r"^(?:    |> )?dct (.*?)(?:  +#.*)?$")
"""A command on a line of its own, indented or in a fenced block, without a comment after #."""


@dataclass(frozen=True)
class Shown:
    """A command that a page shows."""

    text: str
    page: str
    whole: bool
    """Whether it can be run as shown. Running text may name a command without arguments."""


def commands() -> list[Shown]:
    """Return the commands of all user pages, each once."""
    found: dict[str, Shown] = {}
    for page in USER_PAGES:
        fenced = False
        for line in page.read_text("utf-8").splitlines():
            fenced ^= line.startswith("```")
            match = COMMAND.match(line)
            if match and (fenced or line.startswith("    ")):
                text = f"dct {match[1]}"
                if text not in found or not found[text].whole:
                    found[text] = Shown(text, page.name, whole=True)
            for command in re.findall(r"`(dct [^`…]+)`", line):
                if not re.search(r"\b[A-Z]{3,}\b", command):  # RUN and FILE are placeholders
                    found.setdefault(command, Shown(command, page.name, whole=False))
    return list(found.values())


COMMANDS = commands()


@pytest.mark.once
def test_python_example_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```python\n(.*?)```", README, flags=re.S)
    exec(compile(block, "README.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("1 ")
    assert printed[-1] == "0 cells wrong, from 64 random starts"
    assert (tmp_path / "checkerboard.npz").exists()


def test_configuration_page_is_up_to_date():
    page = (DOCS / "configuration.md").read_text("utf-8")
    assert page == document(), "run: dct config docs > docs/configuration.md"
    schema = json.loads((DOCS / "config.schema.json").read_text("utf-8"))
    assert schema == editor_schema(), "run: dct config schema > docs/config.schema.json"


def test_pages_are_short():
    lengths = {str(p.relative_to(ROOT)): p.read_text("utf-8").count("\n") for p in USER_PAGES}
    assert lengths["README.md"] <= 100
    long = {"docs/configuration.md", "CHANGELOG.md"}  # all keys, and all changes
    assert {name for name, length in lengths.items() if length > 200} <= long


def test_tests_named_on_the_reliability_page_exist():
    page = (DOCS / "reliability.md").read_text("utf-8")
    named = re.findall(r"`(tests/[\w/.]+\.py)(?:::(\w+))?`", page)
    assert len(named) > 30
    for file, name in named:
        assert re.search(rf"^ *def {name}\(" if name else "", (ROOT / file).read_text(), re.M)


def links(page: Path) -> list[tuple[str, str]]:
    """Return a page's links and pictures as (target, anchor), except external ones."""
    found = re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", page.read_text("utf-8"))
    return [(target, anchor) for target, anchor in found if not re.match(r"[a-z]+:", target)]


def test_the_site_has_every_page_and_all_that_pages_link_to(tmp_path):
    """`make site` builds it, which is not installed here: Sphinx refuses links without a target."""
    spec = importlib.util.spec_from_file_location("pages", ROOT / ".ci" / "pages.py")
    pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pages)
    pages.stage(tmp_path / "site")
    listed = set(re.findall(r"^(?:docs/)?[\w/-]+$", pages.contents(), flags=re.M))
    for page in set(PAGES) - {ROOT / "runs" / "README.md"}:
        copy = tmp_path / "site" / page.relative_to(ROOT)
        for target, _ in links(page):
            assert (copy.parent / target).exists(), f"{page} links to {target}"
        own = page.name == "README.md" or page in NOTEBOOK
        assert own or str(page.relative_to(ROOT).with_suffix("")) in listed
    shown = re.findall(r"difflogic\.(\w+)$", pages.reference(), flags=re.M)
    assert set(shown) == {*difflogic.homes()}
    assert {pages.anchor(heading) for heading in ("A cell’s “rule”: – C++",)} == {"a-cells-rule--c"}


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.*)$", text, flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_have_targets(page):
    for target, anchor in links(page):
        file = page.parent / target if target else page
        assert file.exists(), f"{page.name} links to {target}, which does not exist"
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), f"{page.name} links to {target}#{anchor}"


@pytest.mark.parametrize("page", sorted(ROOT.glob("docs/*.md")), ids=lambda page: page.name)
def test_every_page_is_linked(page):
    linked = {
        (other.parent / target).resolve()
        for other in PAGES
        for target, _ in links(other)
        if other != page
    }
    assert page.resolve() in linked, f"no page links to {page.name}"


def test_commands_are_found():
    assert len(COMMANDS) >= 30
    pages = {command.page for command in COMMANDS if command.whole}
    assert {"README.md", "getting-started.md", "sweeps.md"} <= pages


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.text)
def test_commands_are_accepted(command, tmp_path, monkeypatch):
    """Parse each command as the program does, without running it."""
    monkeypatch.setenv("HOME", str(tmp_path))  # parsing --install-completion installs it
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


def invoked(command):
    """Run a command of a page, in this process and where it is."""
    return CliRunner().invoke(app, shlex.split(command)[1:], catch_exceptions=False)


def run(command):
    """Return what a command prints that does what is asked."""
    done = invoked(command)
    assert done.exit_code == 0, f"{command}: {done.stderr}"
    return done.stdout


def indented(page):
    return [line.strip() for line in page.splitlines() if line.startswith("    dct ")]


@pytest.mark.slow
def test_getting_started_runs_as_written(tmp_path, monkeypatch):
    """Run the commands of both pages in order, in an empty directory, as a newcomer would."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(EFFORTS, "normal", EFFORTS["low"])  # a gate less takes no ten seconds
    commands = []
    for page in (DOCS / "getting-started.md", ROOT / "README.md"):
        shown = indented(page.read_text("utf-8").split("## Commands")[0])
        assert len(shown) >= 4
        commands += [command for command in shown if command not in commands]
    for command in commands:
        run(command)
    for name in ("checkerboard.json", "life.json", "life.v", "state.png", "report.html"):
        assert (tmp_path / name).exists()


def answers(page):
    """Return the lines that a page shows as printed: indented, and neither commands nor code."""
    lines = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.M | re.S).splitlines()
    shown = [line.strip() for line in lines if line.startswith("    ") and line.strip() != "…"]
    return [re.split(" {3,}", line)[0] for line in shown if not CODE.match(line)]


CODE = re.compile(r"dct |make |python |[A-Z_]+=|\[?\w+\]?( = .*)?$")


@pytest.mark.once
@pytest.mark.parametrize("page", results.PRINTED)
def test_a_page_shows_what_its_commands_print(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("docs").symlink_to(DOCS)
    shutil.copy(ROOT / "tests" / "pictures" / "icon-boat-16.png", "boat.png")
    brains = film(brains_brain, np.random.default_rng(0).integers(0, 3, (64, 64)), 17)
    np.save("brain.npy", (brains == 1).astype(np.uint8))
    printed = []
    for command in results.PRINTED[page]:
        printed += [line.strip() for line in invoked(command).output.splitlines()]
    shown = answers(DOCS / page)
    assert shown
    assert not set(shown) - set(printed)


def test_printed_answers_have_a_command():
    code = {
        "architecture.md",
        "circuit-file.md",
        "getting-started.md",
        "layers.md",
        "library.md",
        "tasks.md",
    }
    found = {page.name for page in USER_PAGES if any(re.search(r"\d", x) for x in answers(page))}
    assert found - code - {"README.md"} <= {Path(page).name for page in results.PRINTED}


@pytest.mark.slow
def test_examples_page_runs_as_written(tmp_path, monkeypatch):
    """From files of a user's own kind to rules that are right on what was kept aside."""
    monkeypatch.chdir(tmp_path)
    page = (DOCS / "examples.md").read_text("utf-8")
    blocks = re.findall(r"^```(?:csv|json)\n(.*?)```", page, flags=re.M | re.S)
    for name, block in zip(("fences.csv", "more.csv", "islands.json"), blocks, strict=True):
        (tmp_path / name).write_text(block)
    commands = indented(page)
    assert len(commands) == 8
    printed = {command: run(command) for command in commands}
    for command, output in printed.items():
        if "train-examples" in command:
            assert "held out 1 of 1 pairs right" in output
    assert ". . . b b b b b b b b b b b b . ." in printed["dct apply runs/fences more.csv"]
    assert "1 of 1 right" in printed["dct apply runs/islands islands.json"]
    assert "meaning: 0: 1;" in printed["dct inspect islands-rule.json"]


@pytest.mark.slow
def test_custom_task_page_runs_as_written(tmp_path, monkeypatch):
    """From a custom class to a verified circuit."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(custom, "LOADED", {})
    page = (DOCS / "tasks.md").read_text("utf-8")
    for name, language in {"vote.py": "python", "vote.toml": "toml"}.items():
        (block,) = re.findall(rf"```{language}\n(.*?)```", page, flags=re.S)
        (tmp_path / name).write_text(block)
    commands = indented(page)
    assert len(commands) == 6
    for command in commands:
        output = run(command)
        if "verify circuit" in command:
            assert "proved equal" in output
        if "config show" in command:
            assert "# ones among the five cells of a cross that make a one" in output
    summary = json.loads((tmp_path / "runs" / "vote" / "summary.json").read_text())
    assert summary["exact_epoch"] is not None
    own = tmp_path / "vote.py"
    kept = tmp_path / "runs" / "vote" / "vote.py"
    assert kept.read_text() == own.read_text()
