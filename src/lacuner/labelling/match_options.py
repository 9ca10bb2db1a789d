"""How names are compared with text: every choice of `lacuner label`, checked in one place."""

from __future__ import annotations

from dataclasses import dataclass

from lacuner.errors import UsageError
from lacuner.suggestions import unknown_name

CASES = ("exact", "ignore", "smart")
NORMAL_FORMS = ("NFC", "NFKC", "none")
UNITS = ("auto", "words", "characters")
OVERLAPS = ("leftmost", "longest", "all")
AMBIGUITIES = ("both", "first", "skip")


@dataclass(frozen=True, kw_only=True)
class MatchOptions:
    """How names are compared with text.

    Attributes:
        case: `exact`; `ignore`; or `smart`, which ignores case but lets only lower-case names
            match text without a capital.
        normal_form: `NFC` (composed and decomposed letters are the same), `NFKC` (so are
            ligatures, full-width letters and the like) or `none`.
        units: What a name is made of: `words`, or `characters` for corpora whose tokens are
            characters; `auto` looks at the first sentences.
        min_length: Names of fewer characters, spaces not counted, are left out.
        stop: Names to leave out, compared as names are compared with text.
        overlap: `leftmost` keeps the longest name at each place, read from the left; `longest`
            keeps longer names before shorter ones wherever they stand; `all` keeps all.
        ambiguous: What becomes of a name with several labels: `both` records them as an
            ambiguity, `first` takes the label of the first dictionary, `skip` labels nothing.

    Raises:
        UsageError: A choice that does not exist.
    """

    case: str = "exact"
    normal_form: str = "NFC"
    units: str = "auto"
    min_length: int = 1
    stop: tuple[str, ...] = ()
    overlap: str = "leftmost"
    ambiguous: str = "both"

    @property
    def ignores_case(self) -> bool:
        """Whether names are compared in lower case."""
        return self.case != "exact"

    def __post_init__(self) -> None:
        for kind, value, known in (
            ("case mode", self.case, CASES),
            ("normal form", self.normal_form, NORMAL_FORMS),
            ("unit", self.units, UNITS),
            ("way with overlaps", self.overlap, OVERLAPS),
            ("way with ambiguous names", self.ambiguous, AMBIGUITIES),
        ):
            if value not in known:
                raise UsageError(unknown_name(kind, value, known))
        if self.min_length < 1:
            raise UsageError(f"The minimal length is 1 or more; {self.min_length} is not.")
