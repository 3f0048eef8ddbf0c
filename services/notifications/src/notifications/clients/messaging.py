"""The messaging app's cloud API: approved templates, and free texts within a day of the customer's message.

`POST {url}/{version}/{phone_number_id}/messages`
"""

from typing import Any, Final

import httpx

from notifications.clients.responses import PERMANENT_STATUSES, json_object, request_fault
from notifications.domain.approved_templates import WITH_COPY_BUTTON
from notifications.domain.deliveries import OutboundMessage
from notifications.domain.errors import ProviderRejected, ProviderUnavailable

PROVIDER: Final = "messaging-app"
# Transient errors that the app reports as 400: rate limits and overload.
_TRANSIENT_CODES: Final = frozenset({4, 80007, 130429, 131048, 131056, 131016, 131000, 133004, 368})


class Messaging:
    """One business phone number. Status webhooks repeat our delivery id."""

    provider = PROVIDER

    def __init__(
        self, http: httpx.AsyncClient, base_url: str, version: str, phone_number_id: str, token: str, language: str
    ) -> None:
        self._url = f"{base_url.rstrip('/')}/{version}/{phone_number_id}/messages"
        self._http, self._headers, self._language = http, {"Authorization": f"Bearer {token}"}, language

    async def send(self, outbound: OutboundMessage) -> str:
        """Return the provider's message id. Raises ProviderUnavailable and ProviderRejected."""
        body = {
            "messaging_product": "whatsapp",
            "recipient_type": "individual",
            "to": outbound.address.removeprefix("+"),
            **self._content(outbound),
            "biz_opaque_callback_data": str(outbound.delivery_id),
        }
        try:
            response = await self._http.post(self._url, json=body, headers=self._headers)
        except httpx.HTTPError as error:
            raise request_fault(PROVIDER, error) from error
        payload = json_object(response)
        if not response.is_success:
            raise _fault(response.status_code, payload)
        message_id = _message_id(payload)
        if message_id is None:
            raise ProviderUnavailable(PROVIDER, "the response names no message")
        return message_id

    def _content(self, outbound: OutboundMessage) -> dict[str, Any]:
        """Return a free text, or the approved template."""
        if outbound.message.text:
            return {"type": "text", "text": {"preview_url": False, "body": outbound.message.text}}
        named = {
            "name": outbound.template,
            "language": {"code": self._language},
            "components": _components(outbound),
        }
        return {"type": "template", "template": named}


def _components(outbound: OutboundMessage) -> list[dict[str, Any]]:
    parameters = [{"type": "text", "text": text} for text in outbound.message.parameters]
    components: list[dict[str, Any]] = [{"type": "body", "parameters": parameters}] if parameters else []
    if outbound.template in WITH_COPY_BUTTON:
        components.append({"type": "button", "sub_type": "url", "index": "0", "parameters": parameters})
    return components


def _message_id(payload: dict[str, Any]) -> str | None:
    messages = payload.get("messages")
    first = messages[0] if isinstance(messages, list) and messages else None
    message_id = first.get("id") if isinstance(first, dict) else None
    return message_id if isinstance(message_id, str) else None


def _fault(status: int, payload: dict[str, Any]) -> ProviderUnavailable | ProviderRejected:
    error = payload.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    text = error.get("message", "") if isinstance(error, dict) else ""
    kind = ProviderRejected if status in PERMANENT_STATUSES and code not in _TRANSIENT_CODES else ProviderUnavailable
    return kind(PROVIDER, f"{status} {code or ''} {text}".strip())
