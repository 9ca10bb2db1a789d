"""Encoders described in a file: what it may say, and whole trainings with a lexicon."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import lacuner
from lacuner import Corpus, Entity, Sentence
from lacuner.corpus.alignment import aligned
from lacuner.errors import DataError, UsageError
from lacuner.evaluation.scores import score_entities
from lacuner.experiments.plan import encoder_fingerprint
from lacuner.experiments.study import EncoderChoice
from lacuner.recipes.encoder_file import encoder_file_fingerprint, read_encoder_file
from lacuner.recipes.parts import EncoderSettings, encoder_of
from lacuner.settings import as_dict
from lacuner.training.loop import Interrupted
from tests.lexicons import CHINESE, write_chinese_bert, write_lexicon

PLACES = ("北京大学", "长江大桥", "南京市", "北京", "海淀", "长江", "南京")
NAMES = ("lexicon_bert", "word_fusion", "flat_lattice")
TRAINING = {"epochs": 15, "head_rate": 1e-2, "encoder_rate": 3e-3, "batch_size": 8,
            "checkpoint_steps": 3}  # fmt: skip


def _labelled(number: int, text: str) -> Sentence:
    entities: list[Entity] = []
    for name in PLACES:
        start = text.find(name)
        if start >= 0 and not any(e.start < start + len(name) and start < e.end for e in entities):
            entities.append(Entity(start, start + len(name), "LOC"))
    return Sentence(str(number), tuple(text), tuple(sorted(entities, key=lambda e: e.start)))


SMALL = Corpus(tuple(_labelled(number, text) for number, text in enumerate(CHINESE * 5)))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_chinese_bert(tmp_path_factory.mktemp("models") / "bert")


@pytest.fixture
def described(tmp_path: Path, tiny_bert: Path) -> dict[str, Path]:
    """A description of each encoder, with what it names beside it."""
    folder = tmp_path / "encoders"
    folder.mkdir()
    write_lexicon(folder / "words.vec")
    shutil.copytree(tiny_bert, folder / "bert")
    files = {}
    for name in NAMES:
        lines = [f'kind = "{name}"', 'lexicon = "words.vec"']
        if name != "flat_lattice":
            lines.append('transformer = "bert"')
        files[name] = folder / f"{name}.toml"
        files[name].write_text("\n".join(lines))
    return files


def _settings(path: Path, **training: Any) -> dict[str, Any]:
    return {
        "encoder": {"name": str(path), "freeze": "none"},
        "model": {"head": "crf"},
        "training": TRAINING | training,
    }


def test_settings_of_other_encoders_are_what_they_were() -> None:
    # A run is known by these: nothing may be added that is there when it is not used.
    assert as_dict(EncoderSettings()) == {
        "name": "minilm", "pooling": "first", "freeze": "embeddings", "shape": "auto"
    }  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_recipe_learns_with_a_lexicon_and_its_run_stands_alone(
    name: str, described: dict[str, Path], tmp_path: Path
) -> None:
    recogniser = lacuner.train(
        SMALL, "token_ce", dev=SMALL, out=tmp_path / "run", settings=_settings(described[name])
    )
    predicted = recogniser.predict(SMALL)
    assert score_entities(aligned(predicted, SMALL)).total.f1 > 0.7
    shutil.rmtree(described[name].parent)
    shutil.rmtree(tmp_path / "cache")
    (tmp_path / "run").rename(tmp_path / "moved")
    again = lacuner.load(tmp_path / "moved").predict(SMALL)
    for first, second in zip(predicted, again, strict=True):
        assert first.entities == second.entities


@pytest.mark.parametrize("name", NAMES)
def test_stopped_training_resumes_to_the_same_weights(
    name: str, described: dict[str, Path], tmp_path: Path
) -> None:
    settings = _settings(described[name], epochs=2)
    lacuner.train(SMALL, "token_ce", out=tmp_path / "whole", settings=settings)
    left = iter(range(5, -1, -1))
    with pytest.raises(Interrupted):
        lacuner.train(
            SMALL, "token_ce", out=tmp_path / "cut", settings=settings,
            stopped=lambda: next(left) == 0,
        )  # fmt: skip
    lacuner.train(SMALL, "token_ce", out=tmp_path / "cut", settings=settings, resume=True)
    weights = Path("model") / "weights.safetensors"
    assert (tmp_path / "whole" / weights).read_bytes() == (tmp_path / "cut" / weights).read_bytes()


def test_run_is_not_resumed_with_another_description(
    described: dict[str, Path], tmp_path: Path
) -> None:
    path = described["lexicon_bert"]
    settings = _settings(path, epochs=1)
    with pytest.raises(Interrupted):
        lacuner.train(SMALL, "token_ce", out=tmp_path / "run", settings=settings,
                      stopped=lambda: True)  # fmt: skip
    path.write_text(path.read_text() + "\nlayer = 2\n")
    with pytest.raises(UsageError, match="had another encoder"):
        lacuner.train(SMALL, "token_ce", out=tmp_path / "run", settings=settings, resume=True)


def test_fingerprint_follows_the_content_and_not_the_place(
    described: dict[str, Path], tmp_path: Path
) -> None:
    path = described["lexicon_bert"]
    first = encoder_file_fingerprint(path)
    shutil.copytree(path.parent, tmp_path / "elsewhere")
    other = tmp_path / "elsewhere" / path.name
    assert encoder_file_fingerprint(other) == first
    assert encoder_fingerprint(EncoderChoice("zh", model=str(other))) == first
    write_lexicon(other.parent / "words.vec", ("北京", "大学"))
    changed = encoder_file_fingerprint(other)
    assert changed != first
    (other.parent / "bert" / "more.txt").write_text("another model")
    assert encoder_file_fingerprint(other) != changed
    (other.parent / "words.vec").unlink()
    with pytest.raises(DataError, match=r"words\.vec: it cannot be opened"):
        encoder_file_fingerprint(other)


def test_paths_are_relative_to_the_file(described: dict[str, Path], tmp_path: Path) -> None:
    path = described["word_fusion"]
    found = read_encoder_file(path, settings=())
    assert found.arguments == {
        "lexicon": str((path.parent / "words.vec").resolve()),
        "transformer": str((path.parent / "bert").resolve()),
    }
    path.write_text(
        'kind = "word_fusion"\nlexicon = "words.vec"\ntransformer = "bert-base-chinese"'
    )
    found = read_encoder_file(path, settings=())
    assert found.arguments["transformer"] == "bert-base-chinese"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("layer = 1", "it names no kind of encoder. Right is a line kind = NAME, with one of"),
        ('kind = "lebert"', "there is no encoder 'lebert'"),
        ('kind = "lexicon_bert"\nlexikon = "a"', "'lexikon'. Did you mean lexicon?"),
        ('kind = "lexicon_bert"\npooling = "last"', "'pooling' is a setting of the run, as enc"),
        ('kind = "lexicon_bert"\nlayer = "one"', "'layer' is a whole number; 'one' is not"),
        ('kind = "lexicon_bert"\nlexicon = 3', "'lexicon' is a word; 3 is not"),
        ('kind = "flat_lattice"\nvectors = "a"', "'vectors' is a setting of the run"),
        ("kind = ", "this is no TOML"),
    ],
)
def test_bad_description_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "encoder.toml"
    path.write_text(content)
    settings = EncoderSettings(name=str(path), vectors="characters.txt")
    with pytest.raises(DataError, match=message):
        encoder_of(settings, SMALL)


def test_missing_description_is_named(tmp_path: Path) -> None:
    settings = {"encoder": {"name": str(tmp_path / "absent.toml")}}
    with pytest.raises(DataError, match=r"absent\.toml: there is no such file"):
        lacuner.train(SMALL, "token_ce", out=tmp_path / "run", settings=settings)
    assert not (tmp_path / "run").exists()


def test_name_of_a_lexicon_encoder_alone_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'lexicon_bert' needs a lexicon.*TOML file"):
        encoder_of(EncoderSettings(name="lexicon_bert"), SMALL)
