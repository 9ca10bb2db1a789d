"""The head of an unknown file as lines, for formats that are known by how their lines look."""

from __future__ import annotations

HEAD = 1 << 16


def head_lines(head: bytes) -> list[str]:
    """The whole lines of the head of a file, whatever its encoding.

    Bytes that are no UTF-8 become replacement characters: a Latin-1 file is still known for what
    it is, so that its reader can say what is wrong with it.
    """
    encoding = "utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    lines = head.decode(encoding, errors="replace").split("\n")
    if len(head) >= HEAD and len(lines) > 1:
        lines.pop()  # cut anywhere
    return [line.rstrip("\r") for line in lines]
