"""Retire superseded signing keys."""

from datetime import datetime

from common.auth.caller import ServiceItself
from common.database.unit_of_work import Database
from common.observability.logging import get_logger
from common.primitives.clock import iso
from identity.domain.errors import KeysStillInUse
from identity.domain.key_rotation import TokensStillValid, evaluate_retirement, states_of
from identity.store import keys

log = get_logger(__name__)

RETIRING = ServiceItself("the retire-keys command")


async def retire_keys(database: Database, *, now: datetime) -> str:
    """Retire the previous keys when none of their tokens can be valid. Return a message for the operator.

    A repetition changes nothing. Raises KeysStillInUse.
    """
    async with database.unit_of_work(acting_as=RETIRING) as uow:
        await keys.lock_foundations(uow)
        verdict = evaluate_retirement(states_of(await keys.list_keys(uow), now), now)
        if isinstance(verdict, TokensStillValid):
            raise KeysStillInUse(
                f"Tokens signed by the previous key may live until {iso(verdict.until)}. Try again then. A "
                "compromised key is retired at once by: retire-keys --compromised KID"
            )
        for key in verdict:
            await keys.retire_key_if_due(uow, key.kid, now, "superseded")
    for key in verdict:
        log.info("audit: signing key retired", kid=key.kid, because="superseded")
    return (
        f"Retired: {', '.join(key.kid for key in verdict)}."
        if verdict
        else "Nothing to do: no key is due for retirement."
    )
