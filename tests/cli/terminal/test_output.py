"""Lines of results on a terminal."""

from cli.terminal import output
from tests.cli.terminal.screens import open_terminal

WORDS = "proof      proved at step 15 for all 914 starts; whether it holds later is unknown:"
COMMAND = "dct verify convergence runs/letter-g-seed616 --time-limit 600 goes on"


def test_a_sentence_folds_between_words_and_a_command_stays_whole(monkeypatch):
    assert output.fold(f"{WORDS} {COMMAND}", 11) == f"{WORDS} {COMMAND}"
    open_terminal(monkeypatch, 40)
    first, *rest, last = output.fold(f"{WORDS} {COMMAND}", 11).split("\n")
    assert last == " " * 11 + COMMAND
    assert max(map(len, [first, *rest])) <= 40
    assert all(line[:11].isspace() and line[11] != " " for line in rest)
    assert " ".join([first, *map(str.strip, rest)]) == WORDS
    assert output.fold(f"   {COMMAND * 9}", 4) == f"   {COMMAND * 9}"


def test_a_narrow_table_leaves_out_first_what_is_the_same_in_every_row(monkeypatch):
    terminal = open_terminal(monkeypatch, 30)
    rows = [["noise", rate, "-", 600] for rate in (1, 0.6)]
    output.show_table("test | fire rate | decides | step", rows, spare="fire rate | decides")
    assert "fire rate" in terminal.text
    assert "decides" not in terminal.text


def test_pages_fold_between_words_on_a_terminal(monkeypatch, tmp_path):
    open_terminal(monkeypatch, 40)
    monkeypatch.setattr(output, "__file__", str(tmp_path / "output.py"))
    (tmp_path / "long.jinja").write_text("  no: {{ names | join(', ') }}\nshort\n")
    names = [f"reflection {number}" for number in range(9)]
    text = output.page("long", names=names)
    assert max(map(len, text.splitlines())) <= 40
    assert text.split() == ["no:", *", ".join(names).split(), "short"]
    assert text.endswith("\nshort\n")
