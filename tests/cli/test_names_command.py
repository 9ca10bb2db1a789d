"""`lacuner names` as a user meets it, against a real SPARQL engine and a small dump."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import lacuner as package
from tests.cli.conftest import Run
from tests.knowledge.small_dump import ITEMS, packed
from tests.knowledge.sparql_server import Fault, SparqlServer, serving

Lacuner = Callable[..., Run]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache-home"))


@pytest.fixture
def server() -> Iterator[SparqlServer]:
    with serving() as running:
        yield running


def _ask(lacuner: Lacuner, server: SparqlServer, folder: Path, *more: object) -> Run:
    return lacuner(
        "names", "--endpoint", server.url, "--delay", 0, "--attempts", 1,
        "-o", folder / "names", *more,
    )  # fmt: skip


def _lines(folder: Path, label: str) -> list[str]:
    return sorted((folder / "names" / f"{label}.txt").read_text("utf-8").splitlines())


def test_names_go_from_the_server_to_labels(
    lacuner: Lacuner, server: SparqlServer, tmp_path: Path
) -> None:
    run = _ask(lacuner, server, tmp_path)
    assert run.code == 0, run.err
    assert "ORG: no name was found" in run.err
    assert "4 PER, 4 LOC, 1 MISC" in run.err
    text = tmp_path / "news.txt"
    text.write_text("Maren Holt, a Norlander, met Sana Mirza in Ghent.\n")
    out = tmp_path / "out.jsonl"
    assert lacuner("label", text, "--names", tmp_path / "names", "-o", out, "-q").code == 0
    (sentence,) = package.read(out)
    assert [(sentence.surface(*e.span), e.label) for e in sentence.entities] == [
        ("Maren Holt", "PER"),
        ("Norlander", "MISC"),
        ("Sana Mirza", "PER"),
        ("Ghent", "LOC"),
    ]


def test_names_say_what_they_come_from(
    lacuner: Lacuner, server: SparqlServer, tmp_path: Path
) -> None:
    run = _ask(lacuner, server, tmp_path, "--class", "TOWN=Q515", "--no-aliases", "--json")
    assert json.loads(run.out)["entries"] == {"TOWN": 3}
    kept = json.loads((tmp_path / "names" / ".names.json").read_text())
    assert kept["source"] == server.url
    assert kept["classes"] == {"TOWN": ["Q515"]}
    assert kept["entries"] == {"TOWN": 3}


def test_shipped_and_own_types_and_queries_go_together(
    lacuner: Lacuner, server: SparqlServer, tmp_path: Path
) -> None:
    query = tmp_path / "q.rq"
    query.write_text('SELECT ?name WHERE { VALUES ?name { "Lumo" "Lumo One" } } ORDER BY ?name')
    run = _ask(
        lacuner, server, tmp_path, "--label", "PER", "--class", "TOWN=Q515", "--query", f"X={query}"
    )
    assert run.code == 0, run.err
    assert _lines(tmp_path, "X") == ["Lumo", "Lumo One"]
    assert sorted(p.stem for p in (tmp_path / "names").glob("*.txt")) == ["PER", "TOWN", "X"]


def test_killed_command_goes_on_without_asking_again(
    lacuner: Lacuner, server: SparqlServer, tmp_path: Path
) -> None:
    reached, released = threading.Event(), threading.Event()

    def hold(number: int) -> None:
        if number == 4:
            reached.set()
            released.wait(20)

    server.before_answer = hold
    options = ["names", "--endpoint", server.url, "--delay", "0", "--page", "1", "--sitelinks", "0"]
    command = [*options, "--label", "PER", "-o", str(tmp_path / "names"), "-q"]
    started = subprocess.Popen([sys.executable, "-m", "lacuner", *command], env={**os.environ})
    assert reached.wait(60)
    started.send_signal(signal.SIGKILL)
    started.wait()
    released.set()
    assert not (tmp_path / "names").exists()
    server.before_answer = lambda number: None
    answered = set(server.queries[:3])
    assert lacuner(*command).code == 0
    again = server.queries[4:]
    assert not answered & set(again)
    assert again[0] == server.queries[3]
    assert len(_lines(tmp_path, "PER")) == 5


def test_server_that_stops_is_one_sentence_and_work_is_kept(
    lacuner: Lacuner, server: SparqlServer, tmp_path: Path
) -> None:
    server.faults = [None, None, Fault(503), Fault(503)]
    run = _ask(lacuner, server, tmp_path, "--label", "PER")
    assert run.code == 1
    assert "the same command goes on there" in run.err
    assert run.err.splitlines()[-1].startswith(f"error: {server.url}: the server answers 503")
    assert list(tmp_path.glob("*names*")) == []


def test_names_of_a_dump(lacuner: Lacuner, tmp_path: Path) -> None:
    dump = tmp_path / "dump.json.gz"
    dump.write_bytes(gzip.compress(packed(ITEMS)))
    run = lacuner("names", "--dump", dump, "-o", tmp_path / "names")
    assert run.code == 0, run.err
    assert _lines(tmp_path, "PER") == ["Both", "Maren Holt\tM. Holt", "Sana Mirza"]
    assert _lines(tmp_path, "MISC") == ["Norlander"]


def test_broken_dump_leaves_nothing_behind(lacuner: Lacuner, tmp_path: Path) -> None:
    dump = tmp_path / "dump.json"
    dump.write_bytes(packed(ITEMS)[:-3])
    run = lacuner("names", "--dump", dump, "-o", tmp_path / "names")
    assert (run.code, "closing bracket" in run.err) == (1, True)
    assert [path.name for path in tmp_path.iterdir() if "names" in path.name] == []


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (["--label", "PRE"], 2, "There is no shipped type 'PRE'. Did you mean PER?"),
        (["--label", "PER", "--class", "PER=Q5"], 2, "take one of them"),
        (["--class", "PER=human"], 2, "A class of Wikidata is written as Q5 is"),
        (["--language", "english please"], 2, "A language is a code"),
        (["--query", "PER="], 2, "--query takes LABEL=FILE or FILE"),
        (["--query", "PER=none.rq"], 1, "there is no such file"),
        (["--page", "0"], 2, "A page has 1 row or more"),
        (["--limit", "0"], 2, "The limit is 1 name or more"),
        (["--endpoint", "wikidata"], 2, "An endpoint is an address such as"),
        (["--endpoint", "http://[::1/x"], 2, "An endpoint is an address such as"),
        (["--timeout", "nan"], 2, "the timeout above 0"),
        (["--timeout", "inf"], 2, "the timeout above 0"),
        (["--delay", "nan"], 2, "The delay is 0 seconds or more"),
        (["--days", "nan"], 2, "Pages are kept for 0 days or more"),
        (["--class", "X=Q777"], 1, "There is no name for"),
    ],
)
def test_wrong_use_is_said_and_nothing_is_written(
    lacuner: Lacuner, server: SparqlServer, tmp_path: Path, more: list[str], code: int, message: str
) -> None:
    run = _ask(lacuner, server, tmp_path, *more)
    assert (run.code, message in run.err) == (code, True), run.err
    assert not (tmp_path / "names").exists()


def test_dump_cannot_be_asked(lacuner: Lacuner, tmp_path: Path) -> None:
    query = tmp_path / "q.rq"
    query.write_text("SELECT ?name { }")
    run = lacuner("names", "--dump", query, "--query", f"X={query}", "-o", tmp_path / "names")
    assert (run.code, "A dump cannot be asked" in run.err) == (2, True)


@pytest.mark.parametrize("endpoint", ["foo", "https://query.wikidata.org/sparql"])
def test_dump_and_endpoint_exclude_each_other(
    lacuner: Lacuner, tmp_path: Path, endpoint: str
) -> None:
    dump = tmp_path / "dump.json"
    dump.write_bytes(packed(ITEMS))
    run = lacuner("names", "--dump", dump, "--endpoint", endpoint, "-o", tmp_path / "names")
    assert (run.code, "--dump or --endpoint, not both" in run.err) == (2, True)
    assert not (tmp_path / "names").exists()


def test_folder_that_is_there_is_not_replaced_unasked(
    lacuner: Lacuner, server: SparqlServer, tmp_path: Path
) -> None:
    (tmp_path / "names").mkdir()
    assert "exists already" in _ask(lacuner, server, tmp_path).err
    assert server.queries == []
    assert _ask(lacuner, server, tmp_path, "--overwrite", "--label", "PER").code == 0
