"""What labelling found, entry by entry, so that a person can prune the dictionary.

Counts are kept by form and by unit, in arrays as long as the dictionary: their size does not
depend on the corpus.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacuner.labelling.gazetteer import Finds, Gazetteer
from lacuner.labelling.meanings import VARIANTS, Flags, Ints

# A name with a capital whose word is seen this often, at least half of it in lower case, is
# called a common word.
_LEAST_SEEN = 3
_LOWER_SHARE = 0.5
# A single entry that makes up more of all words than this is called very frequent.
_FREQUENT_SHARE = 0.001
_LEAST_FREQUENT = 20


@dataclass(frozen=True)
class EntryCount:
    """An entry and how often it was labelled; `found` counts those lost to longer names too."""

    name: str
    label: str
    dictionary: str
    labelled: int
    found: int

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "name": self.name,
            "label": self.label,
            "dictionary": self.dictionary,
            "labelled": self.labelled,
            "found": self.found,
        }


@dataclass(frozen=True)
class Suspect:
    """An entry that a person should look at, and why."""

    entry: EntryCount
    reasons: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**self.entry.as_dict(), "reasons": list(self.reasons)}


class LabelReport:
    """Counts while sentences are labelled; tells afterwards.

    Args:
        gazetteer: The names that are looked for.
    """

    def __init__(self, gazetteer: Gazetteer) -> None:
        self.gazetteer = gazetteer
        forms = gazetteer.tables.meanings.winner.shape[1]
        self.sentences = self.words = self.blocked = self.no_phrase = 0
        self._found = np.zeros((VARIANTS, forms), np.int64)
        self._kept = np.zeros((VARIANTS, forms), np.int64)
        self._seen = np.zeros(2 * gazetteer.matcher.trie.width, np.int64)

    def add(
        self,
        codes: Ints,
        sentences: int,
        finds: Finds,
        kept: Finds,
        *,
        blocked: int,
        no_phrase: int = 0,
    ) -> None:
        """Counts a chunk.

        Args:
            codes: The codes of its tokens, an empty token after each sentence.
            sentences: How many sentences it has.
            finds: All names in it.
            kept: Those that win over what they overlap.
            blocked: How many were left out because their words were known already.
            no_phrase: How many were left out before because they are no candidate phrase.
        """
        self.sentences += sentences
        self.words += len(codes) - sentences
        self.blocked += blocked
        self.no_phrase += no_phrase
        np.add.at(self._found, (finds.variant, finds.form), 1)
        np.add.at(self._kept, (kept.variant, kept.form), 1)
        np.add.at(self._seen, codes[codes > 1], 1)

    @property
    def _is_open(self) -> Flags:
        """Forms whose label is not settled. [variants, forms]"""
        ambiguous = self.gazetteer.tables.meanings.ambiguous
        return ambiguous & (self.gazetteer.options.ambiguous != "first")

    @property
    def labelled(self) -> int:
        """How many entities were labelled."""
        return int(self._kept[~self._is_open].sum())

    @property
    def ambiguous(self) -> int:
        """How many finds had several labels, and were recorded so or skipped."""
        return int(self._kept[self._is_open].sum())

    def by_label(self) -> dict[str, int]:
        """Entities of each label, most frequent first."""
        meanings = self.gazetteer.tables.meanings
        settled = (meanings.winner >= 0) & ~self._is_open
        counts = np.zeros(len(self.gazetteer.labels), np.int64)
        np.add.at(counts, meanings.label[meanings.winner[settled]], self._kept[settled])
        pairs = zip(self.gazetteer.labels, counts.tolist(), strict=True)
        return dict(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))

    def by_dictionary(self) -> dict[str, dict[str, int]]:
        """For each file: its entries, how many of them were labelled, and how often."""
        labelled, _ = self._entry_counts()
        where = self.gazetteer.tables.entry_dictionary
        result = {}
        for number, dictionary in enumerate(self.gazetteer.dictionaries):
            counts = labelled[where == number]
            result[dictionary] = {
                "entries": len(counts),
                "entries_labelled": int((counts > 0).sum()),
                "labelled": int(counts.sum()),
            }
        return result

    def most_frequent(self, limit: int | None = None) -> list[EntryCount]:
        """The entries labelled most often, most frequent first."""
        labelled, found = self._entry_counts()
        labels = self._entry_labels()
        order = np.argsort(-labelled, kind="stable")[: np.count_nonzero(labelled)]
        return [self._entry(place, labels, labelled, found) for place in order[:limit].tolist()]

    def never_found(self, limit: int) -> tuple[int, list[str]]:
        """How many entries do not occur in the text, and the first of them."""
        _, found = self._entry_counts()
        places = np.flatnonzero(found == 0)
        return len(places), [self.gazetteer.source(place) for place in places[:limit].tolist()]

    def suspects(self) -> list[Suspect]:
        """Entries that were found and look as if they were no names, most frequent first."""
        labelled, found = self._entry_counts()
        labels, other = self._entry_labels(), self._other_labels()
        suspects = []
        for place in np.argsort(-found, kind="stable")[: np.count_nonzero(found)].tolist():
            entry = self._entry(place, labels, labelled, found)
            reasons = [*_reasons_of_form(entry.name), *self._reasons_of_use(place, entry)]
            if place in other:
                reasons.append(f"also {', '.join(sorted(other[place]))}")
            if reasons:
                suspects.append(Suspect(entry, tuple(reasons)))
        return suspects

    def as_dict(self, *, examples: int = 1000) -> dict[str, Any]:
        """Everything, for JSON; of long lists the first `examples`."""
        unseen, sample = self.never_found(examples)
        suspects = self.suspects()
        left_out = self.gazetteer.left_out
        return {
            "sentences": self.sentences,
            "words": self.words,
            "names": len(self.gazetteer),
            "names_left_out": left_out._asdict(),
            "entities": self.labelled,
            "ambiguous": self.ambiguous,
            "ambiguous_names_are": self.gazetteer.options.ambiguous,
            "blocked_by_known_labels": self.blocked,
            "no_candidate_phrase": self.no_phrase,
            "by_label": self.by_label(),
            "by_dictionary": self.by_dictionary(),
            "by_entry": [entry.as_dict() for entry in self.most_frequent(examples)],
            "never_found": {"count": unseen, "first": sample},
            "suspicious": {
                "count": len(suspects),
                "first": [suspect.as_dict() for suspect in suspects[:examples]],
            },
        }

    def _entry_counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How often each entry was labelled, and found."""
        meanings, ambiguous = self.gazetteer.tables.meanings, self.gazetteer.options.ambiguous
        kept = np.where(self._is_open, 0, self._kept) if ambiguous == "skip" else self._kept
        counts = []
        for forms in (kept, self._found):
            credit = meanings.credited(forms, winners_only=ambiguous == "first")
            by_entry = np.zeros(len(self.gazetteer), np.int64)
            np.add.at(by_entry, meanings.entry, credit)
            counts.append(by_entry)
        return counts[0], counts[1]

    def _entry_labels(self) -> Ints:
        meanings = self.gazetteer.tables.meanings
        labels = np.zeros(len(self.gazetteer), np.int32)
        labels[meanings.entry] = meanings.label
        return labels

    def _other_labels(self) -> dict[int, set[str]]:
        """For entries of ambiguous forms that were found, the labels of their rivals."""
        meanings = self.gazetteer.tables.meanings
        other: dict[int, set[str]] = {}
        for variant, form in np.argwhere(meanings.ambiguous & (self._found > 0)).tolist():
            rivals = meanings.rivals(form, variant)
            labels = {place: self.gazetteer.labels[meanings.label[place]] for place in rivals}
            for place in rivals:
                rest = set(labels.values()) - {labels[place]}
                other.setdefault(int(meanings.entry[place]), set()).update(rest)
        return other

    def _entry(
        self, place: int, labels: Ints, labelled: NDArray[np.int64], found: NDArray[np.int64]
    ) -> EntryCount:
        tables = self.gazetteer.tables
        return EntryCount(
            tables.entries[place],
            self.gazetteer.labels[labels[place]],
            self.gazetteer.dictionaries[tables.entry_dictionary[place]],
            int(labelled[place]),
            int(found[place]),
        )

    def _reasons_of_use(self, place: int, entry: EntryCount) -> list[str]:
        reasons = []
        code = int(self.gazetteer.tables.lower_code[place])
        if code >= 0:
            lower = int(self._seen[code])
            if self.gazetteer.options.case == "exact":
                seen = lower + entry.found
            else:
                seen = lower + int(self._seen[code + 1])
            if seen >= _LEAST_SEEN and lower >= _LOWER_SHARE * seen:
                reasons.append(f"common word: lower case {lower:,} of {seen:,} times")
        if entry.found >= max(_LEAST_FREQUENT, _FREQUENT_SHARE * self.words):
            reasons.append(f"very frequent: {entry.found / self.words:.2%} of all words")
        return reasons


def _reasons_of_form(name: str) -> list[str]:
    seen = "".join(name.split())
    if len(seen) == 1:
        return ["single character"]
    if not any(character.isalpha() for character in seen):
        return ["no letter in it"]
    if len(seen) == 2 and seen.isascii():
        return ["two letters"]
    return []
