"""A small dump of Wikidata, made for tests."""

from __future__ import annotations

from typing import Any

import orjson


def claim(value: object, rank: str = "normal") -> dict[str, Any]:
    """A statement; a text is an item, None is an unknown value."""
    if value is None:
        return {"mainsnak": {"snaktype": "somevalue"}, "rank": rank}
    inner = {"id": value} if isinstance(value, str) else value
    return {"mainsnak": {"snaktype": "value", "datavalue": {"value": inner}}, "rank": rank}


def item(
    name: str,
    labels: dict[str, str] | None = None,
    aliases: dict[str, list[str]] | None = None,
    links: int = 20,
    **claims: list[dict[str, Any]],
) -> dict[str, Any]:
    """An item as a dump holds it."""
    return {
        "type": "item",
        "id": name,
        "labels": {
            code: {"language": code, "value": text} for code, text in (labels or {}).items()
        },
        "aliases": {
            code: [{"language": code, "value": text} for text in texts]
            for code, texts in (aliases or {}).items()
        },
        "sitelinks": {f"w{n}": {"site": f"w{n}", "title": "x"} for n in range(links)},
        "claims": claims or [],
    }


def packed(items: list[dict[str, Any]]) -> bytes:
    """A dump: a bracket, an item a line, a bracket."""
    return b"[\n" + b",\n".join(orjson.dumps(found) for found in items) + b"\n]\n"


ITEMS = [
    # Instances come before their classes, as in a real dump.
    item("Q1", {"en": "Maren\tHolt", "de": "Holt"}, {"en": ["M. Holt", " "]}, P31=[claim("Q5")]),
    item("Q2", {"mul": "Sana Mirza"}, P31=[claim("Q5")]),
    item("Q3", {"en": "Unknown Soul"}, links=2, P31=[claim("Q5")]),
    item("Q4", {"de": "Nur Deutsch"}, P31=[claim("Q5")]),
    item("Q10", {"en": "Gdynia"}, P31=[claim("Q515")]),
    item("Q11", {"en": "Lake Orsa"}, P31=[claim("Q900")]),
    item("Q12", {"en": "Ghent"}, P31=[claim("Q902"), claim("Q5", "deprecated")]),
    item("Q13", {"en": "Once a City"}, P31=[claim("Q515"), claim("Q7", "preferred")]),
    item("Q14", {"en": "Who Knows"}, P31=[claim(None)]),
    item("Q15", {"en": "Both"}, P31=[claim("Q515"), claim("Q5")]),
    item(
        "Q16",
        {"en": "Norland"},
        P31=[claim("Q6256")],
        P1549=[
            claim({"text": "Norlander", "language": "en"}),
            claim({"text": "Norländer", "language": "de"}),
        ],
    ),
    item("Q17"),
    {"type": "property", "id": "P31", "claims": {"P31": [claim("Q5")]}},
    item("Q900", {"en": "harbour town"}, P279=[claim("Q515")]),
    item("Q901", P279=[claim("Q900"), claim("Q902")]),
    item("Q902", P279=[claim("Q901"), claim(None)]),
]
