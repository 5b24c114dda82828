"""What options mean before a command sees them: homes, and standard input and output."""

import json
import os
from pathlib import Path

import pytest

from cli.calling import at_home
from difflogic.config import load_config
from difflogic.formats.circuit_file import parse
from difflogic.system.errors import ConfigError
from tests.cli.processes import run_dct
from tests.paths import GALLERY

SORTING = (GALLERY / "sorting.json").read_text()


def test_a_home_is_found_where_the_shell_leaves_it(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    home = str(tmp_path)
    paths = [Path("~/a"), "~/b", ["~/c", Path("d~")], 7, "~nobody-of-this-name/x"]
    known = [Path(home, "a"), f"{home}/b", [f"{home}/c", Path("d~")], 7, paths[-1]]
    assert [at_home(each) for each in paths] == known
    (tmp_path / "dot.txt").write_text(".#.\n")
    config = load_config("lizard", ["task.target=~/dot.txt"])
    assert (config.task.height, config.task.width) == (1, 3)
    (tmp_path / "my.toml").write_text('[task]\nkind = "~/none.py:Task"\n')
    with pytest.raises(ConfigError, match=f"{home}/none.py"):
        load_config(tmp_path / "my.toml", allow_code=True)


@pytest.mark.thorough
def test_files_are_read_from_and_written_to_pipes(tmp_path):
    def piped(*words, text=SORTING):
        return run_dct(*words, input=text, stdin=None, cwd=tmp_path)

    whole = piped("export - --format=json -o -")
    assert parse(json.loads(whole.stdout), "stdout").circuit.gates > 0
    assert "sorting as json" in whole.stderr
    shown = piped("config show -", text='name = "own"')
    assert "[task]" in shown.stderr
    assert shown.returncode == 2
    assert not os.listdir(tmp_path)


@pytest.mark.thorough
@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="needs /proc")
def test_a_link_to_a_stream_is_not_replaced_by_a_file(tmp_path):
    (tmp_path / "so").symlink_to("/proc/self/fd/1")
    words = f"export {GALLERY / 'sorting.json'} --format=c -o so --force"
    assert "for standard output, name it -" in run_dct(words, cwd=tmp_path).stderr
    assert (tmp_path / "so").is_symlink()
