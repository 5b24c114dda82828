"""`dct identify`: finds the rule of a recorded automaton, and what is proved about it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from cli.calling import Call, calls
from cli.errors import note
from cli.interrupt import Interrupted, Interruption
from cli.options import AsJson, Output
from cli.progress import show_progress
from cli.terminal import output
from difflogic.library.options import Force
from difflogic.system.quantities import counted

if TYPE_CHECKING:
    from difflogic.library.identifying import Identified

MOST_LISTED = 8
"""Entries of each kind that are printed; JSON has all."""
MOST_EQUATIONS = 60


@calls("identifying.identify")
def identify(
    run: Call,
    *,
    neighbourhood: str,
    to: Output = None,
    predict: Path | None = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Find the rule of a recorded automaton, and say whether another rule fits the recording, too.

    If every cell is seen and frames are one step apart, the rule's table is read off the frames.
    Gaps, unseen cells (NaN or -1), hidden states and an unknown boundary need a SAT solver. Wrong
    cells need a MaxSAT solver. Ctrl-C stops the solver: the best rule so far is printed and saved.

    What a recording does not decide gets odds: of pairs of frames, and with --radius auto, --gap
    auto or --symmetry auto, families of rules are weighed, and the likeliest is looked for.

    Options:
        predict FILE: Save the frame after the last, or the query's result, with odds (.json, .npz)
    """
    from difflogic.identification.identified import UNDRAWABLE
    from difflogic.library.common import require_output
    from difflogic.system.errors import ConfigError, StoppedError
    from difflogic.system.files import check_output

    if to is not None:
        check_output(to, force)
        if neighbourhood == "radius-2":
            raise ConfigError(f"{to}: {UNDRAWABLE}")
    if predict is not None:
        require_output(predict, (".json", ".npz"), force)
        if predict == to:
            raise ConfigError(f"{to}: --output and --predict need two files")
    try:
        with (
            Interruption("this question", patience=None) as interruption,
            show_progress(stop_at_once=True, raises=False) as progress,
        ):
            found: Identified = run(progress=progress, should_stop=lambda: interruption.requested)
    except StoppedError as error:
        if not interruption.requested:
            raise
        note(f"no rule was found: {error}")
        raise Interrupted(interruption.exit_code - 128) from None
    if to is not None:
        found.save(to, force=force)
    if predict is not None:
        found.save_prediction(predict, force=force)
    if as_json:
        output.show_json(data(found, to))
    else:
        for line in lines(found):
            typer.echo(line)
        if to is not None:
            note(f"saved {to}{_pace(found)}")
        if predict is not None:
            note(f"saved {predict}")
    if interruption.requested:
        raise Interrupted(interruption.exit_code - 128)


def lines(found: Identified) -> list[str]:
    """Return the result as text."""
    from difflogic.identification.rules import describe_hidden

    rule, circuit = found.rule, found.circuit
    space = rule.space
    recordings, frames, height, width = rule.recording.frames.shape
    films = f"{recordings} recordings of " if recordings > 1 else ""
    size = f"{films}{counted(frames, 'frame')} of {height}×{width} cells"
    if rule.recording.sizes:
        size = f"{counted(recordings, 'pair')} of at most {height}×{width} cells"
    steps = f", {rule.gap} steps apart" if rule.gap > 1 else ""
    gates = f"{counted(circuit.gates, 'gate')}, " if circuit else ""
    free = int(rule.never_seen.sum())
    filled = f", {free} {'entry' if free == 1 else 'entries'} filled" if free else ""
    text = [
        f"{rule.recording.source}: {size}{steps}, {rule.recording.states} states",
        *_odds(found),
        f"rule: {rule.name or 'has no usual name'}, {gates}found by {rule.method}{filled}",
        *([f"hidden: {describe_hidden(space)}"] if space.looks_like else []),
        *_listed(found.equations[:MOST_EQUATIONS], len(found.equations)),
    ]
    if rule.flipped is not None:
        from difflogic.identification.recording import place

        how = "no rule with the same clear entries needs fewer"
        text.append(f"wrong cells: {len(rule.flipped)} ({how})")
        text += _listed([place(cell) for cell in rule.flipped[:MOST_LISTED]], len(rule.flipped))
        assert rule.agreement is not None
        seen = (~rule.never_seen).nonzero()[0]
        weakest = int(seen[rule.agreement[seen].argmin()])
        text.append(
            f"least sure entry: {space.describe(weakest)} is followed by {rule.table[weakest]} in "
            f"{100 * rule.agreement[weakest]:.0f} % of its occurrences"
        )
    else:
        text.append(
            f"entries: {space.entries}; determined {rule.determined.sum()}, "
            f"open {rule.open.sum()}, undecided {rule.undecided.sum()}, "
            f"never seen {rule.never_seen.sum()}"
        )
        for flags, what in ((rule.open, "open"), (rule.never_seen, "never seen")):
            first = flags.nonzero()[0].tolist()
            shown = [_entry(found, entry) for entry in first[:MOST_LISTED]]
            text += [f"{what}:", *_listed(shown, len(first))] if first else []
        text.append(_other(found))
    return text


def _pace(found: Identified) -> str:
    """Say how many steps of the circuit are one of the rule."""
    space = found.rule.space
    if space.drawable:
        return ""
    return f": cells pass states on, so {space.cells // 2} steps are one of the rule"


def _odds(found: Identified) -> list[str]:
    """Say which families of rules were weighed, and how likely the best are."""
    if found.weighed is None:
        return []
    (_, best), *others = found.weighed.summary
    text = [
        f"    {share:6.1%}  {what}" for what, share in found.weighed.summary[:4] if share >= 0.001
    ]
    if others:
        text.append(f"    the first is {best / others[0][1]:.3g} times as likely as the next")
    return ["by odds, not by proof, the rule is of:", *text]


def _entry(found: Identified, entry: int) -> str:
    rule = found.rule
    text = rule.space.describe(entry)
    state = int(rule.complete[rule.space.examples[entry]])
    odds = found.entry_odds
    likely = "" if odds is None else f", by odds {min(odds[state, entry], 0.999):.1%} likely"
    if rule.never_seen[entry]:
        return f"{text} is filled with {state}{likely}"
    if rule.second is None or rule.second[entry] in (rule.table[entry], -1):
        return f"{text} → {rule.table[entry]}{likely}"
    return f"{text} → {rule.table[entry]}{likely}, or {rule.second[entry]} in another rule"


def _listed(shown: list[str], count: int) -> list[str]:
    more = count - len(shown)
    return [f"    {line}" for line in [*shown, *[f"… and {more} more"] * (more > 0)]]


def _other(found: Identified) -> str:
    """Say whether another rule explains the recording."""
    rule = found.rule
    if rule.never_seen.all():
        return "the recording shows no entry of the rule: nothing is known about it"
    free = ", except for entries that were never seen" if rule.never_seen.any() else ""
    if rule.space.looks_like and rule.unique is not None:
        names = "the hidden states could have other numbers"
        if rule.unique:
            return f"no other rule with such states explains the recording{free} (proved); {names}"
        return f"another rule also explains the recording, in the open entries; {names}"
    if rule.unique:
        return f"no other rule explains the recording{free} (proved)"
    if rule.unique is None:
        return "whether another rule explains the recording is not decided"
    frame = rule.next_frame()
    if frame is None:
        return "another rule also explains the recording"
    steps = "one step" if rule.gap == 1 else f"{rule.gap} steps"
    head = f"another rule also explains the recording; to decide, record {steps} from:"
    rows = ("".join(f"{state:x}" for state in row) for row in frame.tolist())
    return "\n    ".join([head, *rows])


def data(found: Identified, to: Path | None) -> dict[str, Any]:
    """Return the result for JSON."""
    from difflogic.system.json_values import chosen

    rule, circuit = found.rule, found.circuit
    space = rule.space
    odds = found.entry_odds
    table: list[dict[str, Any]] = []
    for entry, flags in enumerate(zip(rule.determined, rule.open, rule.never_seen, strict=True)):
        known = dict(zip(("determined", "open", "never seen"), flags, strict=True))
        table.append(
            {
                "entry": space.describe(entry),
                "next": rule.complete[space.examples[entry]],
                "known": next((name for name, holds in known.items() if holds), "undecided"),
                "in_another_rule": None if rule.second is None else rule.second[entry],
                "agreement": None if rule.agreement is None else rule.agreement[entry],
                "odds": None if odds is None else odds[:, entry],
            }
        )
    return {
        "recording": rule.recording.source,
        "frames": rule.recording.frames.shape,
        **chosen(space, "neighbourhood", "symmetry", "states"),
        **chosen(rule, "boundary", "gap", "method", "name", "unique"),
        **chosen(found, "equations", "seconds"),
        "gates": None if circuit is None else circuit.gates,
        "looks_like": space.looks_like or None,
        "neighbours_read_hidden_states": not space.private if space.looks_like else None,
        "likely": None if found.likely is None else found.likely.summary,
        "table": table,
        "wrong_cells": rule.flipped,
        "next_frame": rule.next_frame(),
        "output": to,
    }
