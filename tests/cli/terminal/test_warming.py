from __future__ import annotations

import pytest

from cli.terminal import warming
from difflogic.system import jit


@pytest.mark.parametrize("compiled", [True, False])
def test_the_search_is_announced_until_it_is_compiled(
    compiled: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(jit, "JIT", True)
    monkeypatch.setattr(jit, "is_compiled", lambda kernel: compiled)
    warming.announce_search()
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("compiling the search") != compiled
