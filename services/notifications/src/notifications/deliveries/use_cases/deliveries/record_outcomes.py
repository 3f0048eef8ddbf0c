"""Record the outcomes of attempts: a batch in one commit."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Final

from common.auth.caller import THE_SERVICE
from common.database.errors import is_unavailable
from common.database.single_statements import commit_alone
from common.observability import telemetry
from common.observability.logging import get_logger
from contracts.notifications import DeliverySettled
from notifications.deliveries.clients.delivery_sender import DeliverySender
from notifications.deliveries.store.deliveries import save_attempts
from notifications.deliveries.use_cases.deliveries.attempt_delivery import Outcome
from notifications.deliveries.use_cases.deliveries.publish_delivery_settled import publish_delivery_settled

log: Final = get_logger(__name__)

# Retry time for the commit of an outcome while the database is unavailable. A lost outcome could not be reconstructed.
RECORD_SECONDS_MAX: Final = 60
_RECORD_RETRY_SECONDS: Final = 0.5


async def record_outcomes(outcomes: Sequence[Outcome], sender: DeliverySender) -> Sequence[Exception | None]:
    """Commit the outcomes in one transaction; one by one when that fails. Return the error of each that is not
    recorded.

    The record may be repeated. It is retried while the database is unavailable.
    """
    error = await _record(outcomes, sender)
    if error is None or len(outcomes) == 1:
        return [error] * len(outcomes)
    log.warning("batch of outcomes not recorded, recording one by one", error=repr(error))
    return [await _record([outcome], sender) for outcome in outcomes]


async def _record(outcomes: Sequence[Outcome], sender: DeliverySender) -> Exception | None:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + RECORD_SECONDS_MAX
    while True:
        try:
            await _commit(outcomes, sender)
        except Exception as error:
            if not is_unavailable(error) or loop.time() > deadline:
                return error
        else:
            return None
        await asyncio.sleep(_RECORD_RETRY_SECONDS)


async def _commit(outcomes: Sequence[Outcome], sender: DeliverySender) -> None:
    # Effects lock devices in the order of their ids.
    outcomes = sorted(outcomes, key=lambda outcome: outcome.attempt.delivery.recipient)
    attempts = [outcome.attempt for outcome in outcomes]
    if not (sender.database.is_published(DeliverySettled.TYPE) or any(outcome.effects for outcome in outcomes)):
        await save_attempts(partial(commit_alone, sender.database), attempts)
        return
    async with sender.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        changed = await save_attempts(uow.fetch, attempts)
        for outcome in outcomes:
            delivery = outcome.attempt.delivery
            with telemetry.span("record delivery", headers={"traceparent": delivery.traceparent or ""}):
                if outcome.attempt.status == "sent" and delivery.id in changed:
                    publish_delivery_settled(uow, delivery, "sent")
                for effect in outcome.effects:
                    await effect(uow)
