"""What a format is: a name, how to know it, how to read it, how to write it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lacuner.corpus.findings import Findings
from lacuner.corpus.sentence import Sentence
from lacuner.errors import DataError, InvalidSentence

MAX_WORDS = 10_000


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How to read, for all formats; each takes what concerns it.

    Attributes:
        complete: Somebody vouches that what is not labelled is no entity.
        scheme: Tag scheme: iob1, bio, bioes, bilou, bmes or io; None finds out.
        repair: Mend tags that break their scheme instead of refusing them.
        word_column: Column of the words, from 0; negative counts from the end.
        tag_column: Column of the tags, likewise.
        text_field: JSON field that holds the text.
        label_file: The file of tags that belongs to a text file; None finds it by its name.
        split_sentences: Cut texts into sentences; otherwise a text is one sentence.
        wrapped: In plain text, lines of a paragraph belong together and a blank line ends it.
        max_words: More words in one sentence are refused: a separator is missing somewhere.
    """

    complete: bool = False
    scheme: str | None = None
    repair: bool = False
    word_column: int = 0
    tag_column: int = -1
    text_field: str = "text"
    label_file: Path | None = None
    split_sentences: bool = True
    wrapped: bool = False
    max_words: int = MAX_WORDS


@dataclass(frozen=True, kw_only=True)
class WriteOptions:
    """How to write, for all formats; each takes what concerns it.

    Attributes:
        labels: All labels of the corpus, where known.
        scheme: Tag scheme to write.
        unknown: Tag for words of which nothing is known, such as UNK; None writes them as O.
        folder: Where the output will stand, for formats that share a file with their neighbours.
    """

    labels: tuple[str, ...] = ()
    scheme: str = "bio"
    unknown: str | None = None
    folder: Path | None = None


@dataclass(frozen=True, kw_only=True)
class Format:
    """One file format.

    Attributes:
        name: What `--from` and `--to` take.
        title: One line for people.
        suffixes: File endings, the first one for writing.
        recognise: Is this such a file? Gets the path and its first 64 KiB (empty for a folder).
        read: Yields the sentences one by one, never the whole file at once where avoidable.
        write: Writes sentences to a path that does not exist yet; files that belong to it are
            written beside it and move with it.
        extra: The extra to install, if it needs one.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    recognise: Callable[[Path, bytes], bool]
    read: Callable[[Path, ReadOptions, Findings], Iterator[Sentence]]
    write: Callable[[Iterable[Sentence], Path, WriteOptions, Findings], None] | None = None
    extra: str | None = None


@contextmanager
def located(path: Path, line: int | None, *, record: int | None = None) -> Iterator[None]:
    """Says in which file and line (or record) a sentence was found that contradicts itself."""
    try:
        yield
    except InvalidSentence as error:
        what = str(error) if record is None else f"record {record}: {error}"
        raise DataError(path, what, line=line) from None


def check_length(words: int, path: Path, line: int | None, options: ReadOptions) -> None:
    """Refuses sentences so long that a separator must be missing.

    Raises:
        DataError: More than `options.max_words`.
    """
    if words > options.max_words:
        raise DataError(
            path,
            f"a sentence of {words:,} words, more than {options.max_words:,}",
            line=line,
            right="Put an empty line between sentences (in columns) or a line break (in text), "
            "or raise --max-words",
        )
