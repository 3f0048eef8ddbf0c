"""Text messages over HTTP in the formats of Termii (JSON), Africa's Talking and Twilio (forms).

None has an idempotency key: a repetition is delivered twice.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypedDict, Unpack
from urllib.parse import quote, unquote, urlsplit

import httpx

from notifications.deliveries.clients.responses import request_fault, retry_after_seconds
from notifications.deliveries.domain.deliveries import OutboundMessage
from notifications.deliveries.domain.sms_responses import (
    Reader,
    SmsResponse,
    read_africas_talking,
    read_termii,
    read_twilio,
)


@dataclass(frozen=True, slots=True)
class SmsAccount:
    """An account at an SMS company. The URL may name its user: `https://campus@api.africastalking.com`.

    `route` and `secret_route` are Termii's channels of ordinary messages, and of codes and PINs. `receipt_url` is where
    Twilio reports statuses.
    """

    provider: str
    base_url: str
    api_key: str
    sender: str
    route: str
    secret_route: str
    receipt_url: str

    @property
    def user_name(self) -> str:
        return unquote(urlsplit(self.base_url).username or "not-set")

    def address_of(self, path: str) -> str:
        """Return the URL of a path, without the user name."""
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}{path}"


class Termii:
    """`POST {url}/api/sms/send`."""

    def __init__(self, http: httpx.AsyncClient, account: SmsAccount) -> None:
        self._http, self._account, self.provider = http, account, account.provider

    async def send(self, outbound: OutboundMessage) -> str:
        """Return the company's message id. Raises ProviderUnavailable and ProviderRejected."""
        account = self._account
        body = {
            "to": outbound.address.removeprefix("+"),
            "from": account.sender,
            "sms": outbound.message.text,
            "type": "plain",
            "channel": account.secret_route if outbound.sensitive else account.route,
            "api_key": account.api_key,
        }
        url = account.address_of("/api/sms/send")
        return await _send(self._http, account, outbound, read_termii, url, json=body)


class AfricasTalking:
    """`POST {url}/version1/messaging`, a form."""

    def __init__(self, http: httpx.AsyncClient, account: SmsAccount) -> None:
        self._http, self._account, self.provider = http, account, account.provider

    async def send(self, outbound: OutboundMessage) -> str:
        """Return the company's message id. Raises ProviderUnavailable and ProviderRejected."""
        account = self._account
        form = {
            "username": account.user_name,
            "to": outbound.address,
            "message": outbound.message.text,
            "from": account.sender,
        }
        headers = {"apiKey": account.api_key, "Accept": "application/json"}
        url = account.address_of("/version1/messaging")
        return await _send(self._http, account, outbound, read_africas_talking, url, data=form, headers=headers)


class Twilio:
    """`POST {url}/2010-04-01/Accounts/{account SID}/Messages.json`, a form. The URL names the account SID."""

    def __init__(self, http: httpx.AsyncClient, account: SmsAccount) -> None:
        self._http, self._account, self.provider = http, account, account.provider

    async def send(self, outbound: OutboundMessage) -> str:
        """Return the company's message id. Raises ProviderUnavailable and ProviderRejected."""
        account = self._account
        sender = "MessagingServiceSid" if account.sender.startswith("MG") and len(account.sender) == 34 else "From"
        form = {
            "To": outbound.address,
            sender: account.sender,
            "Body": outbound.message.text,
            "StatusCallback": account.receipt_url,
        }
        url = account.address_of(f"/2010-04-01/Accounts/{quote(account.user_name, safe='')}/Messages.json")
        login = (account.user_name, account.api_key)
        return await _send(self._http, account, outbound, read_twilio, url, data=form, auth=login)


class _Request(TypedDict, total=False):
    json: Mapping[str, object]
    data: Mapping[str, str]
    headers: Mapping[str, str]
    auth: tuple[str, str]


async def _send(
    http: httpx.AsyncClient,
    account: SmsAccount,
    outbound: OutboundMessage,
    read: Reader,
    url: str,
    **request: Unpack[_Request],
) -> str:
    try:
        response = await http.post(url, **request)
    except httpx.HTTPError as error:
        raise request_fault(account.provider, error) from error
    # A company's text may repeat the number.
    number, wait = outbound.address.removeprefix("+"), retry_after_seconds(response)
    return read(SmsResponse(account.provider, response.status_code, response.content, wait, number))


SMS_CLIENTS: Final[Mapping[str, type[Termii] | type[AfricasTalking] | type[Twilio]]] = {
    "termii": Termii,
    "africas_talking": AfricasTalking,
    "twilio": Twilio,
}
