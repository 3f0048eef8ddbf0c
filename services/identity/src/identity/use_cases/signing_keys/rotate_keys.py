"""Bring the next signing key."""

from datetime import datetime

from common.auth.caller import ServiceItself
from common.database.unit_of_work import Database
from common.observability.logging import get_logger
from common.primitives.clock import iso
from identity.credentials.signing_keys import SigningKeys
from identity.domain.key_rotation import PUBLISHED_AHEAD, states_of
from identity.store import keys

log = get_logger(__name__)

ROTATING = ServiceItself("the rotate-keys command")


async def rotate_keys(database: Database, signing_keys: SigningKeys, *, now: datetime) -> str:
    """A new key is published now and signs a little later; until it is retired the old one verifies beside it.

    While a rotation is not ended by `retire_keys`, nothing more happens, so that a repeated command is no second rotation.
    Gives the sentence to tell the operator.
    """
    async with database.unit_of_work(acting_as=ROTATING) as uow:
        await keys.lock_foundations(uow)
        states = states_of(await keys.list_keys(uow), now)
        if states.next:
            return f"Nothing to do: key {states.next[0].kid} is published and signs from {iso(states.next[0].signs_from)} on."
        if states.previous and states.current is not None:
            return (
                f"Nothing to do: key {states.current.kid} has signed since {iso(states.current.signs_from)}; "
                "retire-keys ends that rotation, and then another can begin."
            )
        made, signs_from = signing_keys.make(), now + PUBLISHED_AHEAD
        await keys.record_key(uow, made, now=now, signs_from=signs_from)
    log.info("audit: signing key published", kid=made.kid, signs_from=iso(signs_from))
    return (
        f"Key {made.kid} is published and signs from {iso(signs_from)} on. Nothing needs a restart. Then: retire-keys."
    )
