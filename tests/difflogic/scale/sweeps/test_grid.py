"""The axes of a sweep."""

import math
import re

import pytest

from difflogic.scale.sweeps.grid import MAX_NAME, combinations, parse_axes, variant_name
from difflogic.system.errors import ConfigError


@pytest.mark.parametrize(
    ("option", "key", "values"),
    [
        ("training.weight_decay=0.0,0.01", "training.weight_decay", ["0.0", "0.01"]),
        ("update.gates=[8,4],[16,8]", "update.gates", ["[8,4]", "[16,8]"]),
        (" training . batch = 1 , 2", "training.batch", ["1", "2"]),
        ("task.target=\"a,b\",'c,]'", "task.target", ['"a,b"', "'c,]'"]),
        ('task.target="a\\",b",c', "task.target", ['"a\\",b"', "c"]),
        ("a.b=[[1,2],[3]],{x=1,y=2}", "a.b", ["[[1,2],[3]]", "{x=1,y=2}"]),
        ("training.precision=float32", "training.precision", ["float32"]),
    ],
)
def test_values_are_split_outside_of_brackets_and_quotes(option, key, values):
    (axis,) = parse_axes([option])
    assert axis.key == key
    assert list(axis.values) == values


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["training.batch"], "section.key=value"),
        (["=1,2"], "section.key=value"),
        (["training.batch="], "missing"),
        (["training.batch=1,,2"], "missing"),
        (["training.batch=1,2,1"], "1 is there twice"),
        (["training.seed=1,2"], "--seeds"),
        ([" training . seed =1,2"], "--seeds"),
        (["training.batch=1", "training.batch=2"], "has an axis already"),
        ([f"a.k{i}={','.join(map(str, range(10)))}" for i in range(5)], "too many"),
    ],
)
def test_what_is_refused(options, says):
    with pytest.raises(ConfigError, match=re.escape(says)):
        parse_axes(options)


def test_axes_are_multiplied():
    axes = parse_axes(["a.x=1,2,3", "b.y=[1,2],[3]"])
    found = combinations(axes)
    assert len(found) == math.prod(len(axis.values) for axis in axes)
    assert found[:2] == [{"a.x": "1", "b.y": "[1,2]"}, {"a.x": "1", "b.y": "[3]"}]
    assert len({tuple(variant.items()) for variant in found}) == len(found)
    assert combinations([]) == [{}]


def test_names_of_cells_tell_their_settings():
    settings = {"update.gates": [8, 4], "training.weight_decay": 0.01, "a.flag": True}
    texts = {key: "unused" for key in settings}
    assert variant_name(settings, texts) == "gates=8-4,weight_decay=0.01,flag=true"


def test_keys_of_one_name_keep_their_sections():
    settings = {"update.gates": [2], "perception.gates": [4]}
    assert (
        variant_name(settings, dict.fromkeys(settings, "")) == "update.gates=2,perception.gates=4"
    )


def test_whatever_a_value_is_the_name_is_a_file_name_of_its_own():
    values = ["B3/S23", "B3_S23", "../x", "x" * 500, "x" * 501, "a b", "ä", "B3/S/23"]
    names = [variant_name({"task.rule": value}, {"task.rule": value}) for value in values]
    assert len(set(names)) == len(names)
    for name in names:
        assert re.fullmatch(r"[A-Za-z0-9._+=,-]+", name)
        assert len(name) <= MAX_NAME + 9
