"""TOML is checked before it is parsed, and is otherwise parsed as usual."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from difflogic.config import load_config
from difflogic.system.errors import ConfigError
from difflogic.system.toml import MAX_KEY_PARTS, parse_toml

DEEP = ".".join("a" * (MAX_KEY_PARTS + 1))
texts = st.text(st.sampled_from("a.\"'\\#\n =[]{}1-x"), max_size=60)


@given(texts)
def test_any_text_is_parsed_as_by_tomllib(text):
    try:
        expected = tomllib.loads(text)
    except ValueError:
        with pytest.raises(ValueError, match=r"."):
            parse_toml(text)
    else:
        assert parse_toml(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        f"{DEEP} = 1",
        f"[{DEEP}]",
        f"[[ {DEEP} ]]",
        f"x = {{{DEEP} = 1}}",
        DEEP.replace(".", " . ") + " = 1",
        DEEP.replace("a", '"a"') + " = 1",
        DEEP.replace("a", "'a'") + " = 1",
        f'x = {{y = """a"""", {DEEP} = 1}}',
        f"x = {{y = '''a'''', {DEEP} = 1}}",
        f'x = "\\\\"\n{DEEP} = 1',
        f"{DEEP}.{DEEP} = 1",
    ],
)
def test_deep_keys_are_refused(text):
    with pytest.raises(ValueError, match="a key of more than 8 parts"):
        parse_toml(text)


@pytest.mark.parametrize("text", [f'x = "{DEEP}"', f"x = '''\n{DEEP}'''", f"# {DEEP}\nx = 1"])
def test_strings_and_comments_have_no_keys(text):
    assert list(parse_toml(text)) == ["x"]


@pytest.mark.parametrize("text", ["[" * 10**5, "a = " + "[" * 10**5, "a = " + "{a=" * 10**5])
def test_deep_nesting_is_refused(text):
    with pytest.raises(ValueError, match=r"nested too deeply|Invalid|Expected|Cannot"):
        parse_toml(text)


@pytest.mark.parametrize("number", ["0x" + "f" * 3600, "9" * 5000])
def test_numbers_with_too_many_digits_are_errors(number, tmp_path):
    path = tmp_path / "long.toml"
    path.write_text(f"[task]\nheight = {number}\n")
    with pytest.raises(ConfigError, match=r"long\.toml: not valid TOML: .*digits"):
        load_config(path)
