"""TOML is bounded before it is parsed, and else parsed as it is."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from difflogic.config import load_config, shipped_configs
from difflogic.config.loading import MAX_KEY_PARTS, parse_toml

DEEP = ".".join("a" * (MAX_KEY_PARTS + 1))
texts = st.text(st.sampled_from("a.\"'\\#\n =[]{}1-x"), max_size=60)
tables = st.recursive(
    st.one_of(st.text(max_size=30), st.integers(-(10**6), 10**6), st.booleans(), texts),
    lambda inner: st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("name", shipped_configs())
def test_configurations(name):
    text = load_config(name).to_toml()
    assert parse_toml(text) == tomllib.loads(text)


@given(texts)
def test_no_text_is_read_in_another_way_than_the_parsers(text):
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
def test_a_deep_key_is_found_wherever_it_stands(text):
    with pytest.raises(ValueError, match="a key of more than 8 parts"):
        parse_toml(text)


@pytest.mark.parametrize("text", [f'x = "{DEEP}"', f"x = '''\n{DEEP}'''", f"# {DEEP}\nx = 1"])
def test_no_key_in_a_text_or_a_comment(text):
    assert list(parse_toml(text)) == ["x"]


def test_the_line_is_named():
    with pytest.raises(ValueError, match="at line 4"):
        parse_toml(f'x = """\n\n"""\n{DEEP} = 1')


@pytest.mark.parametrize("text", ["[" * 10**5, "a = " + "[" * 10**5, "a = " + "{a=" * 10**5])
def test_what_is_nested_too_deeply(text):
    with pytest.raises(ValueError, match=r"nested too deeply|Invalid|Expected|Cannot"):
        parse_toml(text)
