"""How closely labels from the EC and NEWS dictionaries agree with those that the corpora ship.

Run `python -m benchmarks.distant_agreement DATA`, DATA being the folder with `ec` and `news`.
The results go to `benchmarks/results/distant_agreement.{json,md}`; no sentence is copied there.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

import lacuner
from lacuner import Corpus, Entity, Sentence
from lacuner.labelling import MatchOptions, compile_names, label, read_names
from lacuner.labelling.names import NameFile

RESULTS = Path(__file__).parent / "results"
EC_LABELS = {
    "Brand": "pp",
    "Product": "cp",
    "Model": "xh",
    "Material": "yl",
    "Specification": "gg",
}
WITHOUT_MATERIAL = ("Brand", "Product", "Model", "Specification")


@dataclass(frozen=True)
class Setting:
    """One way of labelling: which dictionaries, and how names are compared."""

    corpus: str
    dictionaries: tuple[str, ...]
    case: str = "exact"
    overlap: str = "leftmost"
    min_length: int = 1

    def labelled(self, shipped: Corpus, data: Path) -> list[Sentence]:
        """The sentences of the corpus with our labels in place of its own."""
        folder = data / self.corpus / "dictionary"
        files = [NameFile(folder / f"{d}.txt", EC_LABELS.get(d, "PER")) for d in self.dictionaries]
        options = MatchOptions(
            case=self.case,
            units="characters",
            overlap=self.overlap,
            min_length=self.min_length,
            ambiguous="first",
        )
        gazetteer = compile_names(read_names(files), options)
        return list(label(shipped, gazetteer, keep_labels=False))


SETTINGS = [
    *(
        Setting("ec", tuple(dictionaries), case, overlap)
        for dictionaries in (EC_LABELS, WITHOUT_MATERIAL)
        for case in ("exact", "ignore")
        for overlap in ("leftmost", "longest")
    ),
    Setting("ec", WITHOUT_MATERIAL, "ignore", "longest", min_length=3),
    Setting("ec", WITHOUT_MATERIAL, "ignore", "all"),
    Setting("news", ("PERSON",)),
    Setting("news", ("additional_names",)),
    Setting("news", ("PERSON", "additional_names")),
    Setting("news", ("PERSON", "additional_names"), overlap="longest"),
    Setting("news", ("PERSON", "additional_names"), "ignore"),
    Setting("news", ("PERSON", "additional_names"), overlap="all"),
]


def compare(ours: list[Sentence], shipped: Corpus) -> dict[str, Any]:
    """Precision, recall and F1 of our labels against the shipped ones, and all differences."""
    counts: dict[str, Counter[str]] = {"same": Counter(), "ours": Counter(), "shipped": Counter()}
    kinds: Counter[str] = Counter()
    for mine, theirs in zip(ours, shipped, strict=True):
        assert mine.tokens == theirs.tokens
        left = {entity.key: entity for entity in mine.entities}
        right = {entity.key: entity for entity in theirs.entities}
        for kind, keys in (
            ("same", left.keys() & right.keys()),
            ("ours", left.keys() - right.keys()),
            ("shipped", right.keys() - left.keys()),
        ):
            counts[kind].update(key[2] for key in keys)
        only_ours = [left[key] for key in sorted(left.keys() - right.keys())]
        only_shipped = [right[key] for key in sorted(right.keys() - left.keys())]
        kinds.update(_kind(entity, list(right.values()), "ours") for entity in only_ours)
        kinds.update(_kind(entity, list(left.values()), "shipped") for entity in only_shipped)
    labels = sorted(set().union(*counts.values()))
    return {
        "total": _scores(*(sum(counts[kind].values()) for kind in counts)),
        "by_label": {label: _scores(*(counts[kind][label] for kind in counts)) for label in labels},
        "differences": dict(kinds.most_common()),
    }


def _kind(entity: Entity, others: list[Entity], side: str) -> str:
    """What sort of difference an entity is that the other side does not have."""
    touching = [o for o in others if o.start < entity.end and entity.start < o.end]
    if any(other.span == entity.span for other in touching):
        return f"{side} {entity.label}: the other side has another label"
    if touching:
        return f"{side} {entity.label}: the other side has another span"
    return f"{side} {entity.label}: the other side has nothing"


def _scores(same: int, ours: int, shipped: int) -> dict[str, float]:
    precision = same / (same + ours) if same + ours else 0.0
    recall = same / (same + shipped) if same + shipped else 0.0
    f1 = 2 * precision * recall / (precision + recall) if same else 0.0
    return {
        "precision": round(precision, 4),
        "recall": round(recall, 4),
        "f1": round(f1, 4),
        "same": same,
        "only_ours": ours,
        "only_shipped": shipped,
    }


def as_markdown(rows: list[dict[str, Any]]) -> str:
    """The results as tables."""
    lines = [
        "# Agreement with shipped distant labels",
        "",
        "Written by `python -m benchmarks.distant_agreement DATA`. Ours against `ds_pa.tsv`.",
        "",
        "| corpus | dictionaries | case | overlap | min | P | R | F1 | same | ours | shipped |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        total = row["total"]
        lines.append(
            f"| {row['corpus']} | {' '.join(row['dictionaries'])} | {row['case']} "
            f"| {row['overlap']} | {row['min_length']} | {total['precision']:.2%} "
            f"| {total['recall']:.2%} | {total['f1']:.2%} | {total['same']:,} "
            f"| {total['only_ours']:,} | {total['only_shipped']:,} |"
        )
    lines += ["", "Differences, by kind:", ""]
    for row in rows:
        name = f"{row['corpus']}, {' '.join(row['dictionaries'])}, {row['case']}, {row['overlap']}"
        found = "; ".join(f"{kind}: {count:,}" for kind, count in row["differences"].items())
        lines.append(f"- {name}: {found or 'none'}")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Tries all settings and writes the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data
    shipped = {name: lacuner.read(data / name / "ds_pa.tsv") for name in ("ec", "news")}
    rows = []
    for setting in SETTINGS:
        corpus = shipped[setting.corpus]
        row = {**setting.__dict__, **compare(setting.labelled(corpus, data), corpus)}
        rows.append(row)
        total = row["total"]
        print(setting, f"P {total['precision']:.2%} R {total['recall']:.2%} F1 {total['f1']:.2%}")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "distant_agreement.json").write_bytes(orjson.dumps(rows, option=orjson.OPT_INDENT_2))
    (RESULTS / "distant_agreement.md").write_text(as_markdown(rows), "utf-8")


if __name__ == "__main__":
    main()
