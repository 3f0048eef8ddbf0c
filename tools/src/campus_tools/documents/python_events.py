"""The typed public events of the Python client, generated from the AsyncAPI document."""

from typing import Any, Final

from campus_tools.documents.python_models import in_order, model_name, model_source

_HEAD: Final = '''"""The public events at the broker. Generated from asyncapi.json by `make documents`; do not edit."""

from datetime import date, datetime, time
from typing import Any, Final, Literal
from uuid import UUID

from pydantic import Field

from campus_client.model import ResponseModel

'''
_TAIL: Final = '''

class PublicEvent(ResponseModel):
    """A received event (CloudEvents 1.0). It may arrive more than once with the same `id`; `sequence` grows by one for
    each event of a `subject` from one `source`. Amounts are in kobo.
    """

    id: UUID
    source: str
    type: str
    subject: str
    time: datetime
    sequence: int
    data: Any
    """An instance of the class of `type` in `TYPES`; a dictionary for a type that this package does not know."""


def parse_event(body: bytes | str) -> PublicEvent:
    """Read the body of a message.

    Raises:
        pydantic.ValidationError: the body is no event, or its data does not match its type.
    """
    event = PublicEvent.model_validate_json(body)
    model = TYPES.get(event.type)
    return event if model is None else event.model_copy(update={"data": model.model_validate(event.data)})
'''


def source(document: dict[str, Any]) -> str:
    """Return the module `public_events.py`."""
    schemas = document["components"]["schemas"]
    models = [model_source(name, schemas[name]) for name in in_order(schemas)]
    entries = [
        f'    "{channel["address"]}": {model_name(name)},' for name, channel in sorted(document["channels"].items())
    ]
    types = ["TYPES: Final[dict[str, type[ResponseModel]]] = {", *entries, "}", '"""The class of `data` by type."""']
    return _HEAD + "\n\n".join([*models, "\n".join(types)]) + _TAIL
