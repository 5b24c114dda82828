"""Output on streams that cannot hold the signs: nothing is lost, and files are read back."""

import ast
import io
import re
import tomllib
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from cli.app import app
from cli.failures import printable
from cli.terminal.signs import SIGNS, encoded, in_ascii
from difflogic.config import load_config
from tests.cli.processes import ROOT, run_dct

GALLERY = ROOT / "docs" / "gallery"
TIME = re.compile(r" *[\d.]+(e-\d+)?( m?s)?| +")
"""Numbers, and how wide columns of them are."""
UNSEEN = set("▀▄█")
"""On terminals that can show them."""


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("utf-8", "é ∨ ¬a → 4×4 … \\udc80 😀"),
        ("cp1252", "\\u00e9 | ~a -> 4x4 ... \\udc80 \\U0001f600"),
        ("latin-1", "\\u00e9 | ~a -> 4x4 ... \\udc80 \\U0001f600"),
        ("ascii", "\\u00e9 | ~a -> 4x4 ... \\udc80 \\U0001f600"),
    ],
)
def test_a_stream_loses_nothing(encoding, shown):
    bytes = io.BytesIO()
    stream = io.TextIOWrapper(bytes, *encoded(SimpleNamespace(encoding=encoding)))
    stream.write("é ∨ ¬a → 4×4 … \udc80 😀")
    stream.flush()
    assert bytes.getvalue().decode() == shown


@pytest.mark.once
@pytest.mark.thorough
def test_every_sign_of_the_program_has_its_place_in_ascii():
    """In texts of Python and in templates; docstrings aside."""
    files = [path for folder in ("cli", "difflogic") for path in (ROOT / folder).rglob("*.*")]
    texts = [path.read_text(encoding="utf-8") for path in files if path.suffix == ".jinja"]
    for path in (path for path in files if path.suffix == ".py"):
        if not (code := path.read_text(encoding="utf-8")).isascii() or "\\u" in code:
            nodes = list(ast.walk(ast.parse(code)))
            alone = {each.value for each in nodes if isinstance(each, ast.Expr)}
            found = [each for each in nodes if isinstance(each, ast.Constant) and each not in alone]
            texts += [printable(str(each.value)) for each in found]
    assert {sign for sign in "".join(texts) if not sign.isascii()} == set(SIGNS) | UNSEEN


def every_output(trained_run):
    """Return the words of commands that print signs, and of one that only warns."""
    circuit = str(GALLERY / "checkerboard.json")
    return [
        ["config", "docs"],
        ["config", "list"],
        ["config", "show", "lizard"],
        ["plan", "checkerboard"],
        ["inspect", circuit],
        ["simulate", circuit, "--size=8x8", "--steps=2"],
        ["export", circuit, "-o=c.blif"],
        ["verify", "circuit", circuit, "--against", circuit],
        ["verify", "convergence", circuit],
        ["runs", str(trained_run.parent)],
        ["runs", "show", str(trained_run)],
        ["render", str(trained_run), "-o=r.gif"],
        ["train", "absent→…"],
        *([*words, "--help"] for words in (["train"], ["sweep"], ["train-pattern"], ["identify"])),
    ]


@pytest.mark.thorough
def test_every_command_prints_the_same_in_ascii(trained_run, tmp_path, monkeypatch):
    (tmp_path / "narrow").mkdir()
    charset, _ = encoded(SimpleNamespace(encoding="ascii"))
    signs = set()
    for words in every_output(trained_run):
        monkeypatch.chdir(tmp_path)
        wide = CliRunner().invoke(app, words, prog_name="dct")
        monkeypatch.chdir(tmp_path / "narrow")
        narrow = CliRunner(charset=charset).invoke(app, words, prog_name="dct")
        assert narrow.exit_code == wide.exit_code, words
        for one, other in ((wide.stdout, narrow.stdout), (wide.stderr, narrow.stderr)):
            # They differ in times.
            assert TIME.sub(" ", other) == TIME.sub(" ", in_ascii(one)), words
            signs |= set(one) & set(SIGNS)
    assert len(signs) > 8


@pytest.mark.thorough
def test_a_configuration_that_is_printed_is_read(tmp_path):
    done = run_dct("config", "show", "lizard", variables={"PYTHONIOENCODING": "cp1252"})
    assert tomllib.loads(done.stdout)["name"] == "lizard"
    assert done.stdout.isascii()
    (tmp_path / "l.toml").write_text(done.stdout)
    assert load_config(tmp_path / "l.toml") == load_config("lizard")
    refused = run_dct("plan", "ü→", variables={"PYTHONIOENCODING": "ascii"}).stderr
    assert '"\\u00fc->"' in refused
