"""Folders of arrays: whole, mapped, and refused when damaged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lacuner.errors import DataError
from lacuner.matching.array_folder import digest_of_file, map_arrays, write_arrays

ARRAYS: dict[str, NDArray[Any]] = {"a": np.arange(5), "b-c": np.zeros((2, 3), np.float16)}


def test_arrays_come_back_mapped_with_their_description(tmp_path: Path) -> None:
    write_arrays(tmp_path / "folder", ARRAYS, {"version": 3})
    arrays, description = map_arrays(tmp_path / "folder")
    assert description["version"] == 3
    assert arrays.keys() == ARRAYS.keys()
    for name, values in ARRAYS.items():
        assert np.array_equal(arrays[name], values)
        assert isinstance(arrays[name].base, np.memmap)


@pytest.mark.parametrize("content", [None, b"", b"[]", b"{}", b'{"arrays": 3}', b"\xff"])
def test_damaged_description_is_refused(tmp_path: Path, content: bytes | None) -> None:
    write_arrays(tmp_path / "folder", ARRAYS, {})
    path = tmp_path / "folder" / "description.json"
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(DataError, match="it holds no whole set of arrays"):
        map_arrays(tmp_path / "folder")


def test_changed_and_missing_arrays_are_refused(tmp_path: Path) -> None:
    write_arrays(tmp_path / "folder", ARRAYS, {})
    path = tmp_path / "folder" / "a.npy"
    before = digest_of_file(path)
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert digest_of_file(path) != before
    with pytest.raises(DataError, match=r"a\.npy: it is damaged"):
        map_arrays(tmp_path / "folder")
    path.unlink()
    with pytest.raises(DataError, match=r"a\.npy: there is no such file"):
        map_arrays(tmp_path / "folder")
