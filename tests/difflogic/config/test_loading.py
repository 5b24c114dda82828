import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from difflogic.config import Override, config_from_dict, load_config, schema, shipped_configs
from difflogic.config.manual import describe
from difflogic.system.errors import ConfigError
from tests.paths import ROOT

BASE = load_config("checkerboard-small")


def error(source="checkerboard", overrides=()):
    with pytest.raises(ConfigError) as caught:
        load_config(source, overrides)
    return str(caught.value)


@pytest.fixture
def write(tmp_path):
    def write(content):
        path = tmp_path / "my.toml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


# Shipped configurations


GATES = {
    "checkerboard": 3040,
    "checkerboard-async": 4064,
    "checkerboard-small": 1496,
    "game-of-life": 2543,
    "game-of-life-small": 463,
    "letter-g": 4600,
    "lizard": 4540,
}
"""Gates with logits: as published, and as the comments of the small ones say."""


@pytest.mark.parametrize("name", GATES)
def test_a_shipped_file_is_found_by_its_name(name):
    path = ROOT / "configs" / f"{name}.toml"
    config = load_config(name)
    assert load_config(str(path)) == load_config(path) == config
    assert config.name == name
    assert config.architecture.parameters == GATES[name]


PUBLISHED = {
    "checkerboard": (
        "task.height=16 task.width=16 automaton.channels=8 automaton.steps=20 training.epochs=500 "
        "automaton.boundary=zero automaton.fire_rate=1.0 training.batch=2"
    ),
    "checkerboard-async": (
        "task.height=14 task.width=14 automaton.channels=8 automaton.steps=50 training.epochs=800 "
        "automaton.boundary=zero automaton.fire_rate=0.6 training.batch=1"
    ),
    "game-of-life": (
        "task.height=3 task.width=3 automaton.channels=1 automaton.steps=1 training.epochs=3000 "
        "automaton.boundary=periodic automaton.fire_rate=1.0 training.batch=20"
    ),
    "lizard": (
        "task.height=20 task.width=20 automaton.channels=128 automaton.steps=12 "
        "automaton.boundary=periodic automaton.fire_rate=1.0 training.batch=1 "
        "training.epochs=3500 training.learning_rate=0.06"
    ),
    "letter-g": (
        "task.height=16 task.width=16 automaton.channels=64 automaton.steps=15 "
        "automaton.boundary=zero automaton.fire_rate=1.0 training.batch=1 "
        "training.epochs=3000 training.learning_rate=0.06"
    ),
}
ALIKE = (
    "training.learning_rate=0.05 training.beta1=0.9 training.beta2=0.99 training.weight_decay=0.01 "
    "training.gradient_clip=100 training.initial_logit=10 training.seed=23 "
)


@pytest.mark.parametrize(("name", "settings"), PUBLISHED.items())
def test_the_published_settings_change_nothing(name, settings):
    config = load_config(name, recipe="reference")
    assert load_config(name, (ALIKE + settings).split(), "reference") == config
    assert config.published.epochs == config.training.epochs


# Keys of one kind of task


def test_keys_of_another_kind_are_refused(write):
    path = write(BASE.to_toml().replace("square = 2", 'square = 2\nrule = "B3/S23"'))
    assert error(path) == (f"{path}: [task] rule: belongs to another kind of task: leave it out")


def test_overriding_the_kind_drops_keys_of_the_old_kind():
    config = load_config("checkerboard", ["task.kind=life", "task.rule=B36/S23"])
    assert (config.task.kind, config.task.rule) == ("life", "B36/S23")
    assert "square" not in config.to_dict()["task"]
    config = load_config("checkerboard", ["task.kind=pattern", "task.target=lizard"])
    assert (config.task.height, config.task.start) == (20, "center")
    message = error("checkerboard", ["task.kind=life", "task.square=3"])
    assert "[task] square: belongs to another kind of task: leave it out" in message


# Round trip


CHANGES = st.fixed_dictionaries(
    {
        "training": st.fixed_dictionaries(
            {
                "seed": st.integers(0, 2**63 - 1),
                "learning_rate": st.floats(0, 1000, exclude_min=True),
                "weight_decay": st.floats(0, 1000),
            }
        ),
        "parallel": st.fixed_dictionaries(
            {
                "workers": st.just("auto") | st.integers(1, 1024),
                "memory_budget": st.sampled_from(["auto", "512MB", "2GiB"]),
            }
        ),
    }
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(shipped_configs()), CHANGES)
def test_round_trip(tmp_path, name, changes):
    plain = load_config(name).to_dict()
    plain |= {section: plain[section] | values for section, values in changes.items()}
    config = config_from_dict(plain, "test")
    assert config.to_dict() == plain
    path = tmp_path / "round.toml"
    path.write_text(config.to_toml(), "utf-8")
    assert load_config(path) == config


# Overrides


def test_the_last_override_wins():
    words = ["training.epochs=-7", "training.epochs = 8 ", 'automaton.boundary="periodic"']
    config = load_config("checkerboard", [*words, "name=mine", "task.loss_channels=[1, 0]"])
    assert config.training.epochs == 8
    assert (config.automaton.boundary, config.name) == ("periodic", "mine")
    assert config.task.loss_channels == (1, 0)


EPOCHS = "[training] epochs must be an integer from 1 to 1000000000, not "
RATE = "[training] learning_rate must be a number above 0, at most 1000, not "
WORKERS = '[parallel] workers must be "auto" or an integer from 1 to 1024, not '
LAYERS = "[update] gates must be a list of 1 to 1000 integers from 1 to 65536, not "
LOSS = "[task] loss_channels"


@pytest.mark.parametrize(
    ("override", "says"),
    {
        "training.epochs": "write it as section.key=value, such as training.epochs=50",
        "training.epoch=5": 'no key "epoch" in [training]: did you mean "epochs"?',
        "trainin.epochs=5": 'no section [trainin]: did you mean "training"?',
        "epochs=5": 'no key "epochs" at the top level: it belongs in [training]',
        "task.channels=5": 'no key "channels" in [task]: it belongs in [automaton]',
        "training.a.b=5": 'no key "a.b" in [training]: choose from seed, epochs',
        "parallel.tasks_per_worker=2": "[parallel] tasks_per_worker: was removed",
        "parallel.samples_at_once=1": "[parallel] samples_at_once: was removed",
        "automaton.switch=false": "[automaton] switch: was removed",
        "training=5": "[training] is a section: name a key, such as training.seed",
        "update.gates=[8, 4": "the value is not valid TOML",
        "training.epochs=5\n[update]\nx=1": "the value is not valid TOML",
        "name=../outside": "the value is not valid TOML",
        'name="../outside"': "name must be 1 to 64 letters, digits, - and _",
        "training.epochs=1.0": EPOCHS + "1.0",
        "training.epochs=many": EPOCHS + '"many"',
        "training.epochs=" + "9" * 4000: EPOCHS + "a number of more than 20 digits",
        "training.learning_rate=nan": RATE + "nan",
        "automaton.boundary=perodic": 'not "perodic": did you mean "periodic"?',
        "task.kind=chess": '[task] kind must be "checkerboard" or "dead-ends" or "examples" or ',
        "task.square=17": "[task] square: a square of 17 cells does not fit a grid of 16×16",
        "task.loss_channels=[]": f"{LOSS} must be a list of 1 to 1000 integers from 0, not an",
        "task.loss_channels=[-1]": f"{LOSS}[0] must be an integer from 0, not -1",
        "task.loss_channels=[0, 8]": f"{LOSS}: no channel 8, as the automaton has 8: use 0 to 7",
        "task.loss_channels=[1, 1]": f"{LOSS}: a channel is listed twice",
        "task.inputs=[0]": "[task] inputs: channel 0 never changes",
        "update.carry=0.5": "[update] carry: must be 0, or at least 1",
        "perception.gates=[8, 3, 2]": "[perception] gates, layer 1: wiring unique: 3 gates",
        "update.gates=[]": LAYERS + "an empty list",
        "update.gates=[256, 128, 7]": "one gate per channel: 8 ([automaton] channels), not 7",
        "update.gates=[256, 8]": "[update] gates, layer 1: wiring unique: 8 gates have 16",
        "parallel.workers=aut": WORKERS + '"aut": did you mean "auto"?',
    }.items(),
)
def test_overrides_that_cannot_be_used(override, says):
    message = error(overrides=[override])
    assert message.startswith(f"--set {override}"[:79])
    assert says in message
    assert message.count("\n") <= override.count("\n")  # one problem, one message
    assert len(message) < 300


def test_all_problems_are_listed_with_their_place(write):
    path = write(BASE.to_toml().replace("batch = 2", "batch = 0\nepoch = 3"))
    message = error(path, ["automaton.steps=0", "nonsense"])
    assert message.splitlines() == [
        "4 problems in the configuration:",
        "  --set nonsense: write it as section.key=value, such as training.epochs=50",
        "  --set automaton.steps=0: [automaton] steps must be an integer from 1 to 1000000, not 0",
        f"  {path}: [training] batch must be an integer from 1 to 65536, not 0",
        f'  {path}: no key "epoch" in [training]: did you mean "epochs"?',
    ]


def test_messages_quote_the_typed_option():
    given = [
        Override("name", "quiet"),
        Override("automaton.channels", 7, "--channels 7"),
        Override("training.seed", -1, "--seed -1"),
    ]
    assert error(overrides=given).startswith("--seed -1: [training] seed must be an integer")
    message = error(overrides=given[:2])
    assert "checkerboard.toml, --channels 7: [update] gates: the last layer" in message
    assert "--set" not in message


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (Override("training.seed", 1, "--seed 1"), "training.seed=2"),
        ("training.epochs=3", Override("training.epochs", 4, "--epochs 4")),
        ("parallel.workers=2", Override("parallel.workers", "auto", "--workers auto")),
        ("training.batch=2", Override("training.batch=3", typed="--grid training.batch=3")),
    ],
)
def test_two_options_must_not_give_a_key_different_values(earlier, later):
    for pair in ([earlier, later], [later, earlier]):
        options = [each if isinstance(each, str) else each.typed for each in pair]
        first, second = (f"--set {each}" if each[0] != "-" else each for each in options)
        assert error(overrides=pair) == f"{second}: {first} gives another value: leave one out"
    load_config("checkerboard-small", [Override("task.width", 9, "--small"), "task.width=8"])
    load_config("checkerboard-small", ["training.seed=1", Override("training.seed", 1, "--seed 1")])


def test_values_that_disagree_name_their_origins_and_no_others():
    others = ["training.epochs=5", "automaton.steps=9"]
    message = error(overrides=["automaton.channels=7", *others, "task.loss_channels=[7]"])
    lines = message.splitlines()
    assert lines[1].startswith("  --set task.loss_channels=[7]: [task] loss_channels: no channel 7")
    assert "checkerboard.toml, --set automaton.channels=7: [update] gates: the last" in lines[2]
    # The problem names the section, but no key that was set.
    message = error("sorting", overrides=["training.batch=2", "task.width=3"])
    assert "sorting.toml, --set task.width=3: [task] stages: each must be shorter" in message


# Files


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (("epochs = ", "epoch = "), 'no key "epoch" in [training]: did you mean "epochs"?'),
        (("epochs = ", "epoch = "), '[training] needs a key "epochs", an integer from 1 to'),
        (("[training]", "[trainin]"), "the section [training] is missing: it needs epochs, batch"),
        (("[update]", "[[update]]"), "[update] must be a section of keys, not a list of 1"),
        (('name = "checkerboard-small"', ""), 'the top level needs a key "name", 1 to 64 letters'),
        (('name = "', 'steps = 5\nname = "'), 'no key "steps" at the top level: it belongs in'),
        ("a = \n", "not valid TOML: Invalid value (at line 1, column 5)"),
        ("a = " + "[" * 100_000, "nested too deeply"),
        (b"\x7fELF\x02\xff\xfe", "is not UTF-8 text (byte 5)"),
        (b"#" * (2**20 + 1), "larger than 1048576 bytes"),
        ("\n", "the section [task] is missing"),
    ],
)
def test_wrong_files(write, content, says):
    path = write(BASE.to_toml().replace(*content) if isinstance(content, tuple) else content)
    message = error(path)
    assert str(path) in message
    assert says in message


def test_deeply_dotted_keys_are_refused_before_they_are_parsed(write):
    path = write(".".join("a" * 100_000) + " = 1")
    assert error(path) == f"{path}: not valid TOML: a key of more than 8 parts (at line 1)"


def test_missing_file(tmp_path):
    path = tmp_path / "none.toml"
    assert error(path) == (f"{path}: no such file: dct config list shows the shipped ones")
    assert error(str(path)) == error(path)
    assert "no such file" in error("none.toml")


def test_unknown_name():
    assert error("checkerbord") == (
        'no configuration "checkerbord": did you mean "checkerboard"? '
        "(for your own file give a path, such as my.toml)"
    )
    assert f"choose from {', '.join(shipped_configs())} " in error("zzz")


@pytest.mark.parametrize("path", ["nul\0byte.toml", "x" * 300 + ".toml", "a.toml/b.toml"])
def test_impossible_paths(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.toml").write_text("")
    assert "cannot be read" in error(path)


def test_life_has_no_later_steps():
    message = error("game-of-life", ["training.later_steps=1"])
    assert "[training] later_steps: the target of this task changes with every step" in message
    assert load_config("lizard", ["training.later_steps=1"]).training.later_steps == 1


@pytest.mark.parametrize("overrides", ["training.epochs=3", [5], [None]])
def test_overrides_are_a_list_of_texts(overrides):
    with pytest.raises(ConfigError, match=r"overrides: is .* give .*Sequence\[str"):
        load_config("checkerboard-small", overrides)


def test_random_directions_need_no_moore_wiring():
    config = load_config("lizard", ["perception.wiring=unique", "perception.directions=random"])
    assert config.architecture.perception_first == "unique"


@pytest.mark.parametrize(
    ("section", "line", "asked"),
    [
        ("automaton", "switch = false", "switch = true"),
        ("task", 'second = ""', 'second = "#"'),
        ("task", "taught = false", "taught = true"),
        ("parallel", "chunk = 7", None),
    ],
)
def test_keys_of_older_files_are_left_out_if_they_asked_for_nothing(write, section, line, asked):
    config = load_config("lizard")
    text = config.to_toml()
    head = f"[{section}]\n"
    assert load_config(write(text.replace(head, f"{head}{line}\n"))).to_toml() == text
    if asked:
        with pytest.raises(ConfigError, match=f"{asked.split()[0]}: was removed"):
            load_config(write(text.replace(head, f"{head}{asked}\n")))


def test_a_run_that_was_shared_by_gates_goes_on_by_default(write):
    text = load_config("lizard", ["parallel.strategy=steps"]).to_toml()
    config = load_config(write(text.replace('strategy = "steps"', 'strategy = "gates"')))
    assert config.parallel.strategy == "auto"
    assert '"gates" was removed' in error(overrides=["parallel.strategy=gates"])


# Facts of a run

HASH = 64 * "a"


def test_facts_are_kept_but_are_not_settings(write):
    config = BASE.with_facts(start_sha256=HASH)
    assert config.to_dict()["run"] == {"start_sha256": HASH}
    assert config != BASE
    for text in (config.to_toml(), describe(config)):
        assert load_config(write(text)) == config
    assert "run" not in BASE.to_dict()
    assert "run" not in schema.sections()
    assert "no section [run]" in error(overrides=[f"run.start_sha256={HASH}"])


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ('start_sha256 = "abc"', "[run] start_sha256 must be 64 hexadecimal digits"),
        ("begun = 3", 'no key "begun" in [run]: choose from start_sha256'),
        ('task_start = "left"', '[run] task_start must be "random" or "center" or "zeros"'),
    ],
)
def test_invalid_facts(write, facts, says):
    assert says in error(write(f"{BASE.to_toml()}\n[run]\n{facts}\n"))
    assert "[run] must be a section of keys" in error(write("run = 3\n" + BASE.to_toml()))
