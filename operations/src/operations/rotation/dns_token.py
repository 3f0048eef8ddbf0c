"""Prove a token of the DNS provider as cert-manager uses it: find the zone, write a TXT record, delete it (Cloudflare's
API v4).
"""

import secrets
from typing import Any, Final

import httpx

from common.primitives.tls import client_tls

API_URL: Final = "https://api.cloudflare.com/client/v4"
_SECONDS_MAX: Final = 15.0
# The lifetime of cert-manager's own records.
_TTL_SECONDS: Final = 120


class TokenRejected(Exception):
    """The provider rejects the token, or a right is missing; the message gives its reason."""


def check_token(api_url: str, zone: str, token: str) -> str:
    """Verify a token, write a record for a challenge in the zone and delete it; return the record's name.

    Raises:
        TokenRejected: the token is revoked, or cannot read the zone or write its records.
        httpx.TransportError: the provider is not reachable.
    """
    with httpx.Client(timeout=_SECONDS_MAX, verify=client_tls(), headers={"Authorization": f"Bearer {token}"}) as http:
        state = _result(http.get(f"{api_url}/user/tokens/verify"), "the token is not valid")["status"]
        if state != "active":
            raise TokenRejected(f"the token is {state}")
        return _write_record(http, api_url, zone)


def _write_record(http: httpx.Client, api_url: str, zone: str) -> str:
    zones = _result(http.get(f"{api_url}/zones", params={"name": zone}), "the zones cannot be read")
    if not zones:
        raise TokenRejected(f"the token cannot read the zone {zone}: it needs Zone:Zone:Read on it")
    records = f"{api_url}/zones/{zones[0]['id']}/dns_records"
    name = f"_acme-challenge.token-check-{secrets.token_hex(4)}.{zone}"
    record = {"type": "TXT", "name": name, "content": secrets.token_urlsafe(32), "ttl": _TTL_SECONDS}
    written = _result(http.post(records, json=record), "no record can be written: the token needs Zone:DNS:Edit")
    _result(http.delete(f"{records}/{written['id']}"), f"the record {name} was written and cannot be deleted")
    return name


def _result(response: httpx.Response, otherwise: str) -> Any:
    try:
        document = response.json()
    except ValueError:
        document = {}
    if not document.get("success"):
        reasons = "; ".join(f"{it.get('code')} {it.get('message')}" for it in document.get("errors", []))
        raise TokenRejected(f"{otherwise} ({reasons or f'status {response.status_code}'})")
    return document["result"]
