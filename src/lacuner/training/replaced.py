"""The folder that a run takes the place of: it is kept until the new run has learnt something."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lacuner.training.processes import is_main


class Replaced:
    """What was in a folder before.

    Args:
        folder: The folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._aside: Path | None = None

    def put_aside(self) -> None:
        """Makes room for something new."""
        aside = self._folder.with_name(f".{self._folder.name}.replaced")
        shutil.rmtree(aside, ignore_errors=True)
        self._folder.rename(aside)
        self._aside = aside

    @contextmanager
    def given_back_on_failure(self) -> Iterator[None]:
        """Whatever fails within this gives it back, unless it was let go of."""
        try:
            yield
        except BaseException:
            if is_main() and self._aside is not None:
                shutil.rmtree(self._folder)
                self._aside.rename(self._folder)
                self._aside = None
            raise
        self.let_go()

    def let_go(self) -> None:
        """Removes it."""
        if is_main() and self._aside is not None:
            shutil.rmtree(self._aside, ignore_errors=True)
            self._aside = None
