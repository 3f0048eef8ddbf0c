"""Text messages over HTTP in the formats of Termii (JSON) and Africa's Talking (form)."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import httpx

from notifications.clients.responses import PERMANENT_STATUSES, json_object, request_fault
from notifications.domain.deliveries import OutboundMessage
from notifications.domain.errors import ProviderRejected, ProviderUnavailable

# Codes of Africa's Talking: accepted (processed, sent, queued) and transient (balance, gateway, capacity).
_ACCEPTED: Final = frozenset({100, 101, 102})
_TRANSIENT_CODES: Final = frozenset({405, 409, 500, 501, 502})


class Termii:
    """`POST {url}/api/sms/send`. There is no idempotency key: a repetition is delivered twice."""

    def __init__(self, http: httpx.AsyncClient, base_url: str, api_key: str, sender: str, provider: str) -> None:
        self._http, self._api_key, self._sender = http, api_key, sender
        self._url = f"{base_url.rstrip('/')}/api/sms/send"
        self.provider = provider

    async def send(self, outbound: OutboundMessage) -> str:
        """Return the company's message id. Raises ProviderUnavailable and ProviderRejected."""
        body = {
            "to": outbound.address.removeprefix("+"),
            "from": self._sender,
            "sms": outbound.message.text,
            "type": "plain",
            "channel": "generic",
            "api_key": self._api_key,
        }
        try:
            response = await self._http.post(self._url, json=body)
        except httpx.HTTPError as error:
            raise request_fault(self.provider, error) from error
        payload = json_object(response)
        if response.status_code in PERMANENT_STATUSES:
            raise ProviderRejected(self.provider, f"{response.status_code} {payload.get('message', '')}".strip())
        message_id = payload.get("message_id")
        if not response.is_success or not isinstance(message_id, str):
            raise ProviderUnavailable(self.provider, f"{response.status_code} {payload.get('message', '')}".strip())
        return message_id


class AfricasTalking:
    """`POST {url}/version1/messaging`, a form. The URL contains the user name: `https://campus@api.africastalking.com`."""

    def __init__(self, http: httpx.AsyncClient, base_url: str, api_key: str, sender: str, provider: str) -> None:
        parts = urlsplit(base_url)
        self._username = unquote(parts.username or "not-set")
        host = parts.netloc.rpartition("@")[2]
        self._url = f"{parts.scheme}://{host}{parts.path.rstrip('/')}/version1/messaging"
        self._http, self._api_key, self._sender = http, api_key, sender
        self.provider = provider

    async def send(self, outbound: OutboundMessage) -> str:
        """Return the company's message id. Raises ProviderUnavailable and ProviderRejected."""
        form = {
            "username": self._username,
            "to": outbound.address,
            "message": outbound.message.text,
            "from": self._sender,
        }
        headers = {"apiKey": self._api_key, "Accept": "application/json"}
        try:
            response = await self._http.post(self._url, data=form, headers=headers)
        except httpx.HTTPError as error:
            raise request_fault(self.provider, error) from error
        if response.status_code in PERMANENT_STATUSES:
            raise ProviderRejected(self.provider, f"{response.status_code} the company refused the request")
        if not response.is_success:
            raise ProviderUnavailable(self.provider, f"{response.status_code} the company did not take the request")
        return self._message_id(json_object(response))

    def _message_id(self, payload: dict[str, Any]) -> str:
        """Return the message id. The response succeeds even for a rejected number; each recipient has a status."""
        summary = payload.get("SMSMessageData")
        recipients = summary.get("Recipients") if isinstance(summary, dict) else None
        first = recipients[0] if isinstance(recipients, list) and recipients else None
        if not isinstance(first, dict):
            raise ProviderUnavailable(self.provider, "the response names no recipient")
        code, message_id = first.get("statusCode"), first.get("messageId")
        if code in _ACCEPTED and isinstance(message_id, str):
            return message_id
        kind = ProviderUnavailable if code in _TRANSIENT_CODES else ProviderRejected
        raise kind(self.provider, f"{code} {first.get('status', '')}".strip())


SMS_CLIENTS: Final[Mapping[str, type[Termii] | type[AfricasTalking]]] = {
    "termii": Termii,
    "africas_talking": AfricasTalking,
}
