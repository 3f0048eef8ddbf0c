"""The messaging app's cloud API: approved texts with parameters, and within a day of the customer's message free ones.

`POST {url}/{version}/{phone_number_id}/messages`
"""

from typing import Any, Final

import httpx

from notifications.clients.responses import REFUSALS, no_response, reported_in
from notifications.domain.approved_templates import WITH_COPY_BUTTON
from notifications.domain.deliveries import OutboundMessage
from notifications.domain.errors import ProviderRefused, ProviderUnavailable

PROVIDER: Final = "messaging-app"
# Among its 400s, those that pass: too many messages, to this person or at all, and a service that is overloaded.
_NOT_NOW: Final = frozenset({4, 80007, 130429, 131048, 131056, 131016, 131000, 133004, 368})


class Messaging:
    """One business telephone number. Our id of the delivery travels along and comes back with every status."""

    provider = PROVIDER

    def __init__(
        self, http: httpx.AsyncClient, base_url: str, version: str, phone_number_id: str, token: str, language: str
    ) -> None:
        self._url = f"{base_url.rstrip('/')}/{version}/{phone_number_id}/messages"
        self._http, self._headers, self._language = http, {"Authorization": f"Bearer {token}"}, language

    async def send(self, message_out: OutboundMessage) -> str:
        """The company's id of the message; raises ProviderAway and ProviderRefused."""
        body = {
            "messaging_product": "whatsapp",
            "recipient_type": "individual",
            "to": message_out.address.removeprefix("+"),
            **self._content(message_out),
            "biz_opaque_callback_data": str(message_out.delivery_id),
        }
        try:
            answer = await self._http.post(self._url, json=body, headers=self._headers)
        except httpx.HTTPError as error:
            raise no_response(PROVIDER, error) from error
        told = reported_in(answer)
        if not answer.is_success:
            raise _fault(answer.status_code, told)
        message_id = _message_id(told)
        if message_id is None:
            raise ProviderUnavailable(PROVIDER, "the answer names no message")
        return message_id

    def _content(self, message_out: OutboundMessage) -> dict[str, Any]:
        """A text as it stands where the customer wrote within a day, else the approved one."""
        if message_out.message.text:
            return {"type": "text", "text": {"preview_url": False, "body": message_out.message.text}}
        named = {
            "name": message_out.template,
            "language": {"code": self._language},
            "components": _components(message_out),
        }
        return {"type": "template", "template": named}


def _components(message_out: OutboundMessage) -> list[dict[str, Any]]:
    parameters = [{"type": "text", "text": text} for text in message_out.message.parameters]
    components: list[dict[str, Any]] = [{"type": "body", "parameters": parameters}] if parameters else []
    if message_out.template in WITH_COPY_BUTTON:
        components.append({"type": "button", "sub_type": "url", "index": "0", "parameters": parameters})
    return components


def _message_id(told: dict[str, Any]) -> str | None:
    messages = told.get("messages")
    first = messages[0] if isinstance(messages, list) and messages else None
    message_id = first.get("id") if isinstance(first, dict) else None
    return message_id if isinstance(message_id, str) else None


def _fault(status: int, told: dict[str, Any]) -> ProviderUnavailable | ProviderRefused:
    error = told.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    words = error.get("message", "") if isinstance(error, dict) else ""
    kind = ProviderRefused if status in REFUSALS and code not in _NOT_NOW else ProviderUnavailable
    return kind(PROVIDER, f"{status} {code or ''} {words}".strip())
