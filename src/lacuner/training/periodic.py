"""What a training learns about the whole corpus every so many steps, and keeps through kills.

An objective may need the model's view of all sentences: which labels it contradicts, what it would
label itself. Such a view is a file of the stage, made after every so many steps. A saved state goes
on with the last view before it, so views are removed only when no saved state needs them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lacuner.errors import UsageError
from lacuner.training.processes import on_main
from lacuner.training.run_folder import Stage
from lacuner.training.state import saved_step

_RENEWALS = 6  # of a view in a training, where nobody says how often


@dataclass(frozen=True)
class Renewal:
    """The view of the corpus was renewed."""

    step: int
    counts: dict[str, int] = field(default_factory=dict)

    def as_row(self) -> dict[str, Any]:
        """For the metrics."""
        return {"step": self.step, "renewed": True, **self.counts}


class PeriodicView:
    """A file about the whole corpus that is made anew every so many steps.

    Args:
        stage: Where the files are kept.
        interval: Steps between two of them; the first is made before the first step. None makes
            no other.
        make: Writes the file, and returns what there is to count in it. It is told the step, and
            called in the main process alone.
        use: Told which file counts from now on; called in all processes.
    """

    def __init__(
        self,
        stage: Stage,
        interval: int | None,
        make: Callable[[Path, int], dict[str, int]],
        use: Callable[[Path], None],
    ) -> None:
        self._stage = stage
        self._interval = interval
        self._make, self._use = make, use

    def begin(self) -> None:
        """Makes the first view, or brings back the one that a resumed training goes on with."""
        step = on_main(lambda: saved_step(self._stage))
        if step == 0:
            on_main(lambda: self._make(self.path(0), 0))
        self._use(self.path(self._before(step)))

    def after(self, step: int) -> Renewal | None:
        """Makes a new view where one is due after a step, and forgets those of the past."""
        if self._interval is None or step % self._interval:
            return None
        counts = on_main(lambda: self._renew(step))
        self._use(self.path(step))
        return Renewal(step, counts)

    def path(self, step: int) -> Path:
        """The view that was made after a step."""
        return self._stage.folder / f"view-{step}.npy"

    def clear(self) -> None:
        """Removes all views: the training is over."""
        on_main(lambda: self._remove(lambda step: True))

    def _renew(self, step: int) -> dict[str, int]:
        counts = self._make(self.path(step), step)
        # A kill from now on resumes from the state that is saved, with the view that it had. The
        # first one stays: objectives may compare with how it all began.
        needed = self._before(saved_step(self._stage))
        self._remove(lambda made: 0 < made < needed)
        return counts

    def _before(self, step: int) -> int:
        return 0 if self._interval is None else step - step % self._interval

    def _remove(self, which: Callable[[int], bool]) -> None:
        for path in self._stage.folder.glob("view-*.npy"):
            if which(int(path.stem.removeprefix("view-"))):
                path.unlink(missing_ok=True)


def renewal_interval(interval: int | None, steps: int) -> int:
    """The interval that is asked for; without one, such that a training has at most six renewals.

    A seventh, with the last steps, would cost a look at the whole corpus and teach nothing.

    Raises:
        UsageError: No such interval.
    """
    if interval is None:
        return steps // (_RENEWALS + 1) + 1
    if interval < 1:
        raise UsageError(f"An interval is at least 1 step, not {interval}.")
    return interval
