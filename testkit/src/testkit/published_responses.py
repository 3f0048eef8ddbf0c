"""Every JSON response in the tests of a service is of the model that its endpoint publishes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from common.web.response_models import ResponseModel


@dataclass(frozen=True, slots=True)
class PublishedResponses:
    """An application whose responses are checked before they are sent. Another one ends the request with an error."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        held: list[Message] = []

        async def check(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_json(message):
                held.append(message)
                return
            if held and message["type"] == "http.response.body":
                held.append(message)
                if message.get("more_body"):
                    return
                body = b"".join(each.get("body", b"") for each in held[1:])
                check_published(scope.get("route"), held[0]["status"], body)
                for each in held:
                    await send(each)
                held.clear()
                return
            await send(message)

        await self.app(scope, receive, check)


def check_published(route: Any, status: int, body: bytes) -> None:
    """Raise msgspec.ValidationError or AssertionError for a body that is not of the model of this status.

    A model with a `success` is a whole envelope; any other is the data of one.
    """
    model = getattr(route, "responses", {}).get(status, {}).get("model")
    item = next(iter(get_args(model)), model)
    if item is None:
        return
    if not (isinstance(item, type) and issubclass(item, ResponseModel)):
        raise AssertionError(f"{route.path}: {item} is no ResponseModel")
    content = msgspec.json.decode(body)
    # The key set has no envelope (contract section 1.2).
    is_whole = "success" in item.__struct_fields__ or "success" not in content
    shown = content if is_whole else content["data"]
    decoded = msgspec.to_builtins(msgspec.convert(shown, model, str_keys=True))
    assert decoded == shown, f"{route.path}: the response has members or forms that {item.__name__} does not publish"


def _is_json(message: Mapping[str, Any]) -> bool:
    return message["status"] < 300 and (b"content-type", b"application/json") in message["headers"]
