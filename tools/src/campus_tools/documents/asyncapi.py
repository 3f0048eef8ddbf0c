"""The AsyncAPI 3 document of public events, generated from the contracts."""

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from pydantic.alias_generators import to_camel

from campus_tools.documents.error_responses import BASE_URL
from campus_tools.documents.samples import SOME_ID, TIME, Samples
from contracts.event import Event
from contracts.topology import PUBLIC

EXCHANGE: Final = "campus.public"
MEDIA_TYPE: Final = "application/cloudevents+json"
_SCHEMAS: Final = "#/components/schemas/"
_DESCRIPTION: Final = """\
The events of this backend for others: CloudEvents 1.0 in structured mode on the durable topic exchange
`campus.public`; the routing key is the event's type.

- At least once, in any order. Take effect once per `id`, and judge order by `sequence`, which grows by one per subject
  and publisher.
- Fields may be added to `data`; readers ignore those that they do not know. Anything else becomes `.v2`, published
  beside `.v1` for six months.
- A subscriber has a user of its own at the broker: it declares queues named `sub.<team>.*`, binds them to
  `campus.public` and reads them, nothing else.
- Amounts ending in `Minor` are integers in kobo; times are ISO 8601 UTC.
"""
_ENVELOPE: Final[Mapping[str, Any]] = {
    "specversion": {"type": "string", "const": "1.0"},
    "id": {"type": "string", "format": "uuid", "description": "UUIDv7, also the AMQP `message_id`."},
    "source": {"type": "string"},
    "type": {"type": "string"},
    "subject": {"type": "string", "description": "The id of what the event speaks of: the first field of `data`."},
    "time": {"type": "string", "format": "date-time"},
    "datacontenttype": {"type": "string", "const": "application/json"},
    "sequence": {"type": "integer", "minimum": 1, "description": "Grows by one per subject and publisher."},
}


def document() -> dict[str, Any]:
    """Return the whole document."""
    schemas = data_schemas()
    samples = Samples(schemas)
    channels, operations, messages = {}, {}, {}
    for event in PUBLIC:
        name = event.__name__
        messages[name] = _message(event, samples)
        channels[name] = {
            "address": event.TYPE,
            "title": title_of(event),
            "description": meaning_of(event),
            "messages": {name: {"$ref": f"#/components/messages/{name}"}},
            "bindings": {"amqp": _channel_binding()},
            "tags": [{"name": event.publisher()}],
        }
        operations[f"tell{name}"] = {
            "action": "send",
            "channel": {"$ref": f"#/channels/{name}"},
            "summary": title_of(event),
            "messages": [{"$ref": f"#/channels/{name}/messages/{name}"}],
        }
    return {
        "asyncapi": "3.1.0",
        "info": {
            "title": "Campus Marketplace events",
            "version": "v1",
            "description": _DESCRIPTION,
            "externalDocs": {"url": f"{BASE_URL}/events", "description": "Every event with an example."},
        },
        "defaultContentType": MEDIA_TYPE,
        "servers": {
            "broker": {
                "host": "{broker}",
                "variables": {
                    "broker": {
                        "default": "localhost:5672",
                        "description": (
                            "Host and port of `SUBSCRIBER_BROKER_URL`, which the operators of this system hand out."
                        ),
                    }
                },
                "protocol": "amqp",
                "protocolVersion": "0.9.1",
                "description": "RabbitMQ; `SUBSCRIBER_BROKER_URL` holds the address and the user of the team `demo`.",
                "security": [{"$ref": "#/components/securitySchemes/subscriber"}],
            }
        },
        "channels": channels,
        "operations": operations,
        "components": {
            "messages": messages,
            "schemas": schemas,
            "securitySchemes": {
                "subscriber": {"type": "userPassword", "description": "The subscriber's own user at the broker."}
            },
        },
    }


def data_schemas() -> dict[str, Any]:
    """Return the schema of each event's `data`, by its class."""
    _, schemas = msgspec.json.schema_components(PUBLIC, ref_template=_SCHEMAS + "{name}")
    return dict(sorted(schemas.items()))


def example_of(event: type[Event], samples: Samples) -> dict[str, Any]:
    """Return a whole message."""
    data = samples.of({"$ref": _SCHEMAS + event.__name__})
    return {
        "specversion": "1.0",
        "id": SOME_ID,
        "source": f"/services/{event.publisher()}",
        "type": event.TYPE,
        "subject": next(iter(data.values())),
        "time": TIME,
        "datacontenttype": "application/json",
        "sequence": 3,
        "data": data,
    }


def title_of(event: type[Event]) -> str:
    """`orders.order_placed.v1` is shown as `Order placed`."""
    return event.TYPE.split(".")[1].replace("_", " ").capitalize()


def meaning_of(event: type[Event]) -> str:
    """Return the event's docstring as one paragraph, with field names as in the payload."""
    own = event.__dict__.get("__doc__") or f"{title_of(event)}."
    return re.sub(r"(?<=`)[a-z]+(?:_[a-z]+)+(?=`)", lambda found: to_camel(found[0]), " ".join(own.split()))


def _message(event: type[Event], samples: Samples) -> dict[str, Any]:
    envelope = {
        **_ENVELOPE,
        "source": {"type": "string", "const": f"/services/{event.publisher()}"},
        "type": {"type": "string", "const": event.TYPE},
        "data": {"$ref": _SCHEMAS + event.__name__},
    }
    return {
        "name": event.TYPE,
        "title": title_of(event),
        "summary": meaning_of(event),
        "contentType": MEDIA_TYPE,
        "tags": [{"name": event.publisher()}],
        "payload": {"type": "object", "required": list(envelope), "properties": envelope},
        "examples": [{"name": "example", "payload": example_of(event, samples)}],
    }


def _channel_binding() -> dict[str, Any]:
    return {
        "is": "routingKey",
        "exchange": {"name": EXCHANGE, "type": "topic", "durable": True, "autoDelete": False, "vhost": "/"},
        "bindingVersion": "0.3.0",
    }
