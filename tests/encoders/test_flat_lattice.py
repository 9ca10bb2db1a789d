"""Flat lattices: which spans there are, and what becomes of long sentences."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from lacuner import Sentence
from lacuner.encoders import build_encoder
from lacuner.encoders.lattice import LatticeTable, lattice_of
from lacuner.encoders.lexicon import Found
from lacuner.errors import UsageError
from tests.lexicons import chinese, write_lexicon


def _found(*spans: tuple[int, int]) -> Found:
    rows = np.array(sorted(spans), dtype=np.int64).reshape(-1, 2)
    return Found(rows[:, 0], rows[:, 1], np.arange(len(rows)))


def test_lattice_has_characters_then_words() -> None:
    lattices = [
        lattice_of(np.array([5, 6, 7]), _found((0, 2), (1, 3)), words=5, window=9, overlap=0),
        lattice_of(np.array([8]), _found(), words=5, window=9, overlap=0),
    ]
    table = LatticeTable.of(lattices)
    assert table.characters.tolist() == [[5, 6, 7], [8, 0, 0]]
    assert table.numbers.tolist() == [[1, 2], [0, 0]]
    assert table.heads.tolist() == [[0, 1, 2, 0, 1], [0, 0, 0, 0, 0]]
    assert table.tails.tolist() == [[0, 1, 2, 1, 2], [0, 0, 0, 0, 0]]
    assert (table.sources.tolist(), table.targets.tolist()) == ([0, 1, 2, 5], [0, 1, 2, 3])
    assert table.shape == (2, 3)


def test_words_that_are_among_the_longest_nowhere_are_left_out() -> None:
    found = _found((0, 3), (1, 3), (2, 4), (4, 6))
    lattice = lattice_of(np.arange(2, 9), found, words=1, window=9, overlap=0)
    assert lattice.windows[0].numbers.tolist() == [1, 3, 4]  # (1, 3) stands behind (0, 3)


def test_long_sentence_is_read_in_windows_and_nothing_is_lost() -> None:
    characters = np.arange(2, 25)
    lattice = lattice_of(
        characters, _found((0, 2), (7, 9), (20, 23)), words=5, window=10, overlap=2
    )
    assert [len(window.characters) for window in lattice.windows] == [9, 9, 9]
    taken = [
        int(lattice.windows[row].characters[column])
        for row, column in zip(lattice.rows, lattice.columns, strict=True)
    ]
    assert taken == characters.tolist()
    assert [window.numbers.tolist() for window in lattice.windows] == [[1, 2], [2], [3]]
    assert [window.heads.tolist() for window in lattice.windows] == [[0, 7], [0], [6]]


def _build(tmp_path: Path, **arguments: Any) -> Any:
    torch.manual_seed(2)
    lexicon = write_lexicon(tmp_path / "words.txt")
    return build_encoder("flat_lattice", chinese(), lexicon=str(lexicon), **arguments)


def test_sentence_longer_than_the_lattice_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    encoder = _build(tmp_path, window=6).eval()
    long = Sentence("a long one", tuple("南京市长江大桥在海淀"))
    with caplog.at_level(logging.WARNING, "lacuner"), torch.no_grad():
        for _ in range(2):
            vectors = encoder(encoder.collate(encoder.tokenise([chinese()[4], long])))
    assert vectors.shape == (2, len(long), encoder.width)
    assert vectors[1].abs().sum(-1).all()
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == 1
    assert "1 sentences are longer than a lattice of 6, the first is 'a long one'" in messages[0]


def test_characters_take_the_vectors_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "characters.txt"
    path.write_text("北\t1\t2\t3\n京\t3\t2\t1\n沪\t0\t1\t0\n", "utf-8")
    for freeze, pretrained in (("none", True), ("embeddings", False)):
        encoder = _build(tmp_path, vectors=str(path), freeze=freeze)
        assert encoder.pretrained is pretrained
        number = encoder.vocabulary.number("北")
        table = encoder.trained if pretrained else encoder.kept
        row = number if pretrained else number - encoder.trained.num_embeddings
        assert table.weight[row].tolist() == [1, 2, 3]
        rates = {id(parameter) for parameter in encoder.pretrained_parameters()}
        assert (id(encoder.trained.weight) in rates) is pretrained


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"heads": 3, "head_width": 5}, "3 heads of 5 are 15: right is even"),
        ({"layers": 0}, "'layers' of a lattice is 1 or more, not 0"),
        ({"window": 0}, "'window' of a lattice is 1 or more, not 0"),
        ({"freeze": "all"}, "A lattice cannot freeze 'all'"),
    ],
)
def test_size_that_does_not_fit_is_refused(
    tmp_path: Path, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        _build(tmp_path, **arguments)
