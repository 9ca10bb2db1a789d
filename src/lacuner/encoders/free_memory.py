"""How much memory this process may still take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_MEMINFO, _STATM = Path("/proc/meminfo"), Path("/proc/self/statm")
_CONTAINERS = (  # the limit and the use of cgroups, version 2 and version 1
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ),
)
_STAT, _OF_FILES = "memory.stat", ("inactive_file", "active_file")


def free_memory() -> int | None:
    """Bytes that the machine, the container and the limits of the process leave, whichever is
    least; None where none of them tells.
    """
    return min([*_of_the_machine(), *_of_the_container(), *_of_the_process()], default=None)


def _of_the_machine() -> Iterator[int]:
    with suppress(OSError, StopIteration, ValueError):
        lines = _MEMINFO.read_text("ascii").splitlines()
        line = next(line for line in lines if line.startswith("MemAvailable:"))
        yield 1024 * int(line.split()[1])


def _of_the_container() -> Iterator[int]:
    for limit, use in _CONTAINERS:
        with suppress(OSError, ValueError):  # "max" is no number: no limit
            most, used = int(limit.read_text("ascii")), int(use.read_text("ascii"))
            yield max(0, most - max(0, used - _reclaimable(use.with_name(_STAT))))


def _reclaimable(stat: Path) -> int:
    """Bytes of files that a container holds, and gives back when memory is wanted."""
    with suppress(OSError, ValueError):
        fields = (line.split() for line in stat.read_text("ascii").splitlines())
        counts = {name: int(count) for name, count in fields}
        # Version 1 counts the groups within only in the totals.
        return sum(counts.get(f"total_{name}", counts.get(name, 0)) for name in _OF_FILES)
    return 0


def _of_the_process() -> Iterator[int]:
    with suppress(ImportError, OSError, ValueError):  # there is no resource on Windows
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            pages = int(_STATM.read_text("ascii").split()[0])
            yield max(0, limit - pages * resource.getpagesize())


def in_bytes(count: int) -> str:
    """A size for people, such as `1.5 GB` or `40 MB`."""
    for name, unit in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= unit:
            return f"{count / unit:.{int(count < 10 * unit)}f} {name}"
    return f"{count} bytes"
