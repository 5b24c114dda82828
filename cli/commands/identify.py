"""`dct identify`: finds the rule of a recorded automaton, and what is proved about it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.failures import note
from cli.interrupt import Interruption
from cli.options import AsJson, Output
from cli.progress import show_progress
from cli.terminal import output
from difflogic.examples.assumptions import Assumptions
from difflogic.system.declaration import EffortOption, Force, Operand, Opt, SecondsOption

if TYPE_CHECKING:
    from difflogic.identification.chance import Chances
    from difflogic.identification.identified import Identified

MOST_ENTRIES = 8
"""Entries of each kind that are printed; JSON has all."""
MOST_EQUATIONS = 60


def identify(
    recording: Annotated[
        Sequence[Path],
        Operand(
            "Frames (.npz, .gif, .png, several .rle or .cells), or pairs of frames (.json, .jsonl, "
            ".csv, .npz)",
            "RECORDING...",
        ),
    ],
    assumed: Assumptions,
    chance: Annotated[bool, Opt("Find how often each state follows, for a rule by chance")] = False,
    effort: EffortOption = "normal",
    time_limit: Annotated[SecondsOption | None, Opt("Time limit for the solver")] = None,
    to: Output = None,
    predict: Annotated[
        Path | None,
        Opt(
            "Save the frame after the last, or the query's result, with odds (.json, .npz)", "FILE"
        ),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Find the rule of a recorded automaton, and say whether another rule fits the recording, too.

    If every cell is seen and frames are one step apart, the rule's table is read off the frames.
    Gaps, unseen cells (NaN or -1), hidden states and an unknown boundary need a SAT solver. Wrong
    cells need a MaxSAT solver. Ctrl-C stops the solver: the best rule so far is printed and saved.

    What a recording does not decide gets odds: of pairs of frames, and with --radius auto, --gap
    auto or --symmetry auto, families of rules are weighed, and the likeliest is looked for.

    With --chance, several states may follow a neighbourhood, each with its probability. The file
    of such a rule is for dct simulate and dct render.
    """
    import difflogic
    from difflogic.system.errors import ConfigError, OutOfTimeError
    from difflogic.system.files import require_output

    if chance and effort != "normal":
        raise ConfigError("--chance and --effort: leave it out: there is no circuit to simplify")
    if predict is not None:
        if chance:
            raise ConfigError("--chance and --predict: simulate the rule from the last frame")
        require_output(predict, (".json", ".npz"), force)
        if predict == to:
            raise ConfigError(f"{to}: --output and --predict need two files")
    try:
        with (
            Interruption("this question", patience=None) as interruption,
            show_progress(stop_at_once=True),
        ):
            if chance:
                chances = difflogic.identify_chance(recording, assumed, time_limit=time_limit)
                return _show_chances(chances, to, force, as_json)
            found = difflogic.identify(recording, assumed, effort=effort, time_limit=time_limit)
    except OutOfTimeError as error:
        if not interruption.requested:
            raise
        note(f"no rule was found: {error}")
        interruption.check()
    if to is not None:
        found.save(to, force=force)
    if predict is not None:
        found.save_prediction(predict, force=force)
    if as_json:
        output.show_json(data(found, to))
    else:
        typer.echo(_text(found, assumed.hidden), nl=False)
        if to is not None:
            note(f"saved {to}{_pace(found)}")
        if predict is not None:
            note(f"saved {predict}")
    interruption.check()


def _show_chances(chances: Chances, to: Path | None, force: bool, as_json: bool) -> None:
    if to is not None:
        chances.save(to, force=force)
        note(f"saved {to}")
    cases = chances.counts.sum(axis=1)
    sure = (~chances.drawn & (cases > 0)).nonzero()[0]
    text = output.page(
        "chance",
        chances=chances,
        families=_shares(chances.families),
        entries=len(cases),
        drawn=chances.drawn.nonzero()[0].tolist(),
        sure=len(sure),
        rarest=chances.describe(sure[cases[sure].argmin()]) if len(sure) else "",
        never_seen=(cases == 0).sum(),
        most=MOST_ENTRIES,
    )
    output.show(chances, as_json, lambda _: typer.echo(text, nl=False))


def _text(found: Identified, hidden: int) -> str:
    from difflogic.examples.film import place
    from difflogic.identification.rules import describe_hidden

    rule = found.rule
    families = [] if found.weighed is None else found.weighed.summary
    shares = _shares(families)
    if len(families) > 1:
        times = families[0][1] / families[1][1]
        shares.append(f"the first is {times:.3g} times as likely as the next")
    unsure = {}
    for what, flags in {"open": rule.open, "never seen": rule.never_seen}.items():
        entries = flags.nonzero()[0].tolist()
        unsure[what] = ([_entry(found, each) for each in entries[:MOST_ENTRIES]], len(entries))
    return output.page(
        "identify",
        found=found,
        rule=rule,
        families=shares,
        never_seen=rule.never_seen.sum(),
        unsure=unsure,
        wrong=[] if rule.flipped is None else [*map(place, rule.flipped[:MOST_ENTRIES].tolist())],
        weakest=_weakest(found),
        hidden=hidden,
        frame=rule.next_frame() if rule.flipped is None else None,
        describe_hidden=describe_hidden,
        most_equations=MOST_EQUATIONS,
    )


def _shares(families: Sequence[tuple[str, float]]) -> list[str]:
    """Say which families are likely, and how likely."""
    return [f"{share:6.1%}  {what}" for what, share in families[:4] if share >= 0.001]


def _weakest(found: Identified) -> str:
    """Describe the entry that the fewest of its occurrences agree with."""
    rule = found.rule
    if rule.agreement is None:
        return ""
    seen = (~rule.never_seen).nonzero()[0]
    entry = int(seen[rule.agreement[seen].argmin()])
    percent = f"{100 * rule.agreement[entry]:.0f} %"
    shown = rule.space.describe(entry)
    return f"{shown} is followed by {rule.table[entry]} in {percent} of its occurrences"


def _pace(found: Identified) -> str:
    """Say how many steps of the circuit are one of the rule."""
    space = found.rule.space
    if space.drawable:
        return ""
    return f": cells pass states on, so {space.cells // 2} steps are one of the rule"


def _entry(found: Identified, entry: int) -> str:
    rule = found.rule
    text = rule.space.describe(entry)
    state = int(rule.complete[rule.space.examples[entry]])
    odds = found.entry_odds([entry])
    likely = "" if odds is None else f", by odds {min(odds[state, 0], 0.999):.1%} likely"
    if rule.never_seen[entry]:
        return f"{text} is filled with {rule.space.shown(state)}{likely}"
    if rule.second is None or rule.second[entry] in (rule.table[entry], -1):
        return f"{text} → {rule.space.shown(state)}{likely}"
    return f"{text} → {rule.table[entry]}{likely}, or {rule.second[entry]} in another rule"


def data(found: Identified, to: Path | None) -> dict[str, Any]:
    """Return the result for JSON."""
    from difflogic.system.json_values import chosen

    rule = found.rule
    circuit = found.circuit
    space = rule.space
    odds = found.entry_odds(slice(None))
    table = [
        {
            "entry": space.describe(entry),
            "next": space.shown(rule.complete[space.examples[entry]]),
            "known": known,
            "in_another_rule": None if rule.second is None else rule.second[entry],
            "agreement": None if rule.agreement is None else rule.agreement[entry],
            "odds": None if odds is None else odds[:, entry],
        }
        for entry, known in enumerate(rule.known)
    ]
    return {
        "recording": rule.recording.source,
        "read": rule.recording.told,
        "frames": rule.recording.frames.shape,
        **chosen(space, "neighbourhood", "symmetry", "states"),
        **chosen(rule, "boundary", "gap", "method", "name", "renamed", "unique"),
        **chosen(found, "equations", "seconds"),
        **(chosen(rule, "corners", "properties") if hasattr(rule, "corners") else {}),
        "gates": None if circuit is None else circuit.gates,
        "memory": space.memory,
        "reversible": rule.reversible if space.memory else None,
        "looks_like": space.looks_like or None,
        "neighbours_read_hidden_states": not space.private if space.looks_like else None,
        "likely": None if found.likely is None else found.likely.summary,
        "table": table,
        "wrong_cells": rule.flipped,
        "next_frame": rule.next_frame(),
        "output": to,
    }
