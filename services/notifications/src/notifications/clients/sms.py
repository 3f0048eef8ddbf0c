"""Text messages over HTTP, in Termii's shape: `POST {SMS_API_URL}/api/sms/send`."""

from typing import Any, Final
from uuid import UUID

import httpx

from notifications.domain.deliveries import Message
from notifications.domain.errors import ProviderAway, ProviderRefused

PROVIDER: Final = "sms-http"
# What will never be taken however often it is offered. Everything else may pass: a wrong key (401) is put right by people.
_REFUSALS: Final = frozenset({400, 404, 413, 422})


class Sms:
    """One SMS company. It knows no idempotency key: what is sent again arrives again."""

    provider = PROVIDER

    def __init__(self, http: httpx.AsyncClient, base_url: str, api_key: str, sender: str) -> None:
        self._http, self._api_key, self._sender = http, api_key, sender
        self._url = f"{base_url.rstrip('/')}/api/sms/send"

    async def send(self, address: str, message: Message, notification_id: UUID) -> str:
        """The company's id of the message; raises ProviderAway and ProviderRefused."""
        body = {
            "to": address.removeprefix("+"),
            "from": self._sender,
            "sms": message.text,
            "type": "plain",
            "channel": "generic",
            "api_key": self._api_key,
        }
        try:
            answer = await self._http.post(self._url, json=body)
        except httpx.HTTPError as error:
            raise ProviderAway(PROVIDER, type(error).__name__) from error
        told = _told(answer)
        if answer.status_code in _REFUSALS:
            raise ProviderRefused(PROVIDER, f"{answer.status_code} {told.get('message', '')}".strip())
        message_id = told.get("message_id")
        if not answer.is_success or not isinstance(message_id, str):
            raise ProviderAway(PROVIDER, f"{answer.status_code} {told.get('message', '')}".strip())
        return message_id


def _told(answer: httpx.Response) -> dict[str, Any]:
    try:
        body = answer.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
