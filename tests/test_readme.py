"""What the README shows must be so: its code runs, its commands exist, its table is complete.

    python -m tests.test_readme

writes the table of keys anew, from the models.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from difflogic.config import load_config, schema

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [line.strip() for line in README.splitlines() if line.startswith("    dct ")]


def config_table() -> list[str]:
    """The rows of the README's table of keys."""
    values = load_config("checkerboard").to_dict()
    rows = []
    for section in ("", *schema.sections()):
        for key in schema.keys(section):
            name = f"{section}.{key}" if section else key
            value = (values[section] if section else values).get(key, "–")
            shown = str(value).lower() if isinstance(value, bool) else value
            meaning = f"{schema.meaning(section, key)} ({schema.accepted(section, key)})"
            rows.append(f"| `{name}` | {shown} | {meaning} |")
    return rows


def with_config_table(text: str) -> str:
    """Return the README's text with a table of keys that is up to date."""
    before, head, after = text.partition("| key | full checkerboard | meaning |\n|---|---|---|\n")
    assert head, "README.md has no table of keys"
    _, blank, rest = after.partition("\n\n")
    return before + head + "\n".join(config_table()) + blank + rest


def test_python_example_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```python\n(.*?)```", README, flags=re.S)
    exec(compile(block, "README.md", "exec"), {})
    assert capsys.readouterr().out.startswith("20 ")
    assert (tmp_path / "checkerboard.npz").exists()


@pytest.mark.parametrize("row", config_table())
def test_config_table_has_every_key(row):
    assert row in README.splitlines(), f"README.md lacks, or has otherwise: {row}"


def test_the_config_table_has_no_other_key():
    assert with_config_table(README) == README, "run: python -m tests.test_readme"


def test_commands_are_found():
    assert len(COMMANDS) >= 6


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_are_accepted(command):
    """Parse each command as the program does, without running it."""
    import typer

    from cli.app import app

    command_or_group = typer.main.get_command(app)
    context = command_or_group.make_context("dct", shlex.split(command)[1:])
    while hasattr(command_or_group, "resolve_command"):
        rest = [*context._protected_args, *context.args]
        if not rest and command_or_group.invoke_without_command:
            return
        name, command_or_group, rest = command_or_group.resolve_command(context, rest)
        context = command_or_group.make_context(name, rest, parent=context)


if __name__ == "__main__":
    (ROOT / "README.md").write_text(with_config_table(README), encoding="utf-8")
