"""Text messages over HTTP, in the shapes of two companies: Termii (JSON) and Africa's Talking (form)."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import httpx

from notifications.clients.responses import REFUSALS, no_response, reported_in
from notifications.domain.deliveries import OutboundMessage
from notifications.domain.errors import ProviderRefused, ProviderUnavailable

# What Africa's Talking says of a number: taken (processed, sent, queued), or not for now (balance, gateway, capacity).
_TAKEN: Final = frozenset({100, 101, 102})
_NOT_NOW: Final = frozenset({405, 409, 500, 501, 502})


class Termii:
    """`POST {url}/api/sms/send`. It knows no idempotency key: what is sent again arrives again."""

    def __init__(self, http: httpx.AsyncClient, base_url: str, api_key: str, sender: str, provider: str) -> None:
        self._http, self._api_key, self._sender = http, api_key, sender
        self._url = f"{base_url.rstrip('/')}/api/sms/send"
        self.provider = provider

    async def send(self, message_out: OutboundMessage) -> str:
        """The company's id of the message; raises ProviderAway and ProviderRefused."""
        body = {
            "to": message_out.address.removeprefix("+"),
            "from": self._sender,
            "sms": message_out.message.text,
            "type": "plain",
            "channel": "generic",
            "api_key": self._api_key,
        }
        try:
            answer = await self._http.post(self._url, json=body)
        except httpx.HTTPError as error:
            raise no_response(self.provider, error) from error
        told = reported_in(answer)
        if answer.status_code in REFUSALS:
            raise ProviderRefused(self.provider, f"{answer.status_code} {told.get('message', '')}".strip())
        message_id = told.get("message_id")
        if not answer.is_success or not isinstance(message_id, str):
            raise ProviderUnavailable(self.provider, f"{answer.status_code} {told.get('message', '')}".strip())
        return message_id


class AfricasTalking:
    """`POST {url}/version1/messaging`, a form; the user name stands in the URL: `https://campus@api.africastalking.com`."""

    def __init__(self, http: httpx.AsyncClient, base_url: str, api_key: str, sender: str, provider: str) -> None:
        parts = urlsplit(base_url)
        self._username = unquote(parts.username or "not-set")
        host = parts.netloc.rpartition("@")[2]
        self._url = f"{parts.scheme}://{host}{parts.path.rstrip('/')}/version1/messaging"
        self._http, self._api_key, self._sender = http, api_key, sender
        self.provider = provider

    async def send(self, message_out: OutboundMessage) -> str:
        """The company's id of the message; raises ProviderAway and ProviderRefused."""
        form = {
            "username": self._username,
            "to": message_out.address,
            "message": message_out.message.text,
            "from": self._sender,
        }
        headers = {"apiKey": self._api_key, "Accept": "application/json"}
        try:
            answer = await self._http.post(self._url, data=form, headers=headers)
        except httpx.HTTPError as error:
            raise no_response(self.provider, error) from error
        if answer.status_code in REFUSALS:
            raise ProviderRefused(self.provider, f"{answer.status_code} the company refused the request")
        if not answer.is_success:
            raise ProviderUnavailable(self.provider, f"{answer.status_code} the company did not take the request")
        return self._message_id(reported_in(answer))

    def _message_id(self, told: dict[str, Any]) -> str:
        """The answer is a success even where the number is refused: what counts stands beside the number."""
        summary = told.get("SMSMessageData")
        recipients = summary.get("Recipients") if isinstance(summary, dict) else None
        first = recipients[0] if isinstance(recipients, list) and recipients else None
        if not isinstance(first, dict):
            raise ProviderUnavailable(self.provider, "the answer names no recipient")
        code, message_id = first.get("statusCode"), first.get("messageId")
        if code in _TAKEN and isinstance(message_id, str):
            return message_id
        kind = ProviderUnavailable if code in _NOT_NOW else ProviderRefused
        raise kind(self.provider, f"{code} {first.get('status', '')}".strip())


SHAPES: Final[Mapping[str, type[Termii] | type[AfricasTalking]]] = {"termii": Termii, "africas_talking": AfricasTalking}
