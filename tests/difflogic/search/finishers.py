"""Searches near circuits of any netlist."""

from difflogic.evaluation.check_plan import Plan
from difflogic.evaluation.judge import Judge
from difflogic.evaluation.scene import Streams
from difflogic.search import verifier
from difflogic.search.finisher import Finisher
from difflogic.search.sensitivity import GradientSensitivity
from difflogic.system.streams import Purpose

STREAMS = Streams(23, Purpose.CHECK_START, Purpose.CHECK_MASK)


def plan_of(config, starts=8):
    return Plan.of(config.problem.task, starts, STREAMS)


def judge_of(config, netlist):
    return Judge(netlist, plan_of(config))


def finisher_of(config, netlist, plan=None, sensitivity=None, **settings):
    """A search by the gradient, with other `settings` of [finishing]."""
    plan = plan or plan_of(config, verifier.ROUND)
    sensitivity = sensitivity or GradientSensitivity(netlist, plan, config.automaton.steps)
    chosen = config.finishing.model_copy(update=settings)
    return Finisher(netlist, plan, chosen, sensitivity, Judge(netlist, plan))
