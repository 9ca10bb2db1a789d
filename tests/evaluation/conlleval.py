"""The counting of `conlleval`, written anew from its documentation, to compare scores with.

The script walks over words with two columns of tags. A chunk begins at a B, at an I after O, and
wherever the type changes; it ends before the next B or O, and wherever the type changes. A chunk is
correct when gold and guess begin at one word with one type, and end before one word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

Counts = dict[str, tuple[int, int, int]]  # label: correct, guessed, gold
_OUTSIDE = ("O", "")


def _split(tag: str) -> tuple[str, str]:
    prefix, _, kind = tag.partition("-")
    return prefix, kind


def _ends(before: tuple[str, str], now: tuple[str, str]) -> bool:
    return before[0] != "O" and (now[0] in "BO" or before[1] != now[1])


def _begins(before: tuple[str, str], now: tuple[str, str]) -> bool:
    return now[0] != "O" and (now[0] == "B" or before[0] == "O" or before[1] != now[1])


def count_chunks(rows: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Counts:
    """Counts `(gold tags, guessed tags)` of sentences, each tag being O, B-… or I-…."""
    correct: Counter[str] = Counter()
    guessed: Counter[str] = Counter()
    gold: Counter[str] = Counter()
    for true_tags, given_tags in rows:
        in_correct = False
        true_before = given_before = _OUTSIDE
        # A line of O after each sentence closes what is open, as the script's empty line does.
        for true_tag, given_tag in zip([*true_tags, "O"], [*given_tags, "O"], strict=True):
            true, given = _split(true_tag), _split(given_tag)
            if in_correct:
                true_ends, given_ends = _ends(true_before, true), _ends(given_before, given)
                if true_ends and given_ends:
                    correct[true_before[1]] += 1
                    in_correct = False
                elif true_ends != given_ends:
                    in_correct = False
            true_begins, given_begins = _begins(true_before, true), _begins(given_before, given)
            if true_begins and given_begins and true[1] == given[1]:
                in_correct = True
            gold[true[1]] += true_begins
            guessed[given[1]] += given_begins
            true_before, given_before = true, given
    labels = {label for label in (*gold, *guessed) if gold[label] or guessed[label]}
    return {label: (correct[label], guessed[label], gold[label]) for label in labels}
