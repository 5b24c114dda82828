"""Options that would change nothing are refused, or warned of."""

from pathlib import Path

import pytest

from difflogic.circuit.life_like import usual
from difflogic.system.errors import ConfigError
from tests.cli.processes import run_python

SORTING = str(Path(__file__).parents[3] / "docs" / "gallery" / "sorting.json")


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (f"simulate {SORTING} --engine=interpreter --workers=3", "the interpreter has one"),
        (f"render {SORTING} -o strip.png --fps=3", "strip.png is a strip"),
        ("sweep checkerboard-small --seeds=0,0", "names the seed 0 twice"),
        ("sweep checkerboard-small --seeds=0 --scheduler-timeout=5", "needs --scheduler"),
        ("train-gol --rule=B3333/S", '"B3333/S" names a number twice'),
        ("config show lizard '--set=automaton.periods=[5]'", "none or two numbers"),
    ],
)
def test_what_would_be_ignored_is_refused(dct, words, hint):
    assert hint in dct(words).refusal
    assert not list(Path().iterdir())


def test_numbers_stand_once_in_a_rule():
    assert usual("36/23") == "B23/S36"
    with pytest.raises(ConfigError, match="twice"):
        usual("b3s223")


@pytest.mark.thorough
def test_all_public_names_are_imported_by_a_star():
    done = run_python("-c", "from difflogic import *; print(DctError.__name__, train.__name__)")
    assert done.stdout == "DctError train\n", done.stderr
