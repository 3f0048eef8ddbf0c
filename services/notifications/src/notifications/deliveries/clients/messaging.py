"""The messaging app's cloud API: approved templates, and free texts within a day of the customer's message.

`POST {url}/{version}/{phone_number_id}/messages`
"""

import httpx
import msgspec

from common.primitives.json_records import Json, JsonObject, decode_record
from notifications.deliveries.clients.responses import request_fault
from notifications.deliveries.domain.approved_templates import APPROVED_TEMPLATES
from notifications.deliveries.domain.deliveries import OutboundMessage
from notifications.deliveries.domain.errors import (
    AccountFault,
    DeliveryError,
    FreeTextRejected,
    ProviderRejected,
    ProviderUnavailable,
    RecipientUnreachable,
)
from notifications.deliveries.domain.messaging_errors import PROVIDER, ReportedError, classify_error, read_error
from notifications.deliveries.domain.telephone_numbers import is_app_user_id


class SentMessage(msgspec.Struct, frozen=True):
    id: str = ""


class SendResponse(msgspec.Struct, frozen=True):
    messages: list[SentMessage] = []
    error: ReportedError = ReportedError()


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
            **_recipient(outbound.address),
            **self._content(outbound),
            "biz_opaque_callback_data": str(outbound.delivery_id),
        }
        try:
            response = await self._http.post(self._url, json=body, headers=self._headers)
        except httpx.HTTPError as error:
            raise request_fault(PROVIDER, error) from error
        sent = decode_record(response.content, SendResponse)
        if not response.is_success:
            raise fault_of(response.status_code, sent.error, is_free_text=bool(outbound.message.text))
        if not sent.messages or not sent.messages[0].id:
            raise ProviderUnavailable(PROVIDER, "the response names no message")
        return sent.messages[0].id

    def _content(self, outbound: OutboundMessage) -> JsonObject:
        """Return a free text, or the approved template."""
        if outbound.message.text:
            return {"type": "text", "text": {"preview_url": False, "body": outbound.message.text}}
        named: JsonObject = {
            "name": outbound.template,
            "language": {"code": self._language},
            "components": _components(outbound),
        }
        return {"type": "template", "template": named}


def _recipient(address: str) -> dict[str, str]:
    """Return the recipient: a phone number without its plus sign, or the app's id of a user who hides the number."""
    return {"recipient": address} if is_app_user_id(address) else {"to": address.removeprefix("+")}


def _components(outbound: OutboundMessage) -> list[Json]:
    """Return the template's values. An authentication template repeats its code for the button that copies it."""
    parameters: list[Json] = [{"type": "text", "text": text} for text in outbound.message.parameters]
    components: list[Json] = [{"type": "body", "parameters": parameters}] if parameters else []
    if APPROVED_TEMPLATES[outbound.template].category == "AUTHENTICATION":
        components.append({"type": "button", "sub_type": "url", "index": "0", "parameters": parameters})
    return components


def fault_of(status: int, reported: ReportedError, *, is_free_text: bool = False) -> DeliveryError:
    """Return the exception for a response of the app that is no success."""
    error = read_error(reported)
    reason = f"{status} {error.summary}".strip()
    match classify_error(error, status):
        case "account":
            return AccountFault(PROVIDER, reason)
        case "throttled":
            return ProviderUnavailable(PROVIDER, reason)
        case "recipient":
            return RecipientUnreachable(PROVIDER, reason)
        case "window":
            return (FreeTextRejected if is_free_text else RecipientUnreachable)(PROVIDER, reason)
        case "message":
            return ProviderRejected(PROVIDER, reason)
