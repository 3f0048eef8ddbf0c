"""Claim the due deliveries that may be sent now. One transaction; no provider is called before its commit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from notifications.deliveries.clients.delivery_sender import ClaimedDelivery, DeliverySender, FreeTextLookup
from notifications.deliveries.domain.channels import is_expired
from notifications.deliveries.domain.deliveries import ATTEMPTS_MAX
from notifications.deliveries.domain.devices import Device, circuit_name
from notifications.deliveries.domain.messaging_errors import PROVIDER
from notifications.deliveries.queries.devices import devices_of
from notifications.deliveries.store import deliveries
from notifications.deliveries.store.deliveries import LockedDelivery
from notifications.deliveries.store.provider_pauses import claim_probe, find_probe_time
from notifications.deliveries.use_cases.deliveries.fail_delivery import fail_delivery
from notifications.deliveries.use_cases.deliveries.hold_delivery import hold_delivery
from notifications.deliveries.use_cases.deliveries.pause_provider import PROBE_EVERY


@dataclass(frozen=True, slots=True)
class ClaimedBatch:
    """The due deliveries that were found, and those of them that were claimed: the others were postponed or failed."""

    due: Sequence[LockedDelivery]
    claimed: Sequence[ClaimedDelivery]


async def claim_deliveries(sender: DeliverySender, free: Mapping[str, int]) -> ClaimedBatch:
    """Claim due deliveries of each channel, at most its number in `free`.

    A delivery whose providers are all paused is postponed, which uses up no retry. An expired code and a push without a
    device fail. Deliveries that another worker has locked are skipped. Without a due delivery it is one round trip.
    """
    now = sender.clock.now()
    if not await deliveries.has_due_deliveries(sender.database.reads_for(THE_SERVICE), now, free):
        return ClaimedBatch((), ())
    async with sender.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        due = await deliveries.lock_due_deliveries(uow, now, free)
        devices = await _devices(uow, due)
        postponed: dict[UUID, datetime] = {}
        claimed: list[ClaimedDelivery] = []
        for delivery in due:
            device = devices.get(delivery.recipient)
            reason = _obstacle(delivery, device, now)
            if reason is not None:
                await fail_delivery(uow, delivery.id, reason, alert=delivery.attempts >= ATTEMPTS_MAX)
                continue
            one = await _choose_provider(uow, delivery, device, sender, now)
            if isinstance(one, ClaimedDelivery):
                claimed.append(one)
            elif one is not None:
                postponed[delivery.id] = one
        await deliveries.postpone_deliveries(uow, postponed)
        if claimed:
            await deliveries.claim_deliveries(uow, {one.delivery.id: one.claim_id for one in claimed}, now)
    return ClaimedBatch(due, claimed)


def _obstacle(delivery: LockedDelivery, device: Device | None, now: datetime) -> str | None:
    """Return why the delivery fails without a call; None when it may be sent."""
    if delivery.attempts >= ATTEMPTS_MAX:
        return "the attempts ended too often without an outcome"
    if is_expired(delivery.template, delivery.payload.get("purpose"), now - delivery.created_at):
        return "the code expired before a provider took the message"
    if delivery.channel == "push" and device is None:
        return "the device is no longer registered"
    return None


async def _choose_provider(
    uow: UnitOfWork, delivery: LockedDelivery, device: Device | None, sender: DeliverySender, now: datetime
) -> ClaimedDelivery | datetime | None:
    """Return the claim for the first provider that is not paused, or the time of the next probe; None when it is
    settled.
    """
    is_probe = False
    if delivery.channel == "messaging":
        probe_at = await find_probe_time(uow, PROVIDER)
        is_probe = probe_at is not None and await claim_probe(uow, PROVIDER, now, now + PROBE_EVERY)
        if probe_at is not None and not is_probe:
            await hold_delivery(uow, delivery, max(probe_at, now), now)
            return None
    clients = sender.providers_for(delivery.channel, device)
    paused_until: list[datetime] = []
    for number, client in enumerate(clients, start=1):
        until = sender.circuits.of(circuit_name(client.provider, device)).admit()
        if until is None:
            others, free_text = tuple(clients[number:]), await _free_text(uow, delivery, sender.find_free_text, now)
            return ClaimedDelivery(delivery, new_id(), now, client, others, device, free_text, is_probe)
        paused_until.append(until)
    if paused_until:
        return min(paused_until)
    await fail_delivery(uow, delivery.id, "no provider is configured")
    return None


async def _devices(uow: UnitOfWork, due: list[LockedDelivery]) -> Mapping[str, Device]:
    """Return the devices of pushes by their id. A device that another user registered is missing."""
    owners = {
        UUID(delivery.recipient): delivery.user_id
        for delivery in due
        if delivery.channel == "push" and delivery.user_id is not None and not delivery.recipient.startswith("erased:")
    }
    return await devices_of(uow, owners) if owners else {}


async def _free_text(
    uow: UnitOfWork, delivery: LockedDelivery, find_free_text: FreeTextLookup, now: datetime
) -> str | None:
    """Return support's text while the messaging app permits free texts; None for an approved template."""
    message_id = delivery.payload.get("messageId") if delivery.channel == "messaging" else None
    return None if message_id is None else await find_free_text(uow, UUID(str(message_id)), now)
