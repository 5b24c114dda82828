"""What several commands are told in the same way."""

from __future__ import annotations

import pytest
import typer

from cli.options.parsing import whole_number


@pytest.mark.parametrize(("text", "number"), [("1", 1), ("007", 7), ("4096", 4096)])
def test_numbers_in_digits(text: str, number: int) -> None:
    assert whole_number(1, 4096)(text) == number


@pytest.mark.parametrize(
    "text", ["1_000", "+5", "0", "-1", "4097", "1.0", "1e3", " 5", "5\n", "٣", "", "9" * 5000]
)
def test_what_is_no_number_here(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="is not a whole number from 1 to 4096"):
        whole_number(1, 4096)(text)


def test_numbers_without_an_upper_end() -> None:
    assert whole_number(-3)("-3") == -3
    with pytest.raises(typer.BadParameter, match="of at least 1"):
        whole_number(1)("0")
