"""Raw text to words and sentences, in any language, with character offsets.

Words are cut by the Rust pre-tokeniser of `tokenizers`: runs of letters, marks and digits are
words; every punctuation mark and symbol is a word of its own; so is every character of a script
that is written without spaces. A span of characters that a person would call a name therefore
nearly always begins and ends where a word does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from lacuner.corpus.sentence import Sentence, Span

if TYPE_CHECKING:
    from tokenizers.pre_tokenizers import PreTokenizer

# Scripts written without spaces, a character (with its marks) being the smallest unit.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\u30FC"
_WORD = (
    r"\d+(?:[.,]\d+)+(?![\p{L}\p{M}\d])"  # 1,250.75
    rf"|[{_UNSPACED}&&[^\p{{P}}\p{{S}}\p{{M}}]]\p{{M}}*"
    rf"|[^\s\p{{C}}\p{{P}}\p{{S}}{_UNSPACED}]"
    rf"[[^\s\p{{C}}\p{{P}}\p{{S}}{_UNSPACED}]\u200C\u200D]*"  # joiners stay inside a word
    # A picture is one word with its skin and what is joined to it; so are both halves of a flag.
    r"|[\x{1F1E6}-\x{1F1FF}]{2}"
    r"|\p{So}[\p{M}\x{1F3FB}-\x{1F3FF}]*(?:\u200D\p{So}[\p{M}\x{1F3FB}-\x{1F3FF}]*)*"
    r"|[^\s\p{C}]\p{M}*"
)

# The same for ASCII alone, where the engine of Python is twice as fast.
_ASCII_WORD = re.compile(r"[0-9]+(?:[.,][0-9]+)+(?![A-Za-z0-9])|[A-Za-z0-9]+|[!-~]")

# A sentence ends at these marks, closing quotes included, before white space or (CJK) anything.
_WIDE_MARKS = "。！？｡"
# Latin; Arabic question mark and full stop; danda; Ethiopic, Armenian, Burmese, Khmer.
_MARKS = ".!?…\u061f\u06d4\u0964\u0965\u1362\u0589\u104b\u17d4"
_BREAKS = "\n\r\v\f\x85\u2028\u2029"
_END = re.compile(
    rf"""(?P<wide>[{_WIDE_MARKS}]+[”’」』）】》"']*)"""
    rf"""|(?P<mark>[{_MARKS}]+)["'”’»)\]]*"""
    rf"""|(?P<break>[{_BREAKS}]+)"""
)
_END_BEGINS = re.compile(f"[{_WIDE_MARKS}{_MARKS}{_BREAKS}]")
_BREAK = re.compile(f"[{_BREAKS}]")
_SPACE = re.compile(r"\s*")
_OPENING = re.compile(r"""[\s"'“‘«(\[]*""")
# A full stop after these does not end a sentence. Titles and the like, of several languages.
_ABBREVIATION_LIST = """
    mr mrs ms dr prof st sr jr rev gen col lt sgt capt cmdr gov sen rep hon pres mt ft no nos vs
    inc ltd co corp bros etc e.g i.e cf al ca approx dept est fig vol pp ed eds jan feb mar apr
    jun jul aug sep sept oct nov dec a.m p.m u.s u.k u.n d.c ph.d b.a m.a
    hr fr bzw z.b d.h usw nr str mme mlle ing sra srta dra ud uds dott sig p.ej
"""
_ABBREVIATIONS = frozenset(_ABBREVIATION_LIST.split())


@cache
def _pre_tokenizer() -> PreTokenizer:
    from tokenizers import Regex
    from tokenizers.pre_tokenizers import Split

    return Split(Regex(_WORD), "removed", invert=True)


def split_words(text: str) -> list[tuple[str, Span]]:
    """The words of a text, each with its characters' place.

    Example:
        >>> [word for word, _ in split_words("Dr. Ng's 3.5 km to 東京")]
        ['Dr', '.', 'Ng', "'", 's', '3.5', 'km', 'to', '東', '京']
    """
    tokens, offsets = words_and_offsets(text)
    return list(zip(tokens, offsets, strict=True))


def words_and_offsets(text: str) -> tuple[tuple[str, ...], tuple[Span, ...]]:
    """The words of a text, and where each stands: `split_words` as a sentence keeps them."""
    if text.isascii():
        offsets = tuple(map(re.Match.span, _ASCII_WORD.finditer(text)))
        return tuple([text[begin:end] for begin, end in offsets]), offsets
    found = _pre_tokenizer().pre_tokenize_str(text)
    return tuple([word for word, _ in found]), tuple([place for _, place in found])


def words_of(text: str) -> list[str]:
    """The words of a text without their places, which is faster.

    Example:
        >>> words_of("Dr. Ng's")
        ['Dr', '.', 'Ng', "'", 's']
    """
    if text.isascii():
        return _ASCII_WORD.findall(text)
    return [word for word, _ in _pre_tokenizer().pre_tokenize_str(text)]


def split_sentences(text: str) -> list[Span]:
    """Where the sentences of a text stand; each runs up to the next, the last to the end.

    A line break ends a sentence. A full stop does not after a known abbreviation or an initial,
    and no mark does before a lower-case letter.

    Example:
        >>> [("Dr. Ng left. He won!"[a:b]) for a, b in split_sentences("Dr. Ng left. He won!")]
        ['Dr. Ng left. ', 'He won!']
    """
    begin = _past_space(text, 0)
    if begin == len(text):
        return []
    begins = [0]
    for match in _possible_ends(text, begin):
        if match.end() <= begin:  # a line break within white space that is passed already
            continue
        if match["mark"] and not _ends_sentence(text, begin, match):
            continue
        begin = _past_space(text, match.end())
        if begin == len(text):
            break
        begins.append(begin)
    return list(pairwise([*begins, len(text)]))


def _possible_ends(text: str, begin: int) -> Iterator[re.Match[str]]:
    """All that `_END.finditer` finds; one set of characters is searched five times as fast."""
    mark = _END_BEGINS.search(text, begin)
    while mark:
        match = _END.match(text, mark.start())
        if match:
            yield match
        mark = _END_BEGINS.search(text, (match or mark).end())


def _past_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place


def _ends_sentence(text: str, begin: int, match: re.Match[str]) -> bool:
    if not text[match.end() : match.end() + 1].isspace():
        return False
    after = _OPENING.match(text, match.end())
    follow = text[after.end() : after.end() + 1] if after else ""
    if not follow:
        return True
    if follow.islower():
        return False
    quoted = match.end() > match.end("mark")
    return match["mark"] != "." or quoted or not _ends_with_abbreviation(text, begin, match)


def _ends_with_abbreviation(text: str, begin: int, match: re.Match[str]) -> bool:
    word = text[max(begin, match.start() - 20) : match.start()].rsplit(maxsplit=1)[-1:]
    if not word or text[match.start() - 1].isspace():
        return False
    last = word[0].strip("\"'“‘«([").lower()
    initial = len(last) == 1 and last.isalpha() and last != "i"
    return initial or last in _ABBREVIATIONS


def sentences_of_text(
    text: str,
    document: str,
    *,
    split: bool = True,
    wrapped: bool = False,
    complete: bool = False,
) -> Iterator[Sentence]:
    """The sentences of a document, without labels, ids `<document>.1`, `<document>.2`, …

    Args:
        text: The document.
        document: Its name.
        split: Cut it into sentences; otherwise it is one.
        wrapped: Its lines were broken to fit a width; a line break ends no sentence.
        complete: Somebody vouches that there is no entity in it.
    """
    flat = _BREAK.sub(" ", text) if wrapped else text
    spans = split_sentences(flat) if split else [(0, len(text))]
    cut = ((begin, *words_and_offsets(text[begin:end])) for begin, end in spans)
    found = [part for part in cut if part[1]]
    for number, (place, tokens, offsets) in enumerate(found, start=1):
        # What holds no word, such as a lone zero-width space, stays with the sentence beside it.
        begin = place if number > 1 else 0
        end = found[number][0] if number < len(found) else len(text)
        if place > begin:
            offsets = tuple((a + place - begin, b + place - begin) for a, b in offsets)
        yield Sentence(
            f"{document}.{number}",
            tokens,
            complete=complete,
            text=text[begin:end],
            offsets=offsets,
            document=document,
            begin=begin,
        )
