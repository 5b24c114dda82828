"""Settings that tasks refuse."""

import re

import pytest

from difflogic.config import load_config
from difflogic.system.errors import ConfigError

WOUNDS = "[task] wounds: teaching needs 8 channels"
RULE = "rule must be B and digits 0 to 8"
REFUSED = {
    "checkerboard-tough": {
        "automaton.channels=9 update.gates=[256,128,64,32,16,9]": WOUNDS,
        "task.square=4": WOUNDS,
        "automaton.boundary=periodic": WOUNDS,
        "task.loss_channels=[1]": WOUNDS,
    },
    "game-of-life": {
        f'task.rule="{rule}"': RULE
        for rule in [
            "",
            "B3S23",
            "S23/B3",
            "B9/S2",
            "b3/s23",
            "B3/S23\t",
            "3/23",
            "B5/SV",
            "B/S7H",
            "B3/S23M",
        ]
    },
    "addition": {
        "task.height=2": "[task] height",
        "automaton.steps=7": "[automaton] steps",
        "task.stages=[4,8]": "[task] stages",
        "task.loss_channels=[2,3]": "[task] loss_channels: the result is one",
        "automaton.channels=2 task.loss_channels=[1] update.gates=[32,16,8,4,2]": (
            "[automaton] channels: addition has 2 input channels"
        ),
    },
    "voting": {
        "automaton.steps=11": "too few for 9 cells",
        "task.loss_channels=[0]": "[task] loss_channels: votes move",
    },
    "sorting": {
        "task.loss_channels=[0] task.inputs=[1]": "[task] inputs: channel 0",
        'task.computes="majority"': "[task] width: majority needs a middle cell",
    },
    "flood": {"task.inputs=[]": "[task] inputs: channel 0 is the input"},
    "lizard": {
        "task.heal=[5]": "[task] heal: a picture can only heal if it stays: set hold = true",
        "task.hold=true task.heal=[3,20]": "of a row or column of 20×20 cells: use at most 19",
        "task.hold=true automaton.fire_rate=0.5": "[task] hold: only a run that repeats",
        "perception.wiring=unique": '[perception] directions: "all" needs wiring',
    },
    "lizard-hold": {"task.start=places": "no places are counted"},
    "hexagons": {
        'task.tile="##\\n#"': "row 2 has 1 cells",
        "automaton.channels=5": "6 are needed",
        "automaton.boundary=periodic": "a tile begins at an edge",
        "task.loss_channels=[1]": "the first 1 of them",
        f'task.tile="{33 * "."}"': "1×33 cells are more than 32×32",
        'task.palette=["#000000"]': "1 colours, but 1 loss channels give 2",
        "automaton.periods=[4,6]": "set places = true and periods = [4, 6], or places = false",
    },
}


@pytest.mark.parametrize(
    ("name", "settings"), [(name, each) for name in REFUSED for each in REFUSED[name]]
)
def test_settings_that_a_task_refuses(name, settings):
    with pytest.raises(ConfigError, match=re.escape(REFUSED[name][settings])):
        load_config(name, settings.split(" "))
