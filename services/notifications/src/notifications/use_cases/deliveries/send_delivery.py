"""Send one message: commit the claim, call the provider outside any transaction, commit the outcome."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database, UnitOfWork, is_unavailable
from common.primitives.circuit_breaker import Circuits
from common.primitives.clock import Clock
from common.primitives.encryption import DecryptionFailed, Encryptor, UnknownKey
from notifications import queries, store
from notifications.domain.channels import is_expired, is_unsubscribable, redelivery_policy
from notifications.domain.deliveries import (
    PROVIDER_SECONDS_MAX,
    AttemptsExhausted,
    Claimable,
    Message,
    OutboundMessage,
    OutcomeUnknown,
    evaluate_claim,
    redacted,
)
from notifications.domain.devices import Device
from notifications.domain.errors import (
    AccountFault,
    DeviceOfOtherAccount,
    DeviceUnregistered,
    FreeTextRejected,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnavailable,
    RecipientUnreachable,
)
from notifications.domain.messaging_errors import PROVIDER
from notifications.domain.templates import CATALOG
from notifications.domain.tickets import may_write_freely
from notifications.queries.tickets import find_free_text
from notifications.store import LockedDelivery
from notifications.store.unsubscribe_links import UnsubscribeLinks
from notifications.templates.renderer import MessageRenderer
from notifications.use_cases.deliveries.alert_account_fault import alert_account_fault
from notifications.use_cases.deliveries.alert_provider_paused import alert_provider_paused
from notifications.use_cases.deliveries.clear_provider_alerts import clear_provider_alerts
from notifications.use_cases.deliveries.fail_delivery import fail_delivery
from notifications.use_cases.deliveries.hold_delivery import hold_delivery
from notifications.use_cases.deliveries.pause_provider import PROBE_EVERY, pause_provider
from notifications.use_cases.deliveries.publish_delivery_settled import publish_delivery_settled
from notifications.use_cases.deliveries.resume_provider import resume_provider

# Retry time for the commit of an outcome while the database is unavailable. A lost outcome could not be reconstructed.
RECORD_SECONDS_MAX: Final = 60
_RECORD_RETRY_SECONDS: Final = 0.5
UNKNOWN_KEY: Final = "it is encrypted under a key that this process does not have yet"
OUTCOME_UNKNOWN: Final = "its worker ended before it recorded an outcome, and it must not be sent twice"


class ChannelProvider(Protocol):
    """A provider of one channel."""

    provider: str

    async def send(self, outbound: OutboundMessage) -> str:
        """Return the provider's id of the message. Raises ProviderUnavailable and ProviderRejected."""


@dataclass(frozen=True, slots=True)
class DeliverySender:
    """The providers, the renderer and the key of encrypted values.

    `providers` are by channel, in the order of their use; push has the keys `push:web` and `push:native`.
    `reports_statuses`: the messaging app's status webhooks are configured and resolve unknown outcomes.
    """

    database: Database
    clock: Clock
    providers: Mapping[str, Collection[ChannelProvider]]
    renderer: MessageRenderer
    encryptor: Encryptor
    circuits: Circuits
    reports_statuses: bool
    unsubscribe_links: UnsubscribeLinks

    @property
    def channels(self) -> frozenset[str]:
        """The channels that have a provider."""
        return frozenset(name.partition(":")[0] for name in self.providers)

    @property
    def device_kinds(self) -> tuple[str, ...]:
        """The kinds of devices that a push reaches."""
        web = ("web",) if "push:web" in self.providers else ()
        return (*web, "android", "ios") if "push:native" in self.providers else web


@dataclass(frozen=True, slots=True)
class _Claimed:
    delivery: LockedDelivery
    claim_id: UUID
    provider_client: ChannelProvider
    device: Device | None
    has_another: bool
    free_text: str | None = None
    is_probe: bool = False

    @property
    def circuit_name(self) -> str:
        return _circuit_name(self.provider_client, self.device)

    def may_try_next_provider(self, error: ProviderUnavailable) -> bool:
        """A timeout may have sent the message: only secrets, which must arrive, are then sent by a second provider."""
        sensitive = CATALOG[self.delivery.template].sensitive
        return self.has_another and (sensitive or not isinstance(error, ProviderTimeout))


async def send_delivery(delivery_id: UUID, sender: DeliverySender) -> None:
    """Send a claimable delivery; otherwise do nothing. Raises ProviderUnavailable for a retry.

    A channel's second provider follows when the first is paused or unavailable. While all of them are paused the delivery
    is postponed, which uses up no retry. The claim is committed before the call. If the worker dies before it commits the
    outcome, `redelivery_policy` decides whether the message is sent again or fails.
    """
    tried: list[str] = []
    while True:
        claimed = await _claim(delivery_id, sender, tried)
        if claimed is None:
            return
        try:
            await _attempt(claimed, sender)
        except ProviderUnavailable as error:
            if not claimed.may_try_next_provider(error):
                raise
            tried.append(claimed.provider_client.provider)
            continue
        return


async def _attempt(claimed: _Claimed, sender: DeliverySender) -> None:
    secrets: dict[str, str] = {}
    delivery, provider = claimed.delivery, claimed.provider_client.provider
    try:
        outbound = _compose(claimed, sender, secrets)
        provider_message_id = await _call(claimed.provider_client, outbound)
    except ProviderUnavailable as error:
        await _record_unavailable(sender, claimed, error, reason := redacted(secrets, error.reason))
        raise type(error)(error.provider, reason) from None
    except UnknownKey:
        # The provider was not called. This process receives the new key with its next start.
        sender.circuits.of(claimed.circuit_name).succeeded()
        await _record(sender, lambda uow: store.save_failed_attempt(uow, delivery.id, claimed.claim_id, UNKNOWN_KEY))
        raise ProviderUnavailable(provider, UNKNOWN_KEY) from None
    except ProviderRejected as error:
        await _record_rejection(sender, claimed, error, redacted(secrets, error.reason))
    except DecryptionFailed:
        undecryptable = ProviderRejected(provider, "the encrypted value cannot be decrypted")
        await _record_rejection(sender, claimed, undecryptable, undecryptable.reason)
    else:
        is_recovered = sender.circuits.of(_devices_of(provider)).succeeded()

        async def record_sent(uow: UnitOfWork) -> None:
            if await store.save_sent(uow, delivery.id, claimed.claim_id, provider_message_id):
                publish_delivery_settled(uow, delivery, "sent")
            if is_recovered:
                await clear_provider_alerts(uow, provider)

        await _record_response(sender, claimed, record_sent)


async def _record_unavailable(
    sender: DeliverySender, claimed: _Claimed, error: ProviderUnavailable, reason: str
) -> None:
    """Record the failed attempt. An account fault pauses the provider at once; its first one raises an alert."""
    if isinstance(error, AccountFault) and claimed.delivery.channel == "messaging":
        await _record_pause(sender, claimed, error, reason)
        return
    circuit = sender.circuits.of(claimed.circuit_name)
    is_account_fault = isinstance(error, AccountFault)
    is_first = circuit.suspend() if is_account_fault else circuit.failed()
    if error.retry_after_seconds is not None:
        circuit.pause(timedelta(seconds=error.retry_after_seconds))
    status = _status_after_failure(error, claimed.delivery, sender)

    async def record(uow: UnitOfWork) -> None:
        await store.save_failed_attempt(uow, claimed.delivery.id, claimed.claim_id, reason, status)
        if is_account_fault:
            # The message waits for the operator, however long that takes.
            await store.return_attempt(uow, claimed.delivery.id)
        if is_first:
            (alert_account_fault if is_account_fault else alert_provider_paused)(uow, claimed.circuit_name, reason)

    await _record(sender, record)


async def _record_pause(sender: DeliverySender, claimed: _Claimed, error: AccountFault, reason: str) -> None:
    """Pause the messaging app for all processes: it reports such faults in statuses too, after it took the message."""
    sender.circuits.of(claimed.circuit_name).succeeded()
    now = sender.clock.now()

    async def record(uow: UnitOfWork) -> None:
        await store.save_failed_attempt(uow, claimed.delivery.id, claimed.claim_id, reason)
        until = await pause_provider(uow, error.provider, reason, now)
        await hold_delivery(uow, claimed.delivery, until, now)

    await _record(sender, record)


def _status_after_failure(error: ProviderUnavailable, delivery: LockedDelivery, sender: DeliverySender) -> str:
    """After a timeout a status webhook may still report the message; then the retry finds nothing to send."""
    may_be_reported = delivery.channel == "messaging" and sender.reports_statuses
    return "unknown" if isinstance(error, ProviderTimeout) and may_be_reported else "failed"


async def _record_rejection(sender: DeliverySender, claimed: _Claimed, error: ProviderRejected, reason: str) -> None:
    if isinstance(error, DeviceOfOtherAccount):
        # No call is stopped by this circuit: it remembers the alert until the first success.
        sender.circuits.of(_devices_of(error.provider)).suspend()

    async def record(uow: UnitOfWork) -> None:
        if isinstance(error, DeviceUnregistered) and claimed.device is not None:
            await store.delete_unregistered_device(uow, claimed.device.device_id, claimed.device.address)
        if isinstance(error, DeviceOfOtherAccount):
            alert_account_fault(uow, error.provider, reason)
        await store.save_failed_attempt(uow, claimed.delivery.id, claimed.claim_id, reason)
        if isinstance(error, FreeTextRejected):
            await store.requeue_as_template(uow, claimed.delivery.id, sender.clock.now())
            return
        await fail_delivery(uow, claimed.delivery.id, reason, alert=_is_alerted(error, claimed.delivery))

    await _record_response(sender, claimed, record)


def _is_alerted(error: ProviderRejected, delivery: LockedDelivery) -> bool:
    """Return whether the lost message raises an alert. One that only its recipient can receive again does not, except
    a PIN or code."""
    if isinstance(error, RecipientUnreachable):
        return CATALOG[delivery.template].sensitive
    return not isinstance(error, DeviceUnregistered | DeviceOfOtherAccount)


async def _record_response(
    sender: DeliverySender, claimed: _Claimed, record: Callable[[UnitOfWork], Awaitable[None]]
) -> None:
    """Record an acceptance or rejection; either one shows that the provider works.

    The messaging app accepts messages of a rejected account, and a status reports the fault: where statuses are
    configured, only they end its pause.
    """
    ends_pause = claimed.is_probe and not sender.reports_statuses
    is_recovered = sender.circuits.of(claimed.circuit_name).succeeded()

    async def record_and_clear(uow: UnitOfWork) -> None:
        await record(uow)
        if ends_pause:
            await resume_provider(uow, claimed.provider_client.provider, sender.clock.now())
        elif is_recovered and not claimed.is_probe:
            await clear_provider_alerts(uow, claimed.circuit_name)

    await _record(sender, record_and_clear)


async def _record(sender: DeliverySender, record: Callable[[UnitOfWork], Awaitable[None]]) -> None:
    """Commit the idempotent record of an outcome; retry while the database is unavailable."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + RECORD_SECONDS_MAX
    while True:
        try:
            async with sender.database.unit_of_work(acting_as=THE_SERVICE) as uow:
                await record(uow)
            return
        except Exception as error:
            if not is_unavailable(error) or loop.time() > deadline:
                raise
        await asyncio.sleep(_RECORD_RETRY_SECONDS)


async def _claim(delivery_id: UUID, sender: DeliverySender, tried: Collection[str]) -> _Claimed | None:
    now = sender.clock.now()
    async with sender.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        delivery = await store.lock_delivery(uow, delivery_id)
        if delivery is None:
            return None
        redelivery = redelivery_policy(delivery.template, delivery.channel, reports_statuses=sender.reports_statuses)
        verdict = evaluate_claim(
            delivery.status, delivery.claimed_at, delivery.attempts, now, redelivery, delivery.due_at
        )
        if isinstance(verdict, AttemptsExhausted):
            await fail_delivery(uow, delivery_id, "the attempts ended too often without an outcome")
        if isinstance(verdict, OutcomeUnknown):
            await fail_delivery(uow, delivery_id, OUTCOME_UNKNOWN)
        if not isinstance(verdict, Claimable):
            return None
        if is_expired(delivery.template, delivery.payload.get("purpose"), now - delivery.created_at):
            await fail_delivery(uow, delivery_id, "the code expired before a provider took the message", alert=False)
            return None
        device = await _device(uow, delivery)
        if delivery.channel == "push" and device is None:
            await fail_delivery(uow, delivery_id, "the device is not registered any more", alert=False)
            return None
        return await _claim_for_provider(uow, delivery, device, sender, tried, now)


async def _claim_for_provider(
    uow: UnitOfWork,
    delivery: LockedDelivery,
    device: Device | None,
    sender: DeliverySender,
    tried: Collection[str],
    now: datetime,
) -> _Claimed | None:
    """Claim for the first provider that is not paused; postpone the delivery when all are."""
    name = delivery.channel if device is None else f"push:{'web' if device.kind == 'web' else 'native'}"
    clients = [client for client in sender.providers.get(name, ()) if client.provider not in tried]
    is_probe = False
    if delivery.channel == "messaging":
        probe_at = await store.find_probe_time(uow, PROVIDER)
        is_probe = probe_at is not None and await store.claim_probe(uow, PROVIDER, now, now + PROBE_EVERY)
        if probe_at is not None and not is_probe:
            await hold_delivery(uow, delivery, max(probe_at, now), now)
            return None
    paused_until: list[datetime] = []
    for number, client in enumerate(clients, start=1):
        until = sender.circuits.of(_circuit_name(client, device)).admit()
        if until is None:
            claim_id = await store.claim_delivery(uow, delivery, client.provider, now)
            free_text = await _free_text(uow, delivery, now)
            return _Claimed(delivery, claim_id, client, device, number < len(clients), free_text, is_probe)
        paused_until.append(until)
    if paused_until:
        await store.postpone_delivery(uow, delivery.id, min(paused_until))
    else:
        await fail_delivery(uow, delivery.id, "no provider is configured")
    return None


async def _device(uow: UnitOfWork, delivery: LockedDelivery) -> Device | None:
    if delivery.channel != "push" or delivery.user_id is None or delivery.recipient.startswith("erased:"):
        return None
    return await queries.find_device(uow, UUID(delivery.recipient), delivery.user_id)


async def _free_text(uow: UnitOfWork, delivery: LockedDelivery, now: datetime) -> str | None:
    """Return support's text while the messaging app permits free texts; None for an approved template."""
    message_id = delivery.payload.get("messageId") if delivery.channel == "messaging" else None
    reply = None if message_id is None else await find_free_text(uow, UUID(message_id))
    if reply is None or not may_write_freely(reply.last_message_at, now):
        return None
    return reply.body or None


def _circuit_name(client: ChannelProvider, device: Device | None) -> str:
    """Failures count by provider; those of pushes by the platform of the app or the push service of the browser."""
    if device is None:
        return client.provider
    return f"{client.provider} {device.origin if device.kind == 'web' else device.kind}"


def _devices_of(provider: str) -> str:
    """The circuit of devices that registered with another account of the provider."""
    return f"{provider} devices"


def _compose(claimed: _Claimed, sender: DeliverySender, secrets: dict[str, str]) -> OutboundMessage:
    """Decrypt the secrets and render the message. `secrets` is filled step by step, so that errors are redacted."""
    delivery, device = claimed.delivery, claimed.device
    for name, encrypted in store.encrypted_of(delivery.sealed).items():
        secrets[name] = sender.encryptor.decrypt(encrypted.text, encrypted.context)
    address = secrets.get("address", delivery.recipient) if device is None else device.address
    values = {**delivery.payload, **secrets}
    free = None if claimed.free_text is None else Message(text=claimed.free_text)
    return OutboundMessage(
        delivery_id=delivery.id,
        notification_id=delivery.notification_id,
        template=delivery.template,
        address=address,
        message=free or sender.renderer.message(delivery.channel, delivery.template, values),
        sensitive=bool(secrets),
        device=device,
        unsubscribe_link=_unsubscribe_link(delivery, sender),
    )


def _unsubscribe_link(delivery: LockedDelivery, sender: DeliverySender) -> str | None:
    if delivery.channel != "email" or delivery.user_id is None or not is_unsubscribable(delivery.template):
        return None
    return sender.unsubscribe_links.link_of(delivery.user_id)


async def _call(client: ChannelProvider, outbound: OutboundMessage) -> str:
    try:
        async with asyncio.timeout(PROVIDER_SECONDS_MAX):
            return await client.send(outbound)
    except TimeoutError:
        raise ProviderTimeout(client.provider, "did not answer in time") from None
