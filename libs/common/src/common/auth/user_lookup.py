"""What our identity service knows about a person whom a further issuer's token names (contract section 5.2)."""

from dataclasses import dataclass
from typing import Final, Protocol
from uuid import UUID

import httpx
import msgspec

from common.auth.issuers import FederatedIdentity
from common.observability import telemetry
from common.observability.logging import get_logger
from common.primitives.problems import Forbidden, Unauthorized, Unavailable
from common.primitives.tls import client_tls

log = get_logger(__name__)

# Asked with the token itself, which is all that is needed to learn about its own user: the gateway, which holds no secret,
# can ask as well. The gateway does not route it.
USER_STATUS_PATH: Final = "/internal/standings/current"
LOOKUP_SECONDS_MAX: Final = 3.0


class ProfileMissing(Forbidden):
    """A good token of a user for whom create-user was never called (contract section 5.2). `userId` is the id to call it with."""

    detail = "There is no profile for this user yet."

    def __init__(self, user_id: UUID) -> None:
        super().__init__(extensions={"userId": user_id})


@dataclass(frozen=True, slots=True)
class LocalUser:
    """A person's roles, own vendor and campus, as our identity service has them at this moment."""

    roles: frozenset[str]
    vendor_id: UUID | None
    campus_id: UUID | None
    email_confirmed: bool = False


class UserLookup(Protocol):
    """Whoever knows the people of our own."""

    async def find(self, token: str, identity: FederatedIdentity) -> LocalUser:
        """Raises ProfileMissing, Unauthorized for somebody who was locked out, and Unavailable."""
        ...


class NoUserLookup:
    """Where nobody can be asked."""

    async def find(self, token: str, identity: FederatedIdentity) -> LocalUser:
        raise Unavailable


class _Found(msgspec.Struct, rename="camel"):
    roles: list[str]
    vendor_id: UUID | None
    campus_id: UUID | None
    # The version before says nothing of it.
    email_confirmed: bool = False


class _Response(msgspec.Struct):
    data: _Found


_decode: Final = msgspec.json.Decoder(_Response).decode


class IdentityUserLookup:
    """Asks the identity service over HTTP. Close it at the end."""

    def __init__(self, identity_url: str) -> None:
        # Never through a proxy: it is one of ours.
        self._client = httpx.AsyncClient(
            base_url=identity_url, timeout=LOOKUP_SECONDS_MAX, trust_env=False, verify=client_tls()
        )

    async def find(self, token: str, identity: FederatedIdentity) -> LocalUser:
        headers = {"Authorization": f"Bearer {token}", **telemetry.trace_headers()}
        try:
            response = await self._client.get(USER_STATUS_PATH, headers=headers)
            if response.status_code == 403:
                raise ProfileMissing(identity.user_id)
            if response.status_code == 401:
                raise Unauthorized
            found = _decode(response.raise_for_status().content).data
        except (httpx.HTTPError, msgspec.DecodeError, UnicodeDecodeError) as error:
            log.warning("identity was not reached for a standing", error=repr(error))
            raise Unavailable from error
        return LocalUser(frozenset(found.roles), found.vendor_id, found.campus_id, found.email_confirmed)

    async def close(self) -> None:
        await self._client.aclose()
