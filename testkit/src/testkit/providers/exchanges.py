"""Check every call of a provider's API that passes through an ASGI application, and every response to one."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

from testkit.providers.schemas import Nonconformance

CheckRequest = Callable[[str, str, Mapping[str, str], Any], None]
CheckResponse = Callable[[str, str, int, Any], None]
# The sandbox marks a response that a fault rule changed: it may have any shape.
FAULT_HEADER = b"x-sandbox-fault"


class CheckedExchanges:
    """Passes requests on, and collects in `found` what does not fit, of paths below `prefix` in an area."""

    def __init__(
        self, prefix: str, areas: Sequence[str], check_request: CheckRequest, check_response: CheckResponse
    ) -> None:
        self.app: Any = None
        self.found: list[str] = []
        self._prefix, self._areas = prefix, tuple(areas)
        self._check_request, self._check_response = check_request, check_response

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        path = scope.get("path", "").removeprefix(self._prefix)
        if scope["type"] != "http" or not scope["path"].startswith(self._prefix) or not path.startswith(self._areas):
            await self.app(scope, receive, send)
            return
        received: list[bytes] = []
        sent: list[bytes] = []
        start: dict[str, Any] = {}

        async def receive_recorded() -> Any:
            message = await receive()
            received.append(message.get("body", b""))
            return message

        async def send_recorded(message: Any) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
            else:
                sent.append(message.get("body", b""))
            await send(message)

        await self.app(scope, receive_recorded, send_recorded)
        query = dict(parse_qsl(scope["query_string"].decode(), keep_blank_values=True))
        self._check(scope["method"], path, query, b"".join(received), start, b"".join(sent))

    def _check(
        self, method: str, path: str, query: Mapping[str, str], body: bytes, start: Mapping[str, Any], sent: bytes
    ) -> None:
        try:
            # A rejected key gets its response before the body is read.
            if start["status"] != 401:
                self._check_request(method, path, query, json.loads(body) if body else None)
            is_changed = FAULT_HEADER in {name for name, _ in start["headers"]}
            if start["status"] < 500 and not is_changed:
                self._check_response(method, path, start["status"], json.loads(sent))
        except Nonconformance as difference:
            self.found.append(str(difference))
