"""Send a claimed delivery: at its provider, and at the next one where the first accepted no message."""

from dataclasses import replace

from common.auth.caller import THE_SERVICE
from common.primitives.ids import new_id
from notifications.deliveries.clients.delivery_sender import ClaimedDelivery, DeliverySender
from notifications.deliveries.domain.devices import circuit_name
from notifications.deliveries.store.deliveries import claim_deliveries, save_attempts
from notifications.deliveries.use_cases.deliveries.attempt_delivery import Outcome, attempt_delivery


async def send_delivery(claimed: ClaimedDelivery, sender: DeliverySender) -> Outcome:
    """Return the outcome of the last attempt, which the caller records.

    If the worker dies before that, `redelivery_policy` decides whether the message is sent again or fails.
    """
    while True:
        outcome = await attempt_delivery(claimed, sender)
        following = await _claim_next_provider(claimed, outcome, sender) if outcome.tries_next else None
        if following is None:
            return outcome
        claimed = following


async def _claim_next_provider(
    claimed: ClaimedDelivery, outcome: Outcome, sender: DeliverySender
) -> ClaimedDelivery | None:
    """Record the failed attempt and commit the claim for the next provider that is not paused; None without one."""
    others = list(claimed.others)
    while others and sender.circuits.of(circuit_name(others[0].provider, claimed.device)).admit() is not None:
        others.pop(0)
    if not others:
        return None
    delivery_id, now = claimed.delivery.id, sender.clock.now()
    following = replace(claimed, claim_id=new_id(), claimed_at=now, client=others[0], others=tuple(others[1:]))
    async with sender.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        # Both calls are one attempt of the retry ladder.
        if delivery_id not in await save_attempts(uow.fetch, [replace(outcome.attempt, counted=False)]):
            return None
        for effect in outcome.effects:
            await effect(uow)
        await claim_deliveries(uow, {delivery_id: following.claim_id}, now)
    return following
