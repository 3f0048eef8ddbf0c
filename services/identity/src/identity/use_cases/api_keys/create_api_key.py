"""Create an API key."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from common.auth.api_keys import PREFIX, new_api_key
from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import ValidationFailed
from contracts.identity import CredentialsChanged
from identity.credentials.keyed_hashes import KeyedHashes
from identity.domain.api_keys import LIFE_MAX, LIVE_KEYS_MAX, owner_of_key
from identity.domain.errors import TooManyApiKeys
from identity.store import api_keys
from identity.store.staff import record_staff_action

HASH_PURPOSE = "api_key"
_HINT_CHARACTERS = 4


@dataclass(frozen=True, slots=True)
class RequestedApiKey:
    """The key that a caller requests."""

    name: str
    scopes: Sequence[str]
    networks: Sequence[str]
    expires_at: datetime


async def create_api_key(
    uow: UnitOfWork, hashes: KeyedHashes, caller: Caller, requested: RequestedApiKey, *, now: datetime
) -> tuple[UUID, str]:
    """Store a key; return its id and the key itself, which cannot be read again.

    Raises Forbidden for a scope that the caller does not hold, ValidationFailed (422), TooManyApiKeys (409).
    """
    vendor_id = owner_of_key(caller, requested.scopes)
    if not now < requested.expires_at <= now + LIFE_MAX:
        raise ValidationFailed.of("expiresAt", f"must be in the future, and at most {LIFE_MAX.days} days ahead")
    await api_keys.lock_owner(uow, vendor_id)
    if await api_keys.count_live(uow, vendor_id, now) >= LIVE_KEYS_MAX:
        raise TooManyApiKeys
    key, key_id = new_api_key(), new_id()
    await api_keys.record_api_key(
        uow,
        api_keys.NewApiKey(
            id=key_id,
            key_hash=hashes.of(HASH_PURPOSE, key),
            hint=PREFIX + "…" + key[-_HINT_CHARACTERS:],
            name=requested.name,
            vendor_id=vendor_id,
            scopes=requested.scopes,
            networks=requested.networks,
            created_by=caller.id,
            created_at=now,
            expires_at=requested.expires_at,
        ),
    )
    detail = {"scopes": list(requested.scopes), "vendorId": None if vendor_id is None else str(vendor_id)}
    await record_staff_action(uow, "api_key_created", "api_key", key_id, detail, by=caller.id, now=now)
    uow.publish(CredentialsChanged(user_id=caller.id, change="api_key_created"))
    return key_id, key
