"""Exchange an API key for a token."""

from dataclasses import dataclass
from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.tokens import TokenIssuer, sign_key_token
from identity.store import accounts, api_keys, keys
from identity.use_cases.api_keys.create_api_key import HASH_PURPOSE
from identity.use_cases.sessions.steps import NoSigningKey


@dataclass(frozen=True, slots=True)
class KeyToken:
    """A token of a key, and the time from which the key is expired."""

    token: str
    expires_at: datetime


async def exchange_api_key(
    uow: UnitOfWork, hashes: KeyedHashes, token_issuer: TokenIssuer, key: str, address: str, *, now: datetime
) -> KeyToken | None:
    """Return a token with the scopes that the key's creator still holds, and record the use.

    None for a key that is unknown, expired, revoked or used from another network, whose creator or shop is suspended,
    or without a scope that is left.
    """
    found = await api_keys.find_live_key(uow, hashes.of(HASH_PURPOSE, key), now)
    if found is None or not found.admits(address):
        return None
    scopes = found.scopes_with(await accounts.find_authorization_profile(uow, found.created_by))
    if not scopes:
        return None
    current = await keys.find_current_key(uow, now)
    if current is None:
        raise NoSigningKey
    await api_keys.record_use(uow, found.id, now)
    signing_key = token_issuer.signing_keys.open(*current)
    token = sign_key_token(signing_key, found, scopes, issuer=token_issuer.issuer, now=now)
    return KeyToken(token, found.expires_at)
