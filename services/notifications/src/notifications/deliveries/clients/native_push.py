"""Push to apps with FCM HTTP v1: `POST {url}/v1/projects/{project}/messages:send`."""

import asyncio
from collections.abc import Mapping
from typing import Final

import httpx
import msgspec
from google.auth.exceptions import GoogleAuthError, RefreshError, TransportError
from google.auth.transport import Request, Response
from google.oauth2.service_account import Credentials

from common.primitives.json_records import JsonObject, decode_record
from common.primitives.tls import client_tls
from notifications.deliveries.clients.responses import request_fault, retry_after_seconds
from notifications.deliveries.domain.deliveries import PROVIDER_SECONDS_MAX, OutboundMessage
from notifications.deliveries.domain.errors import AccountFault, ProviderUnavailable
from notifications.deliveries.domain.fcm_responses import FcmResponse, fcm_fault
from notifications.deliveries.domain.push_options import push_options

PROVIDER: Final = "fcm"
SCOPE: Final = "https://www.googleapis.com/auth/firebase.messaging"


class NativePush:
    """One Firebase project. The access token is fetched on demand and cached for an hour."""

    provider = PROVIDER

    def __init__(
        self, http: httpx.AsyncClient, base_url: str, project: str, service_account: str, token_url: str
    ) -> None:
        account: dict[str, object] = msgspec.json.decode(service_account)
        if token_url:
            account["token_uri"] = token_url
        self._credentials = Credentials.from_service_account_info(account, scopes=[SCOPE])  # type: ignore[no-untyped-call]
        self._url = f"{base_url.rstrip('/')}/v1/projects/{project or account.get('project_id', '')}/messages:send"
        self._http, self._refresh_lock = http, asyncio.Lock()

    async def send(self, outbound: OutboundMessage) -> str:
        """Return FCM's message name. Raises ProviderUnavailable, ProviderRejected and DeviceUnregistered."""
        body: JsonObject = {"message": _message(outbound)}
        response = await self._post(body)
        if response.status_code == httpx.codes.UNAUTHORIZED and "THIRD_PARTY_AUTH_ERROR" not in response.text:
            # The access token was revoked before its end: a fresh one shows whether the account is valid.
            self._credentials.token = None
            response = await self._post(body)
        received = decode_record(response.content, FcmResponse)
        if not response.is_success:
            raise fcm_fault(PROVIDER, response.status_code, received.error, retry_after_seconds(response))
        if not received.name:
            raise ProviderUnavailable(PROVIDER, "the response names no message")
        return received.name

    async def _post(self, body: JsonObject) -> httpx.Response:
        headers = {"Authorization": f"Bearer {await self._token()}"}
        try:
            return await self._http.post(self._url, json=body, headers=headers)
        except httpx.HTTPError as error:
            raise request_fault(PROVIDER, error) from error

    async def _token(self) -> str:
        async with self._refresh_lock:
            if not self._credentials.valid:
                try:
                    # The library blocks, so it runs in a thread.
                    await asyncio.to_thread(self._credentials.refresh, _TokenRequest())
                except RefreshError as error:
                    raise _token_fault(error) from None
                except GoogleAuthError as error:
                    raise ProviderUnavailable(PROVIDER, f"no access token: {type(error).__name__}") from None
            return str(self._credentials.token)


def _token_fault(error: RefreshError) -> ProviderUnavailable:
    """Classify a response of the token endpoint: an OAuth error such as `invalid_grant` is a fault of our account."""
    body = error.args[1] if len(error.args) > 1 else None
    code = body.get("error") if isinstance(body, dict) else None
    if error.retryable or not isinstance(code, str):
        return ProviderUnavailable(PROVIDER, "no access token: the token endpoint is unavailable")
    return AccountFault(PROVIDER, f"no access token: {code[:60]}")


def _message(outbound: OutboundMessage) -> JsonObject:
    options, collapse = push_options(outbound.template), outbound.notification_id.hex
    is_urgent = options.urgency == "high"
    content: JsonObject = {"title": outbound.message.subject, "body": outbound.message.text}
    data: JsonObject = {"notificationId": str(outbound.notification_id), "template": outbound.template}
    if outbound.subject is not None:
        # FCM accepts texts only.
        data["subject"] = msgspec.json.encode(outbound.subject).decode()
    apple: JsonObject = {"apns-collapse-id": collapse, "apns-priority": "10" if is_urgent else "5"}
    android: JsonObject = {
        "collapse_key": collapse,
        "priority": "HIGH" if is_urgent else "NORMAL",
        "ttl": f"{options.ttl_seconds}s",
    }
    if outbound.sensitive:
        # A data message: the system neither shows nor stores it.
        apple |= {"apns-priority": "5", "apns-push-type": "background"}
        apns: JsonObject = {"headers": apple, "payload": {"aps": {"content-available": 1}}}
        return {"token": outbound.address, "data": data | content, "android": android, "apns": apns}
    # A repetition replaces the shown notification; `collapse_key` replaces only a waiting one.
    android["notification"] = {"tag": collapse}
    return {
        "token": outbound.address,
        "data": data,
        "android": android,
        "notification": content,
        "apns": {"headers": apple},
    }


class _TokenRequest(Request):
    """The HTTP transport of google-auth with our client and its certificates."""

    def __call__(
        self,
        url: str,
        method: str = "GET",
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        **_: object,
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
    def headers(self) -> Mapping[str, str]:
        return self._response.headers

    @property
    def data(self) -> bytes:
        return self._response.content
