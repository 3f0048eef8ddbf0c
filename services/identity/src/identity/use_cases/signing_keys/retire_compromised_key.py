"""Retire a compromised signing key at once."""

from datetime import datetime

from common.auth.caller import ServiceItself
from common.database.unit_of_work import Database, UnitOfWork
from common.observability.logging import get_logger
from common.primitives.clock import iso
from identity.credentials.signing_keys import SigningKeys
from identity.domain.errors import UnknownKey
from identity.domain.key_rotation import KeyStates, states_of
from identity.store import keys

log = get_logger(__name__)

RETIRING = ServiceItself("the retire-keys command")


async def retire_compromised_key(database: Database, signing_keys: SigningKeys, kid: str, *, now: datetime) -> str:
    """Retire the key: within a minute every process rejects its tokens. Return a message for the operator.

    If it is the current key, the next key or a new one signs from now on. Raises UnknownKey.
    """
    async with database.unit_of_work(acting_as=RETIRING) as uow:
        await keys.lock_foundations(uow)
        states = states_of(await keys.list_keys(uow), now)
        if not await keys.retire_key_if_due(uow, kid, now, "compromised"):
            retired_at = await keys.find_retired_at(uow, kid)
            if retired_at is None:
                raise UnknownKey(f"There is no signing key {kid}. /.well-known/jwks.json lists the published ones.")
            return f"Nothing to do: key {kid} was retired at {iso(retired_at)}."
        signer = await _ensure_signer(uow, signing_keys, states, kid, now)
    log.warning("audit: signing key retired", kid=kid, because="compromised", signing_now=signer)
    return f"Key {kid} is retired as compromised. Key {signer} signs."


async def _ensure_signer(uow: UnitOfWork, signing_keys: SigningKeys, states: KeyStates, kid: str, now: datetime) -> str:
    """Return the `kid` of the key that signs after the retirement."""
    if states.current is not None and states.current.kid != kid:
        return states.current.kid
    if states.next:
        await keys.save_signs_from(uow, states.next[0].kid, now)
        return states.next[0].kid
    made = signing_keys.make()
    await keys.record_key(uow, made, now=now, signs_from=now)
    return made.kid
