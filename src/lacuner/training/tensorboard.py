"""Events for TensorBoard, for those who look there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lacuner.errors import MissingExtra


class TensorBoard:
    """A listener that writes every number of the metrics.

    Raises:
        MissingExtra: TensorBoard is not installed.
    """

    def __init__(self, folder: Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise MissingExtra("TensorBoard", "tensorboard") from None
        self._folder = folder
        self._make = SummaryWriter
        self._writer: Any = None

    def __call__(self, stage: str, event: Any) -> None:
        """Takes an event of the loop."""
        row = event.as_row()
        if row is None:
            return
        if self._writer is None:  # only now the run folder surely stands
            self._writer = self._make(str(self._folder))
        for name, value in row.items():
            if name != "step" and isinstance(value, int | float):
                self._writer.add_scalar(f"{stage}/{name}", value, row["step"])
        self._writer.flush()
