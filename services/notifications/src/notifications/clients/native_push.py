"""Push to apps by FCM HTTP v1: `POST {url}/v1/projects/{project}/messages:send`, with a service account's access token."""

import asyncio
from typing import Any, Final

import httpx
import msgspec
from google.auth.exceptions import GoogleAuthError, TransportError
from google.auth.transport import Request, Response
from google.oauth2.service_account import Credentials

from common.primitives.tls import client_tls
from notifications.clients.responses import REFUSALS, no_response, reported_in
from notifications.domain.deliveries import PROVIDER_SECONDS_MAX, OutboundMessage
from notifications.domain.errors import DeviceGone, ProviderRefused, ProviderUnavailable
from notifications.domain.push_options import push_options

PROVIDER: Final = "fcm"
SCOPE: Final = "https://www.googleapis.com/auth/firebase.messaging"


class NativePush:
    """One Firebase project. The access token is fetched when it is needed and kept for its hour."""

    provider = PROVIDER

    def __init__(
        self, http: httpx.AsyncClient, base_url: str, project: str, service_account: str, token_url: str
    ) -> None:
        account: dict[str, Any] = msgspec.json.decode(service_account)
        if token_url:
            account["token_uri"] = token_url
        self._credentials = Credentials.from_service_account_info(account, scopes=[SCOPE])  # type: ignore[no-untyped-call]
        self._url = f"{base_url.rstrip('/')}/v1/projects/{project or account.get('project_id', '')}/messages:send"
        self._http, self._turn = http, asyncio.Lock()

    async def send(self, message_out: OutboundMessage) -> str:
        """FCM's name of the message; raises ProviderAway, ProviderRefused and DeviceGone."""
        headers = {"Authorization": f"Bearer {await self._token()}"}
        try:
            answer = await self._http.post(self._url, json={"message": _message(message_out)}, headers=headers)
        except httpx.HTTPError as error:
            raise no_response(PROVIDER, error) from error
        told = reported_in(answer)
        if not answer.is_success:
            raise _fault(answer.status_code, told)
        name = told.get("name")
        if not isinstance(name, str):
            raise ProviderUnavailable(PROVIDER, "the answer names no message")
        return name

    async def _token(self) -> str:
        async with self._turn:
            if not self._credentials.valid:
                try:
                    # The library waits for its answer as it runs: beside the loop, so that nobody else waits.
                    await asyncio.to_thread(self._credentials.refresh, _Asking())
                except GoogleAuthError as error:
                    raise ProviderUnavailable(PROVIDER, f"no access token: {type(error).__name__}") from None
            return str(self._credentials.token)


def _message(message_out: OutboundMessage) -> dict[str, Any]:
    manners, collapse = push_options(message_out.template), message_out.notification_id.hex
    is_urgent = manners.urgency == "high"
    words = {"title": message_out.message.subject, "body": message_out.message.text}
    data = {"notificationId": str(message_out.notification_id), "template": message_out.template}
    apple = {"apns-collapse-id": collapse, "apns-priority": "10" if is_urgent else "5"}
    message: dict[str, Any] = {
        "token": message_out.address,
        "data": data,
        "android": {
            "collapse_key": collapse,
            "priority": "HIGH" if is_urgent else "NORMAL",
            "ttl": f"{manners.ttl_seconds}s",
        },
    }
    if message_out.sensitive:
        # For the app alone: the system shows and keeps what is in `notification`.
        message["data"] = {**data, **words}
        apple |= {"apns-priority": "5", "apns-push-type": "background"}
        message["apns"] = {"headers": apple, "payload": {"aps": {"content-available": 1}}}
    else:
        message["notification"] = words
        # What is sent again replaces the first on the screen; `collapse_key` does so only while it waits.
        message["android"]["notification"] = {"tag": collapse}
        message["apns"] = {"headers": apple}
    return message


def _fault(status: int, told: dict[str, Any]) -> ProviderUnavailable | ProviderRefused:
    error = told.get("error")
    details = error.get("details") if isinstance(error, dict) else None
    codes = {one.get("errorCode") for one in details or [] if isinstance(one, dict)}
    reason = f"{status} {error.get('status', '') if isinstance(error, dict) else ''}".strip()
    if "UNREGISTERED" in codes or "SENDER_ID_MISMATCH" in codes:
        return DeviceGone(PROVIDER, f"{reason}: the device is not registered any more")
    return (ProviderRefused if status in REFUSALS else ProviderUnavailable)(PROVIDER, reason)


class _Asking(Request):
    """How google-auth asks for a token: with our own client and its certificates."""

    def __call__(
        self, url: str, method: str = "GET", body: Any = None, headers: Any = None, timeout: Any = None, **_: Any
    ) -> Response:
        try:
            with httpx.Client(verify=client_tls(), timeout=PROVIDER_SECONDS_MAX / 2) as http:
                return _Answered(http.request(method, url, content=body, headers=headers))
        except httpx.HTTPError as error:
            raise TransportError(type(error).__name__) from None  # type: ignore[no-untyped-call]


class _Answered(Response):
    def __init__(self, answer: httpx.Response) -> None:
        self._answer = answer

    @property
    def status(self) -> int:
        return self._answer.status_code

    @property
    def headers(self) -> Any:
        return self._answer.headers

    @property
    def data(self) -> bytes:
        return self._answer.content
