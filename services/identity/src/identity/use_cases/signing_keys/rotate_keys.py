"""Rotate the signing key."""

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
    """Publish a new key, which signs a little later. Return a message for the operator.

    The old key verifies until it is retired. Until `retire_keys` finishes the rotation a repetition changes nothing.
    """
    async with database.unit_of_work(acting_as=ROTATING) as uow:
        await keys.lock_foundations(uow)
        states = states_of(await keys.list_keys(uow), now)
        if states.next:
            return (
                f"Nothing to do: key {states.next[0].kid} is published and signs from "
                f"{iso(states.next[0].signs_from)} on."
            )
        if states.previous and states.current is not None:
            return (
                f"Nothing to do: key {states.current.kid} has signed since {iso(states.current.signs_from)}; "
                "run retire-keys to finish that rotation before the next."
            )
        made, signs_from = signing_keys.make(), now + PUBLISHED_AHEAD
        await keys.record_key(uow, made, now=now, signs_from=signs_from)
    log.info("audit: signing key published", kid=made.kid, signs_from=iso(signs_from))
    return f"Key {made.kid} is published and signs from {iso(signs_from)} on. No restart is needed. Next: retire-keys."
