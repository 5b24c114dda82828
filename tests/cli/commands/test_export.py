"""`dct export`: files, messages and refusals."""

import io
import sys
from pathlib import Path

import pytest

from cli.commands import convert
from difflogic import simplification
from difflogic.formats import FORMATS
from difflogic.formats.circuit_file import write_circuit
from difflogic.library.loaded import load
from difflogic.simplification import Simplification
from tests.difflogic.circuit.circuits import circuit_of
from tests.difflogic.formats import examples


@pytest.fixture
def source(tmp_path):
    """A circuit of three gates and two channels; simplified, no gate and one channel."""
    automaton = examples.three_gates([16, 20], (0, 5), "little", fire_rate=0.5)
    path = tmp_path / "little.json"
    path.write_text(write_circuit(automaton))
    return str(path)


pytestmark = pytest.mark.usefixtures("trained")


def test_text_goes_to_stdout_and_the_rest_to_stderr(dct, source):
    result = dct(f"export {source} --format verilog").good
    assert result.stdout.startswith("// little: the update")
    assert result.stdout.endswith("endmodule\n")
    size = len(result.stdout.encode())
    # Before it, on a new machine, stands that the search is compiled.
    assert result.stderr.endswith(
        f"little as verilog: gates 0 · depth 0 · inputs 1 · channels 1 · {size} bytes\n"
    )


@pytest.mark.parametrize("name", [name for name in sorted(FORMATS) if not FORMATS[name].named])
def test_the_same_circuit_gives_the_same_bytes(dct, source, name):
    files = [Path(f"{place}{FORMATS[name].suffix}") for place in ("first", "second")]
    for file in files:
        result = dct(f"export {source} -f {name} -o {file}")
        assert (result.exit_code, result.stdout) == (0, "")
    assert files[0].stat().st_size > 100
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_files_suffix_chooses_the_format(dct, source):
    result = dct(f"export {source} -o x.json --unsimplified")
    assert "little as json: gates 3 · depth 3 · inputs 4 · channels 2" in result.stderr
    assert load(Path("x.json")).automaton.circuit.gates == 3
    dct(f"export {source} -o x.json --force")
    assert load(Path("x.json")).automaton.circuit.labels == (0,)


def test_the_list_names_every_format_and_needs_no_circuit(dct):
    result = dct("export --list").good
    rows = result.stdout.splitlines()[1:]
    assert [row.split()[0] for row in rows] == list(FORMATS)
    for row, format in zip(rows, FORMATS.values(), strict=True):
        assert f"*{format.suffix}" in row
        assert row.endswith(format.summary)


def test_comparable_files_have_the_same_inputs(dct, source):
    """All inputs of both channels, but only the remaining channel's next state."""
    for more in ([], ["--unsimplified"]):
        text = dct(f"export {source} -f blif --comparable", *more).stdout
        assert ".inputs NW0 NW5 N0 N5 " in text
        assert ".outputs next0\n" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("-o x.txt", '"x.txt": no format has this suffix'),
        ("", "choose a format with --format: json, verilog"),
        ("-f c --comparable", "--comparable does not apply to the format c"),
        ("-o missing/x.v", "missing/x.v: cannot be written: no such file or directory"),
        ("-o . -f c", ".: is a directory: name a file"),
        ("-o /dev/null -f c --force", "/dev/null: is not a regular file"),
    ],
)
def test_refusals(dct, source, arguments, message):
    before = sorted(Path().iterdir())
    refusal = dct(f"export {source} {arguments}").refusal
    assert refusal.startswith("error: ")
    assert message in refusal
    assert sorted(Path().iterdir()) == before


def test_an_earlier_file_stays_unless_it_may_go(dct, source):
    Path("x.v").write_text("mine")
    refusal = dct(f"export {source} -o x.v").refusal
    assert refusal == "error: x.v: exists already: give --force to overwrite it\n"
    assert Path("x.v").read_text() == "mine"
    assert dct(f"export {source} -o x.v --force").good
    assert Path("x.v").read_text().startswith("// little")


class Stdout(io.TextIOWrapper):
    def __init__(self, terminal):
        super().__init__(io.BytesIO(), encoding="ascii")
        self.terminal = terminal

    def isatty(self):
        return self.terminal


def test_binary_formats_are_not_printed_on_a_terminal(dct, source, monkeypatch):
    from difflogic.system.errors import ConfigError

    data = b"aig 1 1 0 1 0\n2\n\x80\xff\r\n"
    pipe = Stdout(terminal=False)
    monkeypatch.setattr(sys, "stdout", pipe)
    convert._print(data)
    assert pipe.buffer.getvalue() == data
    terminal = Stdout(terminal=True)
    monkeypatch.setattr(sys, "stdout", terminal)
    with pytest.raises(ConfigError, match="no terminal can show this binary format: use --output"):
        convert._print(data)
    assert terminal.buffer.getvalue() == b""
    convert._print(b"text\n")
    assert terminal.buffer.getvalue() == b"text\n"


def test_an_unequal_simplified_circuit_is_never_written(dct, source, monkeypatch):
    """The simplifier is replaced: its circuit inverts what the right one passes on."""

    def simplify(whole, *_):
        return Simplification(whole.with_circuit(circuit_of([(12, 7, 7)], [9])), ())

    monkeypatch.setattr(simplification, "simplify", simplify)
    result = dct(f"export {source} -o x.v")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "NOT EQUAL" in result.stderr
    assert "the simplified circuit could not be proved equal; use --unsimplified" in result.stderr
    assert not Path("x.v").exists()
    assert dct(f"export {source} -o x.v --unsimplified").good
