"""A sweep's plan: its grid, its configurations, and the comparison of two plans."""

import re

import pytest

from difflogic.config import load_config
from difflogic.sweeps.sweep_plan import (
    MAX_NAME,
    Request,
    differences,
    make_plan,
    parse_axes,
    variant_names,
)
from difflogic.system.errors import ConfigError
from tests.difflogic.sweeps.small import TINY, small_plan


def test_each_variant_is_the_configuration_with_its_overrides():
    plan = small_plan("training.weight_decay=0.0,0.5", "update.gates=[8,4,2],[6,4,2]", seeds=(4, 9))
    changes = [
        [f"training.weight_decay={decay}", f"update.gates={gates}"]
        for decay in ("0.0", "0.5")
        for gates in ("[8,4,2]", "[6,4,2]")
    ]
    expected = [
        load_config("checkerboard-small", ["parallel.workers=1", *TINY, *each]) for each in changes
    ]
    assert [variant.config for variant in plan.variants] == expected
    assert plan.variants[1].values == {"training.weight_decay": 0.0, "update.gates": [6, 4, 2]}
    assert plan.size == 8
    seeds = [(variant.name, 4) for variant in plan.variants] + [(plan.variants[0].name, 9)]
    assert [(variant.name, seed) for variant, seed in plan.runs][:5] == seeds


def test_all_wrong_values_are_named_once():
    with pytest.raises(ConfigError) as caught:
        small_plan("training.weight_decay=0.0,-1", "training.epochs=0,3,5")
    lines = str(caught.value).splitlines()
    assert lines[0] == "2 problems in the grid:"
    assert "--grid training.epochs=0: [training] epochs must be" in lines[1]
    assert "--grid training.weight_decay=-1: [training] weight_decay must be" in lines[2]
    assert len(lines) == 3


@pytest.mark.parametrize(
    ("axis", "says"),
    [
        ("training.weight_decoy=0.0,1.0", 'did you mean "weight_decay"'),
        ("training.weight_decay=0.01,1e-2", "mean the same"),
    ],
)
def test_wrong_keys_and_equal_values_are_refused(axis, says):
    with pytest.raises(ConfigError, match=says):
        small_plan(axis)


def test_the_recipe_is_applied_before_the_overrides():
    plan = make_plan(Request("checkerboard", ("training.epochs=7",), (), "reference"), (0,))
    expected = load_config("checkerboard", ["parallel.workers=1", "training.epochs=7"], "reference")
    assert plan.variants[0].config == expected


@pytest.mark.parametrize(
    ("other", "found"),
    [
        ({"seeds": (7,)}, []),
        ({"overrides": ("parallel.workers=2",)}, []),
        ({"overrides": ("training.beta1=0.5",)}, ["training.beta1: 0.0 → 0.5"]),
        ({"overrides": ("training.epochs=21",)}, ["training.epochs: 20 → 21"]),
        ({"grid": "training.batch=1,3"}, ["grid: batch=1, batch=2 → batch=1, batch=3"]),
    ],
)
def test_differences_are_keys_that_change_results(other, found):
    grid = other.pop("grid", "training.batch=1,2")
    assert differences(small_plan("training.batch=1,2"), small_plan(grid, **other)) == found


@pytest.mark.parametrize(
    ("option", "key", "values"),
    [
        ("training.weight_decay=0.0,0.01", "training.weight_decay", ["0.0", "0.01"]),
        ("update.gates=[8,4],[16,8]", "update.gates", ["[8,4]", "[16,8]"]),
        (" training . batch = 1 , 2", "training.batch", ["1", "2"]),
        ("task.target=\"a,b\",'c,]'", "task.target", ['"a,b"', "'c,]'"]),
        ('task.target="a\\",b",c', "task.target", ['"a\\",b"', "c"]),
        ("a.b=[[1,2],[3]],{x=1,y=2}", "a.b", ["[[1,2],[3]]", "{x=1,y=2}"]),
    ],
)
def test_values_are_split_outside_of_brackets_and_quotes(option, key, values):
    assert parse_axes([option]) == {key: tuple(values)}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["training.batch"], "section.key=value"),
        (["training.batch="], "missing"),
        (["training.batch=1,2,1"], "1 is listed twice"),
        (["training.seed=1,2"], "--seeds"),
        (["training.batch=1", "training.batch=2"], "is given twice"),
        ([f"a.k{i}={','.join(map(str, range(10)))}" for i in range(5)], "too many"),
    ],
)
def test_malformed_axes_are_refused(options, says):
    with pytest.raises(ConfigError, match=re.escape(says)):
        parse_axes(options)


def names(*variants):
    """Return the names of variants, whose values are given as typed, too."""
    return variant_names([(values, {k: str(v) for k, v in values.items()}) for values in variants])


def test_variants_are_named_after_what_differs():
    one = {"update.gates": [8, 4], "training.weight_decay": 0.01, "a.flag": True}
    assert names(one) == ["gates=8-4,weight_decay=0.01,flag=true"]
    assert names(one, one | {"a.flag": False}) == ["flag=true", "flag=false"]
    sizes = {"update.gates": [2], "perception.gates": [4]}
    other = {"update.gates": [256, 256, 256, 8], "perception.gates": [5]}
    assert names(sizes, other) == [
        "update.gates=2,perception.gates=4",
        "update.gates=256x3-8,perception.gates=5",
    ]
    pictures = [{"task.target": f"/tmp/drawn/{name}.png"} for name in ("cat", "dog")]
    assert names(*pictures) == ["target=cat.png", "target=dog.png"]
    pictures = [{"task.target": f"{name}/x.png"} for name in "ab"]
    assert names(*pictures) == ["target=a_x.png", "target=b_x.png"]
    assert names(*({"task.rule": f"B{born}/S23"} for born in (3, 36))) == [
        "rule=B3_S23",
        "rule=B36_S23",
    ]


def test_all_values_have_distinct_valid_file_names():
    values = [
        "B3/S23",
        "B3_S23",
        "../x",
        "x" * 500,
        "x" * 501,
        "a b",
        "a_b",
        "ä",
        "B3/S/23",
        "X",
        "x",
    ]
    found = names(*({"task.rule": value} for value in values))
    assert len({name.casefold() for name in found}) == len(found)
    for name in found:
        assert re.fullmatch(r"[A-Za-z0-9._+=,-]+", name)
        assert len(name) <= MAX_NAME + 9
