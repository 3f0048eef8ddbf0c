"""The HTML page of all events, without scripts."""

import json
from collections.abc import Iterator, Mapping
from html import escape
from itertools import groupby
from typing import Any, Final

from api_gateway.frame import code, prose, table
from api_gateway.frame import page as framed
from campus_tools.documents.asyncapi import EXCHANGE, data_schemas, example_of, meaning_of, title_of
from campus_tools.documents.samples import Samples
from contracts.event import Event
from contracts.topology import PUBLIC

_ENVELOPE: Final = (
    ("specversion", "<code>1.0</code>"),
    ("id", "A UUIDv7, also the AMQP <code>message_id</code>: take effect once for each."),
    ("source", "<code>/services/</code> and the publisher."),
    ("type", "The event's type, also the routing key."),
    ("subject", "The id of what it speaks of: the first field of <code>data</code>."),
    ("time", "When it happened, ISO 8601 UTC."),
    ("datacontenttype", "<code>application/json</code>"),
    ("sequence", "Grows by one per subject and publisher: judge order by it, never by arrival."),
    ("data", "The fields below."),
)


def page() -> str:
    """Return the whole page."""
    schemas = data_schemas()
    lines = [*_opening(), *_contents()]
    samples = Samples(schemas)
    for publisher, events in groupby(PUBLIC, key=lambda event: event.publisher()):
        lines.append(f"<h2>{publisher.capitalize()}</h2>")
        for event in events:
            lines += _event(event, schemas, samples)
    return framed("Events", "\n".join(lines), current="/events")


def _opening() -> Iterator[str]:
    yield "<h1>Events</h1>"
    yield (
        f"<p>Each event is published on the durable topic exchange <code>{EXCHANGE}</code> as CloudEvents 1.0 in "
        "structured mode "
        '(<code>application/cloudevents+json</code>). For programs: <a href="/asyncapi.json">asyncapi.json</a>. '
        'For requests: <a href="/docs">API reference</a>.</p>'
    )
    yield (
        "<p>A subscriber has a user of its own at the broker. It declares queues named "
        f"<code>sub.&lt;team&gt;.*</code>, binds them to <code>{EXCHANGE}</code> with patterns such as "
        "<code>orders.#</code> or <code>payments.escrow_held.v1</code>, and reads them. Events come at least once "
        "and in any order. Unknown fields are to be ignored: more may be added; anything else becomes "
        "<code>.v2</code>, published beside <code>.v1</code> for six months. Amounts ending in <code>Minor</code> "
        "are kobo.</p>"
    )
    yield "<h2>The envelope</h2>"
    yield table(("Field", "Meaning"), [(code(name), meaning) for name, meaning in _ENVELOPE])


def _contents() -> Iterator[str]:
    yield "<h2>All types</h2>"
    rows = [(f'<a href="#{event.TYPE}">{code(event.TYPE)}</a>', prose(meaning_of(event))) for event in PUBLIC]
    yield table(("Type", "Meaning"), rows)


def _event(event: type[Event], schemas: Mapping[str, Any], samples: Samples) -> Iterator[str]:
    yield f'<h3 id="{event.TYPE}">{title_of(event)}</h3>'
    yield f"<p>{code(event.TYPE)}</p>\n<p>{prose(meaning_of(event))}</p>"
    schema = schemas[event.__name__]
    required = schema.get("required", ())
    rows = [
        (code(name), _kind(inner, schemas), "always" if name in required else "not always")
        for name, inner in schema["properties"].items()
    ]
    yield table(("Field of data", "Kind", "Present"), rows)
    example = json.dumps(example_of(event, samples), indent=2, ensure_ascii=False)
    yield f"<details><summary>Example</summary><pre tabindex='0'>{escape(example)}</pre></details>"


def _kind(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        inner = schemas[schema["$ref"].rsplit("/", 1)[-1]]
        return f"object: {', '.join(map(code, inner['properties']))}"
    if "anyOf" in schema:
        return " or ".join(_kind(choice, schemas) for choice in schema["anyOf"] if choice.get("type") != "null")
    if "enum" in schema:
        return ", ".join(code(str(word)) for word in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}), schemas)}"
    return "UUID" if schema.get("format") == "uuid" else {"string": "text"}.get(schema["type"], schema["type"])
