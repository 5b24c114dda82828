"""Rich's progress bars, between other lines. Imported when one is drawn, since rich is slow."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.control import Control
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Column

LEAST_CHARACTERS = 8
"""Characters of a bar where its words need the rest of the line."""


class Bars(Progress):
    """Bars on stderr, drawn by `show` alone; `around` puts other lines around their table."""

    def __init__(self, around: Callable[[Any], Iterable[Any]], stays: bool) -> None:
        self._around: Callable[[Any], Iterable[Any]] = lambda table: ()
        self._bar = BarColumn(LEAST_CHARACTERS)
        super().__init__(
            TextColumn("{task.description}", markup=False),
            self._bar,
            TextColumn("{task.fields[words]}", markup=False, table_column=Column()),
            console=Console(stderr=True, highlight=False),
            auto_refresh=False,
            redirect_stdout=False,
            transient=not stays,
            get_time=lambda: time.perf_counter(),
        )
        self._around = around

    def get_renderables(self) -> Iterable[Any]:
        yield from self._around(self.make_tasks_table(self.tasks))

    def show(self, bars: Sequence[tuple[str, float, float | None, str]]) -> None:
        """Draw bars in place of the last ones: name, done, total and words of each."""
        taken = max(len(bar[0]) for bar in bars) + max(len(bar[3]) for bar in bars)
        self._bar.bar_width = max(self.console.width - taken - 2, LEAST_CHARACTERS)
        for task in self.tasks[len(bars) :]:
            self.remove_task(task.id)
        for index, (what, done, total, words) in enumerate(bars):
            if index == len(self.tasks):
                self.add_task(what, total=total, words=words)
            task = self.tasks[index]
            task.total = total
            self.update(task.id, completed=done, description=what, words=words)
        self.refresh()

    def clear(self) -> None:
        """Empty the window, where a frame of another width would leave traces."""
        self.console.control(Control.clear(), Control.home())
