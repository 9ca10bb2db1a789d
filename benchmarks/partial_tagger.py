"""The outside rival: spacy-partial-tagger on the labels and with the encoder of our own studies.

    python -m benchmarks.partial_tagger ../shared/data --python OTHER/bin/python --out RESULTS

It needs another version of transformers than Lacuner, so it lives in an environment of its own,
OTHER (`pip install torch==2.13.0 spacy-partial-tagger==0.15.6 sequence-label==0.1.6`; the newest
sequence-label, which pip takes by itself, has other names, and training ends in an AttributeError).
It gets the same training sentences with the same labels hidden, the same dev and test, as many
epochs and sentences a batch, and its own loss with its own constants. Its learning rate is that of
dev (`--rate`, dev only with `--dev-only`). What it predicts is scored by Lacuner, as everything
else. Rows go to the results of the study, beside those of our recipes, so that `lacuner bench
table` shows them together; a run that has a row is not repeated.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import time
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

import lacuner
from lacuner.corpus.sentence import Corpus
from lacuner.encoders.embedded import minilm_place
from lacuner.experiments.material import Material, read_material, with_gaps
from lacuner.experiments.results import Counts, Results
from lacuner.experiments.study_file import load_study
from lacuner.experiments.worker import figures

SYSTEM = "spacy-partial-tagger"
BATCH = 16
PLACES = (("every-method", "conll03", 0.8), ("every-method", "conll03-distant", 0.0))
CONFIG = """
[paths]
train = null
dev = null
[system]
seed = {seed}
gpu_allocator = null
[nlp]
lang = "en"
pipeline = ["partial_ner"]
batch_size = 64
[components]
[components.partial_ner]
factory = "partial_ner"
[components.partial_ner.model]
@architectures = "spacy-partial-tagger.PartialTagger.v1"
transformer_model_name = "{encoder}"
padding_index = -1
[corpora]
[corpora.train]
@readers = "spacy.Corpus.v1"
path = ${{paths.train}}
[corpora.dev]
@readers = "spacy.Corpus.v1"
path = ${{paths.dev}}
[training]
train_corpus = "corpora.train"
dev_corpus = "corpora.dev"
seed = ${{system.seed}}
dropout = 0.1
max_epochs = {epochs}
max_steps = 0
patience = 0
eval_frequency = {steps}
[training.batcher]
@batchers = "spacy.batch_by_sequence.v1"
size = {batch}
[training.optimizer]
@optimizers = "Adam.v1"
L2 = 0.01
L2_is_weight_decay = true
grad_clip = 1.0
[training.optimizer.learn_rate]
@schedules = "warmup_linear.v1"
warmup_steps = {steps}
total_steps = {all_steps}
initial_rate = {rate}
[training.score_weights]
ents_f = 1.0
"""
PREDICT = """
import sys, spacy
from spacy.tokens import Doc, DocBin
nlp = spacy.load(sys.argv[1])
found = DocBin()
for doc in DocBin().from_disk(sys.argv[2]).get_docs(nlp.vocab):
    words, spaces = [t.text for t in doc], [bool(t.whitespace_) for t in doc]
    begins = [number == 0 for number in range(len(words))]  # a sentence stays one
    fresh = Doc(nlp.vocab, words=words, spaces=spaces, sent_starts=begins)
    found.add(nlp.get_pipe("partial_ner")(fresh))
found.to_disk(sys.argv[3])
"""


@dataclass(frozen=True)
class Rival:
    """How the rival is run.

    Attributes:
        python: The interpreter of its environment.
        rate: Its learning rate.
        epochs: How many.
        seed: Its seed, and that of the hidden labels.
    """

    python: str
    rate: float
    epochs: int
    seed: int

    def train(self, train: Corpus, dev: Corpus, folder: Path) -> Path:
        """Trains it; returns the folder of the model that dev chose."""
        lacuner.write(train, folder / "train.spacy")
        lacuner.write(dev, folder / "dev.spacy")
        steps = -(-len(train) // BATCH)
        config = CONFIG.format(
            seed=self.seed, encoder=minilm_place(), epochs=self.epochs, steps=steps, batch=BATCH,
            all_steps=steps * self.epochs, rate=self.rate,
        )  # fmt: skip
        (folder / "given.cfg").write_text(config, "utf-8")
        self._run("-m", "spacy", "init", "fill-config", folder / "given.cfg", folder / "config.cfg")
        self._run("-m", "spacy", "train", folder / "config.cfg", "--output", folder / "out",
                  "--paths.train", folder / "train.spacy", "--paths.dev",
                  folder / "dev.spacy")  # fmt: skip
        return folder / "out" / "model-best"

    def predict(self, model: Path, gold: Corpus, folder: Path) -> Corpus:
        """What it finds in the sentences of a corpus."""
        lacuner.write(gold, folder / "asked.spacy", overwrite=True)
        self._run("-c", PREDICT, model, folder / "asked.spacy", folder / "found.spacy")
        found = lacuner.read(folder / "found.spacy").sentences
        return gold.with_sentences(
            sentence.with_labels(answer.entities, ())
            for sentence, answer in zip(gold, found, strict=True)
        )

    def _run(self, *arguments: object) -> None:
        subprocess.run([self.python, *map(str, arguments)], check=True)


def main() -> None:
    """Makes the rows that are missing."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--python", required=True, help="The interpreter of its environment.")
    parser.add_argument("--out", type=Path, required=True, help="Folder of the results.")
    parser.add_argument("--rate", type=float, default=1e-4, help="Its learning rate.")
    parser.add_argument("--seeds", type=int, nargs="*", default=[1, 2, 3])
    parser.add_argument("--corpora", nargs="*", default=[corpus for _, corpus, _ in PLACES])
    parser.add_argument("--dev-only", action="store_true", help="Print F1 on dev; no row.")
    options = parser.parse_args()
    for seed in options.seeds:
        for study_name, corpus_name, masking in PLACES:
            if corpus_name not in options.corpora:
                continue
            study = load_study(study_name)
            profile, corpus = study.profile("cpu"), study.corpora[corpus_name]
            material = read_material(
                corpus,
                options.data,
                train_sentences=profile.train_sentences,
                dev_sentences=profile.dev_sentences,
                sample_seed=study.sample_seed,
            )
            rival = Rival(options.python, options.rate, 4, seed)
            facts = {
                "study": study_name, "profile": "cpu", "corpus": corpus_name, "masking": masking,
                "system": SYSTEM, "recipe": SYSTEM, "encoder": "minilm", "seed": seed,
                "ceiling": corpus.ceiling or corpus_name, "published": None,
                "settings": {"rate": rival.rate, "epochs": rival.epochs, "batch_size": BATCH},
                "fingerprints": material.fingerprints(),
            }  # fmt: skip
            run = sha256(repr(sorted(facts.items())).encode()).hexdigest()[:16]
            results = Results(options.out / f"{study_name}.jsonl")
            if run not in results.finished() or options.dev_only:
                row, counts = measure(rival, material, masking, dev_only=options.dev_only)
                print(study_name, corpus_name, seed, row)
                if counts is not None:
                    results.append({"run": run, **facts, **row}, counts)


def measure(
    rival: Rival, material: Material, masking: float, *, dev_only: bool
) -> tuple[dict[str, Any], Counts | None]:
    """Trains it and scores what it finds in dev and, unless that is all that is wanted, in test."""
    assert material.dev is not None
    masked = with_gaps(material.train, masking, rival.seed)
    train = material.train if masked is None else masked.corpus
    with TemporaryDirectory() as place:
        folder, begin, busy = Path(place), time.perf_counter(), _processor_seconds()
        model = rival.train(train, material.dev, folder)
        seconds, processor_seconds = time.perf_counter() - begin, _processor_seconds() - busy
        dev, _ = figures(rival.predict(model, material.dev, folder), material.dev)
        row: dict[str, Any] = {
            "train_sentences": len(train), "dev_sentences": len(material.dev),
            "selected_on": "dev", "dev": dev, "missampling": None, "seconds": seconds,
            "processor_seconds": processor_seconds, "stages": {}, "computed_in": "no",
            "threads": torch.get_num_threads(),
            "peak_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024,
            "version": {SYSTEM: "0.15.6"}, "curve": [],
        }  # fmt: skip
        if dev_only:
            return row, None
        test, counts = figures(rival.predict(model, material.test, folder), material.test)
        return {**row, "test": test}, counts


def _processor_seconds() -> float:
    """Those of the processes of the rival so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
