"""Candidates by a real spaCy pipeline, and labels that keep to them."""

from __future__ import annotations

import builtins
import sys
from pathlib import Path
from typing import Any

import pytest

from lacuner import Entity, Sentence
from lacuner.corpus.raw_text import sentences_of_text
from lacuner.errors import MissingExtra, UsageError
from lacuner.labelling import distant
from lacuner.labelling.compiling import compile_names
from lacuner.labelling.label_report import LabelReport
from lacuner.labelling.match_options import MatchOptions
from lacuner.labelling.names import Name
from lacuner.labelling.spacy_pipeline import spacy_phrases

spacy = pytest.importorskip("spacy", reason="spaCy is not installed")

WORDS = {
    "PROPN": ["Will", "May", "New", "York", "Times", "Holt", "U.S.", "東京"],
    "AUX": ["may", "will"],
    "ADP": ["of", "に"],
}


def _ruled(language: str = "en") -> Any:
    """A pipeline that knows the parts of speech of a few words, and "Will" before "it"."""
    nlp = spacy.blank(language)
    ruler = nlp.add_pipe("attribute_ruler")
    for part, words in WORDS.items():
        ruler.add([[{"ORTH": word}] for word in words], {"POS": part})
    ruler.add([[{"ORTH": "Will"}, {"ORTH": "it"}]], {"POS": "AUX"})
    return nlp


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A pipeline on disk, with a recogniser of entities that is not needed."""
    nlp = _ruled()
    nlp.add_pipe("entity_ruler")
    folder = tmp_path_factory.mktemp("pipeline") / "ruled"
    nlp.to_disk(folder)
    return str(folder)


def _sentence(text: str) -> Sentence:
    return Sentence(text, tuple(text.split()))


def test_words_of_a_sentence_are_tagged_as_they_are(pipeline: str) -> None:
    sentences = [_sentence("Will it rain in New York ?"), _sentence("Holt may come .")]
    assert spacy_phrases(pipeline)(sentences) == [{(4, 6)}, {(0, 1)}]


def test_text_is_cut_by_the_pipeline_and_found_again_in_our_words(pipeline: str) -> None:
    (sentence,) = sentences_of_text("  The U.S. saw New York", "d")
    (found,) = spacy_phrases(pipeline)([sentence])
    assert sorted(sentence.surface(*span) for span in found) == ["New York", "U.S."]


def test_words_that_are_characters_are_put_together(tmp_path: Path) -> None:
    nlp = _ruled("xx")
    nlp.tokenizer = spacy.tokenizer.Tokenizer(nlp.vocab, infix_finditer=None)
    nlp.to_disk(tmp_path / "zh")
    sentence = Sentence("1", tuple("東京"))
    assert spacy_phrases(str(tmp_path / "zh"), units="characters")([sentence]) == [{(0, 2)}]
    with pytest.raises(UsageError, match="sets no parts of speech"):
        spacy_phrases(str(tmp_path / "zh"))([sentence])


def test_tagger_that_was_trained_says_the_parts(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("morphologizer")
    from spacy.training import Example

    rows = [("Holt saw Bergen", ["PROPN", "VERB", "PROPN"]), ("rain fell", ["NOUN", "VERB"])]
    examples = [Example.from_dict(nlp.make_doc(text), {"pos": parts}) for text, parts in rows]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(15):
        nlp.update(examples, sgd=optimizer)
    nlp.to_disk(tmp_path / "trained")
    find = spacy_phrases(str(tmp_path / "trained"))
    assert find([_sentence("Holt saw Bergen"), _sentence("rain fell")]) == [{(0, 1), (2, 3)}, set()]


NAMES = [
    Name("Will", "PER", "people.txt"),
    Name("May", "PER", "people.txt"),
    Name("York", "LOC", "places.txt"),
    Name("New York", "LOC", "places.txt"),
    Name("New York Times", "ORG", "o.txt"),
]


def test_only_whole_candidates_are_labelled_and_the_rest_stays_unknown(pipeline: str) -> None:
    gazetteer = compile_names(NAMES[:4], MatchOptions(units="words"))
    report = LabelReport(gazetteer)
    sentences = [
        _sentence("Will it rain in New York ?"),
        _sentence("the New York Times and May of York"),
    ]
    labelled = list(
        distant.label(sentences, gazetteer, phrases=spacy_phrases(pipeline), report=report)
    )
    assert labelled[0].entities == (Entity(4, 6, "LOC", "places.txt:New York"),)
    assert [entity.span for entity in labelled[1].entities] == [(5, 6), (7, 8)]
    assert not any(s.complete or s.outside or s.rejected for s in labelled)
    # "Will", and "New York" and "York" in the newspaper; "York" in "New York" too.
    assert report.no_phrase == 4
    assert report.as_dict()["no_candidate_phrase"] == 4


def test_labels_do_not_depend_on_how_sentences_are_portioned(
    pipeline: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gazetteer = compile_names(NAMES, MatchOptions(units="words"))
    sentences = [
        Sentence(str(n), ("Holt", "of", "New", "York", *["x"] * (n % 3))) for n in range(20)
    ]
    find = spacy_phrases(pipeline)
    whole = list(distant.label(sentences, gazetteer, phrases=find))
    monkeypatch.setattr(distant, "_WORDS_IN_CHUNK", 7)
    assert list(distant.label(sentences, gazetteer, phrases=find)) == whole


def test_absent_pipeline_is_named_with_the_way_to_get_one() -> None:
    with pytest.raises(UsageError, match="There is no spaCy pipeline 'en_core_none' here"):
        spacy_phrases("en_core_none")


@pytest.mark.parametrize("content", [None, "[nlp]\nlang = 3\n", "no config"])
def test_folder_that_is_no_pipeline_is_refused(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "config.cfg").write_text(content)
        (tmp_path / "meta.json").write_text("{}")
    with pytest.raises(UsageError, match="cannot be loaded"):
        spacy_phrases(str(tmp_path))


def test_package_that_is_no_pipeline_is_refused() -> None:
    with pytest.raises(UsageError, match="'orjson' cannot be loaded"):
        spacy_phrases("orjson")


def test_pipeline_without_parts_of_speech_is_refused(tmp_path: Path) -> None:
    spacy.blank("en").to_disk(tmp_path / "blank")
    find = spacy_phrases(str(tmp_path / "blank"))
    assert find([]) == []
    with pytest.raises(UsageError, match="sets no parts of speech"):
        find([_sentence("Maren Holt")])


def test_missing_spacy_is_said_with_the_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "spacy":
            raise ImportError(name)
        return original(name, *rest, **more)

    monkeypatch.delitem(sys.modules, "spacy")
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"pip install 'lacuner\[spacy\]'"):
        spacy_phrases("en_core_web_sm")
