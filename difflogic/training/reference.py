"""A training step in plain NumPy and float64, to compare the trainer with.

It shares only the configuration, samples, netlist and levers (all plain NumPy) with the trainer. It
does not search for exact circuits.
"""

from __future__ import annotations

import numpy as np

from difflogic.circuit import gates
from difflogic.circuit.forms import FORMS
from difflogic.circuit.soft_circuit import SoftCircuit
from difflogic.config.problem import Problem, untrained
from difflogic.config.sections import EPSILON
from difflogic.engine import oracle
from difflogic.run.measures import PhaseTimer, StepResult
from difflogic.system.array_types import Array, Bits, Float64s
from difflogic.training.pool import draw_pool
from difflogic.training.sampling import attempt_of, draw_samples


class ReferenceTrainer:
    """Trains like `Trainer`, thousands of times slower, one sample and one gate at a time."""

    def __init__(self, problem: Problem, first: SoftCircuit) -> None:
        """Start from the circuit `first`."""
        self._problem = problem.of(problem.task.stages[0].lessons)
        training = problem.training
        self._form = FORMS[training.form](training.initial_logit)
        self.circuit = self._first_circuit = self._conformed(first)
        self.epoch = 0
        self.attempt = 1
        """The attempt of the last epoch, from 1."""
        self.phases = PhaseTimer()
        self.gradients = np.zeros_like(self.circuit.logits)
        self._first: Array = np.zeros_like(self._learned())
        self._second: Array = np.zeros_like(self._learned())

    def step(self) -> StepResult:
        """Train for one epoch."""
        task = self._problem.task
        phase = self.phases
        self._start_over_if_due()
        netlist = self.circuit.netlist
        channels = list(task.loss_channels)
        steps = task.automaton.steps
        boundary = task.automaton.boundary
        with phase("sample"):
            samples = draw_samples(self._problem, self.epoch)
            starts, targets, masks, loss_steps = samples
        ops = gates.harden(self.circuit.logits)
        with phase("forward"):
            probabilities = gates.softmax(self.circuit.logits.astype(np.float64))
            soft = gates.mix(probabilities)
        decided = float((probabilities.max(axis=1) > gates.DECIDED).mean())
        hard = gates.one_hot(ops)
        gradient = np.zeros_like(soft)
        soft_loss = hard_loss = 0.0
        wrong = 0
        first = None
        for index, (start, target) in enumerate(zip(starts, targets, strict=True)):
            mask = None if masks is None else masks[index]
            with phase("forward"):
                states = oracle.rollout(netlist, soft, start, loss_steps[-1], boundary, mask)
            with phase("loss"):
                seen = np.array([states[step] for step in loss_steps])
                if task.has_loss():
                    value, upstreams = task.find_loss(seen, target)
                else:
                    # In order, as sum() does not from Python 3.12 on.
                    value = float(np.cumsum([oracle.loss(s, target, channels) for s in seen])[-1])
                    upstreams = np.array(
                        [oracle.loss_gradient(state, target, channels) for state in seen]
                    )
                soft_loss += value
            # Gradients add up: differentiate by the states one after the other.
            for step, upstream in zip(loss_steps, upstreams, strict=True):
                with phase("backward"):
                    gradient += oracle.coefficient_gradients(
                        netlist, soft, states[: step + 1], upstream, boundary, mask
                    )
            with phase("hard"):
                end = oracle.rollout(netlist, hard, start, steps, boundary, mask)[-1]
                last = end[channels]
                hard_loss += oracle.loss(end, target, channels)
                wrong += int((np.abs(last - target) > 0.5).sum())
                first = end.astype(np.uint8) if first is None else first

        def run(start: Array, steps: int) -> Bits:
            return oracle.rollout(netlist, hard, start, steps, boundary)[-1].astype(np.uint8)

        for sample in draw_pool(self._problem, self.epoch, run):
            states = oracle.rollout(netlist, soft, sample.start, sample.step, boundary)
            upstream = oracle.loss_gradient(states[-1], sample.target, channels)
            gradient += oracle.coefficient_gradients(netlist, soft, states, upstream, boundary)
        with phase("optimizer"):
            self.gradients = gates.mix_gradient(probabilities, gradient)
            self._update(self.gradients)
        self.epoch += 1
        accuracy = 1.0 - wrong / np.isfinite(targets).sum()
        return StepResult(
            self.epoch, soft_loss, hard_loss, accuracy, first, decided, attempt=self.attempt
        )

    def _start_over_if_due(self) -> None:
        problem = self._problem
        attempt = attempt_of(problem.training, self.epoch) + 1
        if attempt != self.attempt:
            self.attempt = attempt
            self.circuit = self._first_circuit
            if not problem.restarts_from_first:
                drawn = untrained(problem.architecture, problem.training, self.attempt - 1)
                self.circuit = self._conformed(drawn)
            self._first[:] = self._second[:] = 0.0

    def _conformed(self, circuit: SoftCircuit) -> SoftCircuit:
        """Return a circuit in float64 whose gates have the learned form."""
        logits: Float64s = circuit.columns.astype(np.float64)
        if self._form is not None:
            self._form.conform(logits)
        return circuit.of_columns(logits)

    def _learned(self) -> Array:
        """Return the numbers that the optimizer moves, (gates, 16), or (gates, 4) by the form."""
        logits: Array = self.circuit.logits
        return logits if self._form is None else logits[:, list(self._form.readers)]

    def _update(self, gradients: Array) -> None:
        """Loshchilov and Hutter 2019, algorithm 2, after clipping each element."""
        training = self._problem.training
        learned = self._learned()
        basis = np.eye(gates.OPS) if self._form is None else self._form.basis
        gradients = gradients @ basis
        steps = self.epoch - (self.attempt - 1) * training.restart_every + 1
        g = np.clip(gradients, -training.gradient_clip, training.gradient_clip)
        self._first = training.beta1 * self._first + (1 - training.beta1) * g
        self._second = training.beta2 * self._second + (1 - training.beta2) * g**2
        first = self._first / (1 - training.beta1**steps)
        second = self._second / (1 - training.beta2**steps)
        decay = training.weight_decay * learned
        change = first / (np.sqrt(second) + EPSILON) + decay
        updated = learned - training.learning_rate * change
        logits = updated if self._form is None else updated @ basis.T
        self.circuit = SoftCircuit(self.circuit.layers, logits)
