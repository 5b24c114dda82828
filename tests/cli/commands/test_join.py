"""`dct join`, which the tests of the library try in all ways: what the command says of a miss."""

from pathlib import Path

from tests.paths import GALLERY


def test_too_little_time_is_said_without_an_option_of_other_commands(dct):
    circuit = f"{GALLERY}/checkerboard-tough-async.json"
    result = dct(f"join {circuit} {circuit} -o joined.json --time-limit 0.001").failed
    assert "increase --time-limit" in result.stderr
    assert "--unsimplified" not in result.stderr
    assert not Path("joined.json").exists()
