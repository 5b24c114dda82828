import json
import tomllib

from jsonschema import Draft202012Validator

from difflogic.config import load_config, shipped_configs
from difflogic.config.manual import describe, editor_schema, experiments
from difflogic.pictures.picture import picture_directory


def test_experiments():
    assert [found["name"] for found in experiments()] == shipped_configs()
    for found in experiments():
        config = load_config(found["name"])
        assert found["gates_with_logits"] == config.architecture.parameters
        assert found["gates_per_cell"] == config.architecture.gates
        assert found["published"] == config.published.model_dump()


def test_a_schema_lets_editors_check_configurations():
    check = Draft202012Validator(editor_schema()).is_valid
    for path in picture_directory().parent.glob("*.toml"):
        found = tomllib.loads(path.read_text())
        assert check(found), path
        assert check(json.loads(json.dumps(load_config(path.stem).to_dict())))
    del found["task"]["height"]
    assert check(found) == (found["task"]["kind"] == "pattern")
    found["task"] = {"kind": "vote.py:Vote", "height": 1, "width": 9, "own": 3}
    assert check(found)
    for section, key, value in (("task", "kind", "vote"), ("training", "epoch", 7)):
        wrong = {**found, section: {**found[section], key: value}}
        assert not check(wrong)


def test_description_has_the_meaning_and_range_above_each_key():
    text = describe(load_config("checkerboard"))
    lines = text.splitlines()
    for section, values in tomllib.loads(text).items():
        for key in values if isinstance(values, dict) else ():
            place = lines.index(f"[{section}]")
            place += next(i for i, x in enumerate(lines[place:]) if x.startswith(f"{key} = "))
            assert lines[place - 1].startswith("# ")
    unwrapped = text.replace("\n# ", " ")
    for shown in (
        "automaton steps per rollout, from start state to loss (an integer from 1 to",
        "(a number above 0, at most 1)\nfire_rate = 1.0",
        '("auto" or an integer from 1 to 1024)\nworkers = "auto"',
        "a list of 1 to 1000 integers from 1 to 65536)\ngates = [8, 4, 2]",
        'or "steps")\nstrategy = "auto"',
    ):
        assert shown in unwrapped
    assert max(map(len, lines)) <= 100
    assert "  " not in text
