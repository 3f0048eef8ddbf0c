"""Push to apps with FCM HTTP v1: `POST {url}/v1/projects/{project}/messages:send`."""

import asyncio
from typing import Any, Final

import httpx
import msgspec
from google.auth.exceptions import GoogleAuthError, TransportError
from google.auth.transport import Request, Response
from google.oauth2.service_account import Credentials

from common.primitives.tls import client_tls
from notifications.clients.responses import PERMANENT_STATUSES, json_object, request_fault
from notifications.domain.deliveries import PROVIDER_SECONDS_MAX, OutboundMessage
from notifications.domain.errors import DeviceUnregistered, ProviderRejected, ProviderUnavailable
from notifications.domain.push_options import push_options

PROVIDER: Final = "fcm"
SCOPE: Final = "https://www.googleapis.com/auth/firebase.messaging"


class NativePush:
    """One Firebase project. The access token is fetched on demand and cached for an hour."""

    provider = PROVIDER

    def __init__(
        self, http: httpx.AsyncClient, base_url: str, project: str, service_account: str, token_url: str
    ) -> None:
        account: dict[str, Any] = msgspec.json.decode(service_account)
        if token_url:
            account["token_uri"] = token_url
        self._credentials = Credentials.from_service_account_info(account, scopes=[SCOPE])  # type: ignore[no-untyped-call]
        self._url = f"{base_url.rstrip('/')}/v1/projects/{project or account.get('project_id', '')}/messages:send"
        self._http, self._refresh_lock = http, asyncio.Lock()

    async def send(self, outbound: OutboundMessage) -> str:
        """Return FCM's message name. Raises ProviderUnavailable, ProviderRejected and DeviceUnregistered."""
        headers = {"Authorization": f"Bearer {await self._token()}"}
        try:
            response = await self._http.post(self._url, json={"message": _message(outbound)}, headers=headers)
        except httpx.HTTPError as error:
            raise request_fault(PROVIDER, error) from error
        payload = json_object(response)
        if not response.is_success:
            raise _fault(response.status_code, payload)
        name = payload.get("name")
        if not isinstance(name, str):
            raise ProviderUnavailable(PROVIDER, "the response names no message")
        return name

    async def _token(self) -> str:
        async with self._refresh_lock:
            if not self._credentials.valid:
                try:
                    # The library blocks, so it runs in a thread.
                    await asyncio.to_thread(self._credentials.refresh, _TokenRequest())
                except GoogleAuthError as error:
                    raise ProviderUnavailable(PROVIDER, f"no access token: {type(error).__name__}") from None
            return str(self._credentials.token)


def _message(outbound: OutboundMessage) -> dict[str, Any]:
    options, collapse = push_options(outbound.template), outbound.notification_id.hex
    is_urgent = options.urgency == "high"
    content = {"title": outbound.message.subject, "body": outbound.message.text}
    data = {"notificationId": str(outbound.notification_id), "template": outbound.template}
    apple = {"apns-collapse-id": collapse, "apns-priority": "10" if is_urgent else "5"}
    message: dict[str, Any] = {
        "token": outbound.address,
        "data": data,
        "android": {
            "collapse_key": collapse,
            "priority": "HIGH" if is_urgent else "NORMAL",
            "ttl": f"{options.ttl_seconds}s",
        },
    }
    if outbound.sensitive:
        # A data message: the system neither shows nor stores it.
        message["data"] = {**data, **content}
        apple |= {"apns-priority": "5", "apns-push-type": "background"}
        message["apns"] = {"headers": apple, "payload": {"aps": {"content-available": 1}}}
    else:
        message["notification"] = content
        # A repetition replaces the shown notification; `collapse_key` replaces only a waiting one.
        message["android"]["notification"] = {"tag": collapse}
        message["apns"] = {"headers": apple}
    return message


def _fault(status: int, payload: dict[str, Any]) -> ProviderUnavailable | ProviderRejected:
    error = payload.get("error")
    details = error.get("details") if isinstance(error, dict) else None
    codes = {one.get("errorCode") for one in details or [] if isinstance(one, dict)}
    reason = f"{status} {error.get('status', '') if isinstance(error, dict) else ''}".strip()
    if "UNREGISTERED" in codes or "SENDER_ID_MISMATCH" in codes:
        return DeviceUnregistered(PROVIDER, f"{reason}: the device is not registered any more")
    return (ProviderRejected if status in PERMANENT_STATUSES else ProviderUnavailable)(PROVIDER, reason)


class _TokenRequest(Request):
    """The HTTP transport of google-auth with our client and its certificates."""

    def __call__(
        self, url: str, method: str = "GET", body: Any = None, headers: Any = None, timeout: Any = None, **_: Any
    ) -> Response:
        try:
            with httpx.Client(verify=client_tls(), timeout=PROVIDER_SECONDS_MAX / 2) as http:
                return _TokenResponse(http.request(method, url, content=body, headers=headers))
        except httpx.HTTPError as error:
            raise TransportError(type(error).__name__) from None  # type: ignore[no-untyped-call]


class _TokenResponse(Response):
    def __init__(self, response: httpx.Response) -> None:
        self._response = response

    @property
    def status(self) -> int:
        return self._response.status_code

    @property
    def headers(self) -> Any:
        return self._response.headers

    @property
    def data(self) -> bytes:
        return self._response.content
