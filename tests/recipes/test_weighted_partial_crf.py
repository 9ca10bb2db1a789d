"""Rounds of folds: what they answer, that they learn, and that nothing is trained twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import lacuner
from lacuner import Ambiguity, Corpus, Entity, Sentence
from lacuner.corpus.splits import concatenate
from lacuner.demo import gold
from lacuner.errors import UsageError
from lacuner.labelling.masking import mask
from lacuner.models.batching import Examples
from lacuner.models.token_tagger import TokenTagger
from lacuner.recipes.hidden_tags import Asked, HiddenTags
from lacuner.training.corpus_array import read_array
from lacuner.training.run_folder import Run
from tests.neural import HashedWords, output_of

WEIGHTS = Path("model") / "weights.safetensors"
SMALL = mask(
    concatenate([gold("train").with_sentences(gold("train").sentences[:12])] * 2),
    0.3,
    np.random.default_rng(0),
).corpus.vouched(complete=False)
SETTINGS: dict[str, Any] = {
    "encoder": {"name": "bilstm"},
    "training": {"epochs": 1, "head_rate": 1e-2, "batch_size": 4, "checkpoint_steps": 1},
    "folds": {"rounds": 2},
}


class Killed(Exception):
    """As if the process were gone: nothing is saved on the way out."""


class Killer:
    """Notes which stage each step belongs to, and kills after so many steps."""

    def __init__(self, after: int | None = None) -> None:
        self.steps: list[str] = []
        self.after = after

    def __call__(self, stage: str, event: Any) -> None:
        if hasattr(event, "loss"):
            self.steps.append(stage)
            if len(self.steps) == self.after:
                raise Killed


def _settings(answers: str) -> dict[str, Any]:
    return {**SETTINGS, "folds": {"rounds": 2, "answers": answers}}


@pytest.mark.parametrize("answers", ["hard", "soft"])
def test_killed_run_resumes_to_the_same_weights_and_trains_no_fold_twice(
    answers: str, tmp_path: Path
) -> None:
    settings = _settings(answers)
    heard = Killer()
    lacuner.train(
        SMALL, "weighted_partial_crf", out=tmp_path / "whole", settings=settings, listeners=[heard]
    )
    stages = ["round-1.fold-1", "round-1.fold-2", "round-2.fold-1", "round-2.fold-2", "train"]
    assert list(dict.fromkeys(heard.steps)) == stages

    cut, resume, finished = tmp_path / "cut", False, set[str]()
    for after in (2, 4, 4):  # in the first fold, in the second, in the second round
        killer = Killer(after)
        with pytest.raises(Killed):
            lacuner.train(
                SMALL, "weighted_partial_crf", out=cut, settings=settings, listeners=[killer],
                resume=resume,
            )  # fmt: skip
        assert not finished & set(killer.steps)
        finished |= {stage for stage in stages if Run(cut).stage(stage).is_finished}
        resume = True
    assert {"round-1.fold-1", "round-1.fold-2"} <= finished
    last = Killer()
    lacuner.train(
        SMALL, "weighted_partial_crf", out=cut, settings=settings, listeners=[last], resume=True
    )
    assert not finished & set(last.steps)
    assert (tmp_path / "whole" / WEIGHTS).read_bytes() == (cut / WEIGHTS).read_bytes()
    assert not list(cut.glob("stages/round-*/result.safetensors"))  # asked, and not needed any more


@pytest.fixture(scope="module")
def asked() -> tuple[Corpus, TokenTagger]:
    words = ("u", "v", "w", "x")
    corpus = Corpus(
        (
            Sentence("1", words, (Entity(1, 3, "A"),)),
            Sentence("2", words, ambiguous=(Ambiguity(0, 2, ("B",)),), outside=((3, 4),)),
            Sentence("3", words[:2], rejected=((0, 1), (1, 2), (0, 2))),
            Sentence("4", words, (Entity(3, 4, "B"),), complete=True),
        )
    )
    torch.manual_seed(0)
    model = TokenTagger(HashedWords(), corpus.labels, scheme="bioes", head="crf", dropout=0.5)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=2.0)
    return corpus, model


def test_hard_answers_complete_the_labels_and_never_contradict_them(
    asked: tuple[Corpus, TokenTagger], tmp_path: Path
) -> None:
    corpus, model = asked
    hidden = HiddenTags(corpus, model.tag_set, soft=False, batch_words=8)
    hidden.write(tmp_path / "tags.npy", [Asked(model, 0.0, [2, 0]), Asked(model, 0.0, [1, 3])])
    found = hidden.as_corpus(tmp_path / "tags.npy")
    assert [s.tokens for s in found] == [s.tokens for s in corpus]
    assert all(s.complete for s in found)
    first, second, third, fourth = [{e.key for e in s.entities} for s in found]
    assert (1, 3, "A") in first
    assert (0, 2, "B") in second and not any(end == 4 for _, end, _ in second)
    assert not third  # whatever the model would like, all spans were rejected
    assert fourth == {(3, 4, "B")}


def test_answers_are_given_with_the_offset_that_a_model_decides_with(
    asked: tuple[Corpus, TokenTagger], tmp_path: Path
) -> None:
    corpus, model = asked
    hidden = HiddenTags(corpus, model.tag_set, soft=True, batch_words=64)
    chances_of_none = []
    for offset in (-50.0, 0.0, 50.0):
        path = tmp_path / f"{offset}.npy"
        hidden.write(path, [Asked(model, offset, [0, 1, 2, 3])])
        chances_of_none.append(float(np.asarray(read_array(path), np.float64)[:, 0].sum()))
    most, some, fewest = chances_of_none
    assert most > some > fewest  # a word that must be O, or must not, stays as it is
    hidden = HiddenTags(corpus, model.tag_set, soft=False, batch_words=64)
    hidden.write(tmp_path / "hard.npy", [Asked(model, 50.0, [0, 1, 2, 3])])
    found = hidden.as_corpus(tmp_path / "hard.npy")
    assert (0, 2, "B") in {e.key for e in found.sentences[1].entities}  # labels are kept


def test_soft_answers_are_marginals_over_what_labels_allow(
    asked: tuple[Corpus, TokenTagger], tmp_path: Path
) -> None:
    corpus, model = asked
    assert model.crf is not None
    hidden = HiddenTags(corpus, model.tag_set, soft=True, batch_words=64)
    hidden.write(tmp_path / "tags.npy", [Asked(model, 0.0, [3, 1]), Asked(model, 0.0, [0, 2])])
    # A training on sentences 1 and 3 numbers them 0 and 1.
    some = corpus.with_sentences([corpus.sentences[1], corpus.sentences[3]])
    batch = Examples(some.sentences, model.encoder, model.label_numbers).batch([1, 0])
    scores = torch.zeros(2, 4, len(model.tag_set))
    beliefs = hidden.beliefs(tmp_path / "tags.npy", [1, 3])(output_of(scores, batch.words), batch)
    chances = beliefs.exp()
    assert torch.allclose(chances.sum(-1), torch.ones(2, 4), atol=2e-3)  # kept in half precision
    tags = model.tags
    assert chances[0].argmax(-1).tolist() == [0, 0, 0, tags.index("S-B")]
    assert chances[1, 0, tags.index("B-B")] == pytest.approx(1, abs=1e-3)
    assert chances[1, 3, 0] == pytest.approx(1, abs=1e-3)
    assert 0 < chances[1, 2, 0] < 1  # the word that nobody knows


@pytest.mark.parametrize(
    ("folds", "message"),
    [
        ({"count": 1}, "at least 2"),
        ({"rounds": 0}, "at least"),
        ({"answers": "sofft"}, "Did you mean soft"),
        ({"count": 30}, "too few for 30 folds"),
    ],
)
def test_folds_that_cannot_be_are_refused(
    folds: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=message):
        lacuner.train(
            SMALL,
            "weighted_partial_crf",
            out=tmp_path / "run",
            settings={**SETTINGS, "folds": folds},
        )
