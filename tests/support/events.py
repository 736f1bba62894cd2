"""Server-sent events, read as a client reads them."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Event:
    id: str
    name: str
    data: dict[str, Any]


def events(lines: Iterable[str]) -> Iterator[Event]:
    """Of the lines of a stream; comments are passed over."""
    fields: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
        elif "data" in fields:
            yield Event(fields["id"], fields["event"], json.loads(fields["data"]))
            fields = {}


def shown(received: Iterable[Event]) -> str:
    """The reply as the narration events leave it with a reader."""
    text = ""
    for event in received:
        if event.name == "narration":
            text = event.data["text"] if event.data["replaces"] else text + event.data["text"]
    return text
