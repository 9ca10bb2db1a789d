"""spaCy's DocBin: missing is unknown, O is outside; files that spaCy itself writes and reads."""

from __future__ import annotations

import sys
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from lacuner import Corpus, Entity, Sentence, read, write
from lacuner.corpus.findings import Findings
from lacuner.corpus.formats import docbin
from lacuner.corpus.raw_text import sentences_of_text
from lacuner.corpus.reading import detect
from lacuner.corpus.tagging import without_overlap
from lacuner.errors import DataError, MissingExtra
from tests.strategies import corpora

spacy = pytest.importorskip("spacy", reason="needs the extra 'spacy'")


def saved(folder: Path, *docs: Any, **options: Any) -> Path:
    path = folder / "train.spacy"
    spacy.tokens.DocBin(docs=docs, **options).to_disk(path)
    return path


def doc(words: list[str], **known: Any) -> Any:
    return spacy.tokens.Doc(spacy.vocab.Vocab(), words=words, **known)


def test_missing_is_unknown_and_o_is_outside(tmp_path: Path) -> None:
    some = doc(["Ada", "left", "New", "York", "."], spaces=[True, True, True, False, False])
    some.set_ents(
        [spacy.tokens.Span(some, 2, 4, "LOC")],
        outside=[spacy.tokens.Span(some, 4, 5)],
        default="missing",
    )
    whole = doc(["Bo", "won"], ents=["B-PER", "O"])
    nothing = doc(["It", "rained"])
    path = saved(tmp_path, some, whole, nothing)
    assert detect(path).name == "spacy"
    first, second, third = read(path)
    assert first.text == "Ada left New York."
    assert first.entities == (Entity(2, 4, "LOC"),)
    assert (first.outside, first.complete) == (((4, 5),), False)
    assert (second.entities, second.complete, second.outside) == ((Entity(0, 1, "PER"),), True, ())
    assert (third.entities, third.complete, third.outside) == ((), False, ())
    assert (second.id, second.text) == ("2.1", None)  # made of words: no text is known


def test_text_of_a_blank_pipeline_is_read_to_the_letter(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    text = "Ada  left.\n\nDon't go to N.Y. tonight. Bye"
    made = nlp(text)
    made.ents = [made.char_span(0, 3, "PER")]
    sentences = read(saved(tmp_path, made)).sentences
    assert "".join(s.text or "" for s in sentences) == text
    assert [s.tokens for s in sentences] == [
        ("Ada", "left", "."),
        ("Do", "n't", "go", "to", "N.Y.", "tonight", "."),
        ("Bye",),
    ]
    assert all(s.complete for s in sentences)


def test_sentence_boundaries_are_taken(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    made = nlp("one two three")
    for token in made:
        token.is_sent_start = token.i != 1
    first, second = read(saved(tmp_path, made))
    assert (first.tokens, second.tokens) == (("one", "two"), ("three",))
    assert len(read(saved(tmp_path, made), split_sentences=False)) == 1


def test_span_group_is_read_where_there_are_no_entities(tmp_path: Path) -> None:
    made = doc(["New", "York", "Times"])
    span = spacy.tokens.Span
    made.spans["sc"] = [span(made, 0, 2, "LOC"), span(made, 0, 3, "ORG")]
    made.spans["incorrect_spans"] = [span(made, 2, 3, "ORG"), span(made, 2, 3, "LOC")]
    made.spans["other"] = [span(made, 2, 3, "X")]
    findings = Findings()
    (sentence,) = read(saved(tmp_path, made), findings=findings)
    assert sentence.entities == (Entity(0, 3, "ORG"), Entity(0, 2, "LOC"))
    assert sentence.rejected == ((2, 3),)
    assert "entities are read from doc.spans['sc'] where it holds more" in findings.remarks
    assert "doc.spans['other'] is left out" in findings.remarks


def test_span_group_of_another_task_is_not_mixed_in(tmp_path: Path) -> None:
    made = doc(["New", "York"], ents=["B-LOC", "I-LOC"])
    made.spans["sc"] = [spacy.tokens.Span(made, 0, 1, "ADJ")]
    (sentence,) = read(saved(tmp_path, made))
    assert sentence.entities == (Entity(0, 2, "LOC"),)


def test_docbin_without_entities_knows_nothing(tmp_path: Path) -> None:
    (sentence,) = read(saved(tmp_path, doc(["Bo", "won"], ents=["B-PER", "O"]), attrs=["LEMMA"]))
    assert (sentence.entities, sentence.complete) == ((), False)


def test_spacy_reads_what_we_write(tmp_path: Path) -> None:
    text = "Ada  left\tNew York. Bo won."
    first, second = sentences_of_text(text, "d")
    path = tmp_path / "out.spacy"
    write(
        [
            replace(
                first,
                entities=(Entity(2, 4, "LOC"), Entity(3, 4, "X")),
                rejected=((0, 1),),
                outside=((4, 5),),
            ),
            replace(second, entities=(Entity(0, 1, "PER"),), complete=True),
        ],
        path,
        labels=("LOC", "PER"),
    )
    (made,) = spacy.tokens.DocBin().from_disk(path).get_docs(spacy.blank("xx").vocab)
    assert made.text == text
    assert [(e.text, e.label_) for e in made.ents] == [("New York", "LOC"), ("Bo", "PER")]
    tags = {token.text: token.ent_iob_ for token in made if not token.is_space}
    assert tags == {"Ada": "", "left": "", "New": "B", "York": "I", ".": "O", "Bo": "B", "won": "O"}
    assert [s.text.strip() for s in made.sents] == ["Ada  left\tNew York.", "Bo won."]
    assert [(s.text, s.label_) for s in made.spans["sc"]] == [
        ("New York", "LOC"),
        ("York", "X"),
        ("Bo", "PER"),
    ]
    assert {(s.text, s.label_) for s in made.spans["incorrect_spans"]} == {
        ("Ada", "LOC"),
        ("Ada", "PER"),
    }


@settings(deadline=None, max_examples=60)
@given(corpora(min_words=1))
def test_round_trip_keeps_all_but_ambiguity_source_and_score(
    tmp_path_factory: pytest.TempPathFactory, corpus: Corpus
) -> None:
    before = [replace(s, ambiguous=(), document=None, begin=0) for s in corpus]
    path = tmp_path_factory.mktemp("spacy") / "corpus.spacy"
    findings = Findings()
    write(before, path, labels=("PER",), findings=findings)
    after = read(path).sentences
    assert [(s.id, s.tokens, s.text, s.offsets) for s in after] == [
        (s.id, s.tokens, s.text, s.offsets) for s in before
    ]
    for old, new in zip(before, after, strict=True):
        assert [e.key for e in new.entities] == [e.key for e in old.entities]
        assert set(new.rejected) == set(old.rejected)
        if not without_overlap(old.entities)[1]:
            assert known(new) == known(old)


def known(sentence: Sentence) -> list[bool]:
    words = [sentence.complete] * len(sentence)
    for start, end in (*sentence.outside, *(e.span for e in sentence.entities)):
        words[start:end] = [True] * (end - start)
    return words


def test_broken_files_are_refused(tmp_path: Path) -> None:
    path = saved(tmp_path, doc(["Bo", "won"], ents=["B-PER", "O"]))
    whole = path.read_bytes()
    right = "Right is a file that spaCy wrote with DocBin.to_disk."
    for raw in (
        b"x",
        b"\x78\x9c",
        whole[: len(whole) // 2],
        zlib.compress(b"\xc1"),
        zlib.compress(b"{}"),
    ):
        path.write_bytes(raw)
        with pytest.raises(DataError, match="this is no DocBin of spaCy") as caught:
            read(path, format="spacy")
        assert right in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lengths": b"\x05\0\0\0"}, "lengths of documents and their tokens do not fit together"),
        ({"lengths": b"\xff\xff\xff\xff"}, "lengths of documents"),
        ({"tokens": b"123"}, "the parts of this DocBin do not fit together"),
        ({"strings": []}, "the parts of this DocBin do not fit together"),
        ({"strings": None}, "the parts of this DocBin do not fit together"),
        ({"span_groups": [b"\xc1"]}, "the parts of this DocBin do not fit together"),
        ({"attrs": [1] * 13}, "the DocBin holds no words"),
    ],
)
def test_parts_that_do_not_fit_are_refused(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    import srsly

    path = saved(tmp_path, doc(["Bo", "won"], ents=["B-PER", "O"]))
    parts = srsly.msgpack_loads(zlib.decompress(path.read_bytes()))
    path.write_bytes(zlib.compress(srsly.msgpack_dumps({**parts, **change})))
    with pytest.raises(DataError) as caught:
        read(path)
    assert message in str(caught.value)


def test_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docbin, "MAX_BYTES", 1000)
    path = tmp_path / "bomb.spacy"
    path.write_bytes(zlib.compress(b"\0" * 1_000_000))
    with pytest.raises(DataError, match="more than 1,000 bytes once decompressed"):
        read(path)


def test_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path, doc(["Bo"]))
    for name in ("spacy.strings", "spacy.tokens"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=r"pip install 'lacuner\[spacy\]'"):
        read(path)
    with pytest.raises(MissingExtra, match=r"pip install 'lacuner\[spacy\]'"):
        write([Sentence("1", ("Bo",))], tmp_path / "out.spacy")
