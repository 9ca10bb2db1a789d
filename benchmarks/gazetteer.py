"""A million names on ten million words: every speed that `lacuner label` promises.

Run `python -m benchmarks.gazetteer` on a machine that does nothing else. Names and text are made
from fixed seeds. All runs on one core; the results go to `benchmarks/results/gazetteer.{json,md}`.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import orjson

from benchmarks import gazetteer_rivals as rivals
from benchmarks.gazetteer_material import write_names, write_text
from benchmarks.machine import processor

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("numpy", "tokenizers", "orjson", "ahocorasick_rs", "pyahocorasick", "spacy")


def run_part(part: str, work: Path, limit: int) -> dict[str, Any]:
    """One engine, in this process."""
    names, text, cache = work / "names", work / "text.txt", work / "cache"
    if part == "names and text":
        made = write_names(names, limit // 10)
        write_text(text, limit, made)
        write_text(work / "tenth.txt", limit // 10, made)
        return {}
    if part == "word trie":
        return rivals.word_trie(names, text, limit)
    if part == "word trie, second start":
        return rivals.word_trie(names, text, limit // 10, cache=cache)
    if part == "ahocorasick_rs":
        return rivals.rust_automaton(names, text, limit)
    if part == "pyahocorasick":
        return rivals.c_automaton(names, text, limit)
    if part == "spaCy PhraseMatcher":
        return rivals.phrase_matcher(names, text, limit // 10)
    return rivals.text_to_finds(names, text, limit // 10, cache=cache)


PARTS = (
    "word trie",
    "ahocorasick_rs",
    "pyahocorasick",
    "spaCy PhraseMatcher",
    "word trie, text to finds",
)


def in_own_process(part: str, work: Path, limit: int) -> dict[str, Any]:
    """Runs a part in a process of its own, so that memory is its own too."""
    print(f"… {part}", flush=True)
    arguments = ["--part", part, "--work", str(work), "--words", str(limit)]
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.gazetteer", *arguments],
        stdout=subprocess.PIPE,
        check=True,
    )
    result: dict[str, Any] = orjson.loads(run.stdout)
    return result


def command(work: Path, text: Path, *, words: int, cache: Path) -> dict[str, Any]:
    """The real command: read, cut into words, match, resolve, write JSONL."""
    print(f"… lacuner label {text.name}", flush=True)
    output = work / "out.jsonl"
    begin = perf_counter()
    child = subprocess.Popen(
        [
            *(
                str(Path(sys.executable).with_name("lacuner")),
                "label",
                str(text),
                "--names",
                str(work / "names"),
            ),
            *("-o", str(output), "--cache", str(cache), "--overwrite", "--quiet"),
        ]
    )
    _, status, usage = os.wait4(child.pid, 0)
    seconds = perf_counter() - begin
    if status:
        raise SystemExit(f"lacuner label failed on {text}")
    core = usage.ru_utime + usage.ru_stime
    return {
        "words": words,
        "seconds": round(seconds, 2),
        "core_seconds": round(core, 2),
        "words_per_second": round(words / seconds),
        "words_per_core_second": round(words / core),
        "peak_memory_mb": usage.ru_maxrss // 1024,
        "output_mb": output.stat().st_size >> 20,
    }


def measure(work: Path, words: int) -> dict[str, Any]:
    """Everything, one after the other."""
    # Not in this process: what it starts would inherit its peak memory.
    in_own_process("names and text", work, words)
    cache = work / "cache"
    results: dict[str, Any] = {
        "machine": {
            "python": platform.python_version(),
            "processor": processor(),
            "load_before": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
            "packages": {package: version(package) for package in PACKAGES},
        },
        "names": words // 10,
        "words": words,
        "command": {
            "first start": command(work, work / "text.txt", words=words, cache=cache),
            "second start": command(work, work / "text.txt", words=words, cache=cache),
            "a tenth of the text": command(
                work, work / "tenth.txt", words=words // 10, cache=cache
            ),
        },
        "second start": in_own_process("word trie, second start", work, words),
        "engines": {part: in_own_process(part, work, words) for part in PARTS},
    }
    results["machine"]["load_after"] = round(os.getloadavg()[0], 2)
    results["targets"] = targets(results)
    return results


def targets(results: dict[str, Any]) -> list[dict[str, Any]]:
    """What was promised, what came out by the clock on the wall, and by time on the core."""
    trie, second = results["engines"]["word trie"], results["second start"]
    whole, tenth = results["command"]["first start"], results["command"]["a tenth of the text"]
    warm = results["command"]["second start"]
    spacy = results["engines"]["spaCy PhraseMatcher"]
    text = results["engines"]["word trie, text to finds"]

    def row(what: str, target: str, wall: float, core: float | None, met: bool) -> dict[str, Any]:
        return {"what": what, "target": target, "wall": wall, "core": core, "met_by_wall": met}

    def times(kind: str, ours: dict[str, Any], theirs: str) -> float:
        return round(float(ours[f"words_per_{kind}"] / spacy[f"words_per_{kind}_{theirs}"]), 1)

    rows = [
        row(
            "ready, seconds", "< 40", trie["ready_seconds"], trie["ready_core_seconds"],
            trie["ready_seconds"] < 40,
        ),
        row(
            "memory when ready, MB", "< 1,500", trie["ready_memory_mb"], None,
            trie["ready_memory_mb"] < 1500,
        ),
        row(
            "matching, words a second", "≥ 2,000,000", trie["words_per_second"],
            trie["words_per_core_second"], trie["words_per_second"] >= 2_000_000,
        ),
        row(
            "whole command with first start, words a second", "≥ 250,000",
            whole["words_per_second"], whole["words_per_core_second"],
            whole["words_per_second"] >= 250_000,
        ),
        row(
            "whole command with second start, words a second", "≥ 250,000",
            warm["words_per_second"], warm["words_per_core_second"],
            warm["words_per_second"] >= 250_000,
        ),
        row(
            "second start, seconds", "< 15", second["ready_seconds"],
            second["ready_core_seconds"], second["ready_seconds"] < 15,
        ),
        row(
            "memory of the command, all the text against a tenth of it, MB more", "about 0",
            warm["peak_memory_mb"] - tenth["peak_memory_mb"], None,
            warm["peak_memory_mb"] < 1.25 * tenth["peak_memory_mb"],
        ),
    ]  # fmt: skip
    comparisons = (
        ("matching words, against PhraseMatcher on text", "≥ 20", trie, "with_tokeniser"),
        ("text to finds, against PhraseMatcher on text", "≥ 20", text, "with_tokeniser"),
        ("matching words, against PhraseMatcher on its tokens", "", trie, "without_tokeniser"),
    )
    for what, target, ours, theirs in comparisons:
        wall = times("second", ours, theirs)
        core = times("core_second", ours, theirs)
        rows.append(row(f"{what}, times", target, wall, core, wall >= 20))
    return rows


def as_markdown(results: dict[str, Any]) -> str:
    """The results as tables."""
    machine = results["machine"]
    packages = ", ".join(f"{name} {number}" for name, number in machine["packages"].items())
    lines = [
        "# A million names",
        "",
        f"Written by `python -m benchmarks.gazetteer`: {results['names']:,} names, "
        f"{results['words']:,} words (between blanks), one core of {machine['processor']}, "
        f"Python {machine['python']}, {packages}. Load of the machine before and after: "
        f"{machine['load_before']} and {machine['load_after']} (1 is this benchmark alone).",
        "",
        "| what | target | by the wall | by time on the core | met (wall) |",
        "|---|---|---|---|---|",
    ]
    for row in results["targets"]:
        core = f"{row['core']:,}" if row["core"] is not None else ""
        met = "" if row["target"] == "" else "yes" if row["met_by_wall"] else "no"
        lines.append(f"| {row['what']} | {row['target']} | {row['wall']:,} | {core} | {met} |")
    for title, group in (("Engines", "engines"), ("The command", "command")):
        lines += ["", f"## {title}", ""]
        for name, figures in results[group].items():
            shown = ", ".join(
                f"{key.replace('_', ' ')} {value:,}"
                for key, value in figures.items()
                if key != "checksum"
            )
            lines.append(f"- **{name}**: {shown}")
    same = {
        results["engines"][part]["checksum"]
        for part in ("word trie", "ahocorasick_rs", "pyahocorasick")
    }
    lines += ["", f"The three engines found the same names: {'yes' if len(same) == 1 else 'NO'}."]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Runs everything, or one part for the process above."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--words", type=int, default=10_000_000, help="words of text; a tenth as many names"
    )
    parser.add_argument("--part")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    if given.part:
        sys.stdout.buffer.write(orjson.dumps(run_part(given.part, given.work, given.words)))
        return
    with tempfile.TemporaryDirectory() as folder:
        results = measure(Path(folder), given.words)
    given.results.mkdir(parents=True, exist_ok=True)
    (given.results / "gazetteer.json").write_bytes(
        orjson.dumps(results, option=orjson.OPT_INDENT_2)
    )
    (given.results / "gazetteer.md").write_text(as_markdown(results), "utf-8")
    print(as_markdown(results))


if __name__ == "__main__":
    main()
