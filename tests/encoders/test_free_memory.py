"""What is left of memory: the least of what machine, container and process have."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lacuner.encoders import free_memory as module
from lacuner.encoders.free_memory import free_memory

pytestmark = pytest.mark.skipif(not Path("/proc/meminfo").exists(), reason="another system")


def test_is_known_on_linux() -> None:
    found = free_memory()
    assert found is not None and 2**20 < found < 2**50


def test_container_may_leave_less(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit, use = tmp_path / "memory.max", tmp_path / "memory.current"
    monkeypatch.setattr(module, "_CONTAINERS", ((limit, use),))
    without = free_memory()
    limit.write_text("max\n")
    use.write_text("300\n")
    assert without is not None and free_memory() == pytest.approx(without, rel=0.2)
    limit.write_text("1000\n")
    assert free_memory() == 700
    use.write_text("1200\n")
    assert free_memory() == 0


@pytest.mark.parametrize("total", ["", "total_"])
def test_files_that_a_container_holds_can_be_given_back(
    total: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit, use = tmp_path / "limit", tmp_path / "use"
    monkeypatch.setattr(module, "_CONTAINERS", ((limit, use),))
    limit.write_text("1000\n")
    use.write_text("900\n")
    own = "inactive_file 1\nactive_file 2\n" if total else ""
    (tmp_path / "memory.stat").write_text(
        f"anon 90\n{own}{total}inactive_file 500\n{total}active_file 250\n"
    )
    assert free_memory() == 100 + 500 + 250
    use.write_text("700\n")
    assert free_memory() == 1000
    (tmp_path / "memory.stat").write_text("what\n")
    assert free_memory() == 300


@pytest.mark.parametrize(
    ("count", "text"),
    [(1, "1 bytes"), (2300, "2.3 kB"), (45_000_000, "45 MB"), (3_140_000_000, "3.1 GB"),
     (12_500_000, "12 MB")],
)  # fmt: skip
def test_sizes_are_told_in_what_shows_them(count: int, text: str) -> None:
    assert module.in_bytes(count) == text


def test_limit_of_the_process_counts() -> None:
    program = (
        "import resource; from lacuner.encoders.free_memory import free_memory;"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize();"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 2**26, resource.RLIM_INFINITY));"
        "print(free_memory())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert 0 < int(done.stdout) <= 2**26


def test_system_that_does_not_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_MEMINFO", "_STATM"):
        monkeypatch.setattr(module, name, tmp_path / "absent")
    monkeypatch.setattr(module, "_CONTAINERS", ())
    assert free_memory() is None
