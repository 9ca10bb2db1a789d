"""Compiled dictionaries on disk: reused, renewed, mended."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lacuner import Findings, Sentence
from lacuner.errors import UsageError
from lacuner.labelling import gazetteer_cache
from lacuner.labelling.distant import Loaded, label, load_gazetteer
from lacuner.labelling.match_options import MatchOptions
from lacuner.labelling.names import NameFile

OPTIONS = MatchOptions(units="words")
SENTENCE = Sentence("1", ("Maren", "Holt", "saw", "Ålesund", "and", "Jordan"))


@pytest.fixture
def files(tmp_path: Path) -> list[NameFile]:
    (tmp_path / "people.txt").write_text("Maren Holt\tHolt\nJordan\n", "utf-8")
    (tmp_path / "places.txt").write_text("Ålesund\nJordan\n東京\n", "utf-8")
    return [NameFile(tmp_path / "people.txt", "PER"), NameFile(tmp_path / "places.txt", "LOC")]


def _load(files: list[NameFile], tmp_path: Path, options: MatchOptions = OPTIONS) -> Loaded:
    return load_gazetteer(files, options, cache=tmp_path / "cache")


def _entry(tmp_path: Path) -> Path:
    (entry,) = (tmp_path / "cache").iterdir()
    return entry


def test_second_start_takes_the_cache_and_labels_the_same(
    files: list[NameFile], tmp_path: Path
) -> None:
    first, second = _load(files, tmp_path), _load(files, tmp_path)
    assert (first.from_cache, second.from_cache) == (False, True)
    expected = list(label([SENTENCE], first.gazetteer))
    assert list(label([SENTENCE], second.gazetteer)) == expected
    assert len(expected[0].entities) == 2
    assert len(expected[0].ambiguous) == 1
    assert second.gazetteer.left_out == first.gazetteer.left_out


def test_cache_is_renewed_when_names_labels_order_or_options_change(
    files: list[NameFile], tmp_path: Path
) -> None:
    _load(files, tmp_path)
    assert not _load(files[::-1], tmp_path).from_cache
    assert not _load([replace(files[0], label="P"), files[1]], tmp_path).from_cache
    assert not _load(files, tmp_path, replace(OPTIONS, case="smart")).from_cache
    assert not _load(files, tmp_path, replace(OPTIONS, stop=("Jordan",))).from_cache
    files[0].path.write_text("Maren Holt\n", "utf-8")
    assert not _load(files, tmp_path).from_cache
    assert _load(files, tmp_path).from_cache


def test_damaged_cache_is_compiled_anew(files: list[NameFile], tmp_path: Path) -> None:
    expected = list(label([SENTENCE], _load(files, tmp_path).gazetteer))
    names = sorted(path.name for path in _entry(tmp_path).iterdir())
    for name in names:
        for damage in (b"", b"{}", b"\x93NUMPY rubbish", None):
            path = _entry(tmp_path) / name
            path.unlink()
            if damage is not None:
                path.write_bytes(damage)
            loaded = _load(files, tmp_path)
            assert not loaded.from_cache, (name, damage)
            assert list(label([SENTENCE], loaded.gazetteer)) == expected
            assert _load(files, tmp_path).from_cache


def test_flipped_byte_is_noticed(files: list[NameFile], tmp_path: Path) -> None:
    _load(files, tmp_path)
    path = _entry(tmp_path) / "edges.npy"
    raw = bytearray(path.read_bytes())
    raw[-3] ^= 1
    path.write_bytes(raw)
    assert not _load(files, tmp_path).from_cache


def test_cache_of_another_version_is_not_read(
    files: list[NameFile], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _load(files, tmp_path)
    entry = _entry(tmp_path)
    monkeypatch.setattr(gazetteer_cache, "VERSION", gazetteer_cache.VERSION + 1)
    assert gazetteer_cache.load(entry, OPTIONS) is None


def test_cache_that_cannot_be_written_is_said_and_does_no_harm(
    files: list[NameFile], tmp_path: Path
) -> None:
    (tmp_path / "cache").write_text("a file where a folder should be")
    findings = Findings()
    loaded = load_gazetteer(files, OPTIONS, cache=tmp_path / "cache", findings=findings)
    assert next(label([SENTENCE], loaded.gazetteer)).entities
    assert "not kept" in findings.remarks[0]


def test_units_must_be_settled_before_names_are_compiled(files: list[NameFile]) -> None:
    with pytest.raises(UsageError, match="detect_units"):
        load_gazetteer(files, MatchOptions())


def test_default_folder_follows_the_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "/c")
    assert gazetteer_cache.default_folder() == Path("/c/lacuner/gazetteers")
