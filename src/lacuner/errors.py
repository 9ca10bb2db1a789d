"""Every error that Lacuner raises on purpose: a sentence for the person who meets it.

The command line turns them into a message and an exit code; no other exception should reach a user.
"""

from __future__ import annotations

from pathlib import Path


class LacunerError(Exception):
    """Something a person can put right. The command line exits with `exit_code`."""

    exit_code = 1


class UsageError(LacunerError):
    """The call itself was wrong: an option, a combination of options, a missing extra."""

    exit_code = 2


class InvalidSentence(LacunerError, ValueError):
    """A sentence that contradicts itself, for instance a span that ends outside of it."""


class DataError(LacunerError):
    """A file does not hold what it should.

    Args:
        path: The file.
        what: What was wrong, as a sentence without a full stop.
        line: The line where it was found, from 1; None when it concerns the whole file.
        right: What would be right, as a sentence without a full stop.

    Example:
        >>> print(DataError("a.conll", "tag 'X' is unknown", line=3, right="Tags are O, B-PER, …"))
        a.conll, line 3: tag 'X' is unknown. Tags are O, B-PER, ….
    """

    def __init__(
        self, path: str | Path, what: str, *, line: int | None = None, right: str | None = None
    ) -> None:
        self.path, self.what, self.line, self.right = Path(path), what, line, right
        place = f"{path}, line {line}" if line is not None else f"{path}"
        super().__init__(f"{place}: {what}." + (f" {right}." if right else ""))


class OutputExists(LacunerError):
    """The output is there already, and nobody said that it may be replaced."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(
            f"{path} exists already. Choose another name, or say --overwrite "
            "(in Python: overwrite=True)."
        )


class MissingExtra(UsageError):
    """A part of Lacuner that needs a package which is not installed."""

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(f"{purpose} needs an extra: pip install 'lacuner[{extra}]'.")


class EndpointError(LacunerError):
    """A server that is asked for data is away, refuses, or answers something else."""

    def __init__(self, url: str, what: str) -> None:
        super().__init__(f"{url}: {what}.")
