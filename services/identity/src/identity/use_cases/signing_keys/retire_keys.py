"""Take old signing keys out of the published set."""

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
    """The keys that sign no more are forgotten, once no token of theirs can live; repeated, it finds nothing to do.

    Gives the sentence to tell the operator. Raises KeysStillNeeded.
    """
    async with database.unit_of_work(acting_as=RETIRING) as uow:
        await keys.lock_foundations(uow)
        verdict = evaluate_retirement(states_of(await keys.list_keys(uow), now), now)
        if isinstance(verdict, TokensStillValid):
            raise KeysStillInUse(
                f"Tokens signed by the previous key may live until {iso(verdict.until)}. Come again then; a key that "
                "somebody else may have is taken out at once by: retire-keys --compromised KID"
            )
        for key in verdict:
            await keys.retire_key_if_due(uow, key.kid, now, "superseded")
    for key in verdict:
        log.info("audit: signing key retired", kid=key.kid, because="superseded")
    return (
        f"Retired: {', '.join(key.kid for key in verdict)}."
        if verdict
        else "Nothing to do: no key waits to be retired."
    )
