"""Lookup of the local user behind a token of a trusted issuer, at the identity service (contract section 5.2)."""

import ssl
from dataclasses import dataclass
from typing import Final, Protocol
from uuid import UUID

import httpx
import msgspec

from common.auth.issuers import FederatedIdentity
from common.observability import telemetry
from common.observability.logging import get_logger
from common.primitives.http_client import HttpClient
from common.primitives.limits import WAIT_LIMITS
from common.primitives.problems import Forbidden, Unauthorized, Unavailable
from common.primitives.tls import client_tls

log = get_logger(__name__)

# The token itself authorizes the lookup of its own user, so the edge, which holds no secret, can call it too. The edge
# does not route it.
AUTHORIZATION_PROFILE_PATH: Final = "/internal/authorization-profiles/current"
# Its name in the previous version, whose identity service runs beside this version during an upgrade: callers use it
# until the next release (decision 109).
PREVIOUS_PROFILE_PATH: Final = "/internal/standings/current"


class ProfileMissing(Forbidden):
    """A valid token of a user without a profile (contract section 5.2). `userId` is the id to call `create-user`
    with.
    """

    detail = "There is no profile for this user yet."

    def __init__(self, user_id: UUID) -> None:
        super().__init__(extensions={"userId": user_id})


@dataclass(frozen=True, slots=True)
class LocalUser:
    """The current roles, vendor, campus and hub of a user."""

    roles: frozenset[str]
    vendor_id: UUID | None
    campus_id: UUID | None
    email_confirmed: bool = False
    hub_id: UUID | None = None
    packing_vendor_id: UUID | None = None


class UserLookup(Protocol):
    """Finds the local user of a federated identity."""

    async def find(self, token: str, identity: FederatedIdentity) -> LocalUser:
        """Raise ProfileMissing, Unauthorized for a locked user, and Unavailable."""
        ...


class NoUserLookup:
    """A lookup that is always unavailable."""

    async def find(self, token: str, identity: FederatedIdentity) -> LocalUser:
        raise Unavailable


class _Found(msgspec.Struct, rename="camel"):
    roles: list[str]
    vendor_id: UUID | None
    campus_id: UUID | None
    # The previous version does not send them.
    email_confirmed: bool = False
    hub_id: UUID | None = None
    packing_vendor_id: UUID | None = None


class _Response(msgspec.Struct):
    data: _Found


_decode: Final = msgspec.json.Decoder(_Response).decode


class IdentityUserLookup:
    """Queries the identity service over HTTP. Must be closed."""

    def __init__(
        self, identity_url: str, seconds_max: float = WAIT_LIMITS.identity, tls: ssl.SSLContext | None = None
    ) -> None:
        # An internal service is never called through a proxy.
        self._client = HttpClient(
            base_url=identity_url, timeout=seconds_max, trust_env=False, verify=tls or client_tls()
        )

    async def find(self, token: str, identity: FederatedIdentity) -> LocalUser:
        headers = {"Authorization": f"Bearer {token}", **telemetry.trace_headers()}
        try:
            response = await self._client.get(PREVIOUS_PROFILE_PATH, headers=headers)
            if response.status_code == 403:
                raise ProfileMissing(identity.user_id)
            if response.status_code == 401:
                raise Unauthorized
            found = _decode(response.raise_for_status().content).data
        except (httpx.HTTPError, msgspec.DecodeError, UnicodeDecodeError) as error:
            log.warning("user lookup failed: identity service unreachable", error=repr(error))
            raise Unavailable from error
        return LocalUser(
            frozenset(found.roles),
            found.vendor_id,
            found.campus_id,
            found.email_confirmed,
            found.hub_id,
            found.packing_vendor_id,
        )

    async def close(self) -> None:
        await self._client.aclose()
