"""Call the provider for a claimed delivery, outside of any transaction."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from common.database.unit_of_work import UnitOfWork
from common.observability.logging import get_logger
from common.primitives.encryption import DecryptionFailed, UnknownKey
from common.primitives.retry import jittered
from notifications.deliveries.clients.delivery_sender import ChannelProvider, ClaimedDelivery, DeliverySender
from notifications.deliveries.domain.channels import is_unsubscribable
from notifications.deliveries.domain.deliveries import PROVIDER_SECONDS_MAX, Message, OutboundMessage, redacted
from notifications.deliveries.domain.errors import (
    AccountFault,
    DeviceOfOtherAccount,
    DeviceUnregistered,
    FreeTextRejected,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnavailable,
    RecipientUnreachable,
)
from notifications.deliveries.domain.pin_texts import pin_values
from notifications.deliveries.domain.templates import CATALOG
from notifications.deliveries.store.deliveries import Attempt, LockedDelivery, encrypted_of
from notifications.deliveries.store.devices import delete_unregistered_device
from notifications.deliveries.store.statuses import requeue_as_template
from notifications.deliveries.use_cases.deliveries.alerts import (
    alert_account_fault,
    alert_provider_paused,
    clear_provider_alerts,
)
from notifications.deliveries.use_cases.deliveries.fail_delivery import fail_delivery
from notifications.deliveries.use_cases.deliveries.hold_delivery import hold_delivery
from notifications.deliveries.use_cases.deliveries.pause_provider import pause_provider
from notifications.deliveries.use_cases.deliveries.resume_provider import resume_provider

UNKNOWN_KEY: Final = "it is encrypted under a key that this process does not have yet"

log: Final = get_logger(__name__)

# Runs in the transaction that records the attempt, after it. It may be repeated.
Effect = Callable[[UnitOfWork], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The attempt to record and its effects. With `tries_next` another provider is called before a retry."""

    attempt: Attempt
    effects: tuple[Effect, ...] = ()
    tries_next: bool = False


async def attempt_delivery(claimed: ClaimedDelivery, sender: DeliverySender) -> Outcome:
    """Render the message, call the provider for at most PROVIDER_SECONDS_MAX and return what to record."""
    secrets: dict[str, str] = {}
    try:
        outbound = _compose(claimed, sender, secrets)
    except UnknownKey:
        # This process receives the new key with its next start.
        return _not_called(claimed, sender, UNKNOWN_KEY)
    except DecryptionFailed:
        reason = "the encrypted value cannot be decrypted"
        return _rejected(claimed, sender, ProviderRejected(claimed.client.provider, reason), reason)
    except Exception as error:
        log.error("message not rendered", delivery_id=str(claimed.delivery.id), error=type(error).__name__)
        return _not_called(claimed, sender, "the message cannot be rendered")
    try:
        message_id = await _call(claimed.client, outbound)
    except ProviderUnavailable as error:
        return _unavailable(claimed, sender, error, redacted(secrets, error.reason))
    except ProviderRejected as error:
        return _rejected(claimed, sender, error, redacted(secrets, error.reason))
    effects = (*_recovery(claimed, sender), *_recovery_of_devices(claimed, sender))
    return Outcome(_attempt(claimed, "sent", message_id=message_id), effects)


def _not_called(claimed: ClaimedDelivery, sender: DeliverySender, reason: str) -> Outcome:
    claimed.circuit(sender).succeeded()
    return _retry(claimed, sender, reason)


def _unavailable(claimed: ClaimedDelivery, sender: DeliverySender, error: ProviderUnavailable, reason: str) -> Outcome:
    """Count the failure. An account fault pauses the provider at once; its first one raises an alert."""
    circuit, name, is_account_fault = claimed.circuit(sender), claimed.circuit_name, isinstance(error, AccountFault)
    if is_account_fault and claimed.delivery.channel == "messaging":
        return _paused(claimed, sender, reason)
    is_first = circuit.suspend() if is_account_fault else circuit.failed()
    if error.retry_after_seconds is not None:
        circuit.pause(timedelta(seconds=error.retry_after_seconds))

    async def alert(uow: UnitOfWork) -> None:
        (alert_account_fault if is_account_fault else alert_provider_paused)(uow, name, reason)

    # After a timeout a status may still report the message; then the retry finds nothing to send.
    may_be_reported = claimed.delivery.channel == "messaging" and sender.reports_statuses
    status: Literal["failed", "unknown"] = (
        "unknown" if isinstance(error, ProviderTimeout) and may_be_reported else "failed"
    )
    return _retry(
        claimed,
        sender,
        reason,
        status,
        # The message waits for the operator, without a limit.
        counted=not is_account_fault,
        effects=(alert,) if is_first else (),
        tries_next=claimed.may_try_next_provider(error),
    )


def _retry(
    claimed: ClaimedDelivery,
    sender: DeliverySender,
    reason: str,
    status: Literal["failed", "unknown"] = "failed",
    *,
    counted: bool = True,
    effects: tuple[Effect, ...] = (),
    tries_next: bool = False,
) -> Outcome:
    """Return the next attempt by the retry ladder; after the last one the delivery fails."""
    delay = sender.ladder.delay_after(claimed.delivery.attempts + 1) if counted else sender.ladder.delays_seconds[0]
    if delay is None and not tries_next:

        async def fail(uow: UnitOfWork) -> None:
            await fail_delivery(uow, claimed.delivery.id, f"{claimed.client.provider}: {reason}")

        return Outcome(_attempt(claimed, status, error=reason), (*effects, fail))
    due_at = sender.clock.now() + timedelta(seconds=jittered(delay or 0.0))
    attempt = _attempt(claimed, status, error=reason, due_at=due_at, counted=counted)
    return Outcome(attempt, effects, tries_next)


def _paused(claimed: ClaimedDelivery, sender: DeliverySender, reason: str) -> Outcome:
    """Pause the messaging app for all processes: it reports such faults in statuses too, after it accepted the
    message.
    """
    claimed.circuit(sender).succeeded()
    now = sender.clock.now()

    async def pause(uow: UnitOfWork) -> None:
        until = await pause_provider(uow, claimed.client.provider, reason, now)
        await hold_delivery(uow, claimed.delivery, until, now)

    return Outcome(_attempt(claimed, "failed", error=reason), (pause,))


def _rejected(claimed: ClaimedDelivery, sender: DeliverySender, error: ProviderRejected, reason: str) -> Outcome:
    """Fail the delivery, or send a rejected free text as its template."""
    delivery, now = claimed.delivery, sender.clock.now()
    if isinstance(error, DeviceOfOtherAccount):
        # No call is stopped by this circuit: it remembers the alert until the first success.
        sender.circuits.of(_devices_of(error.provider)).suspend()

    async def reject(uow: UnitOfWork) -> None:
        if isinstance(error, DeviceUnregistered) and claimed.device is not None:
            await delete_unregistered_device(uow, claimed.device.device_id, claimed.device.address)
        if isinstance(error, DeviceOfOtherAccount):
            alert_account_fault(uow, error.provider, reason)
        if isinstance(error, FreeTextRejected):
            await requeue_as_template(uow, delivery.id, now)
        else:
            await fail_delivery(uow, delivery.id, reason, alert=_is_alerted(error, delivery))

    return Outcome(_attempt(claimed, "failed", error=reason), (reject, *_recovery(claimed, sender)))


def _is_alerted(error: ProviderRejected, delivery: LockedDelivery) -> bool:
    """Return whether the lost message raises an alert. One that only its recipient can receive again does not, except
    a PIN or code."""
    if isinstance(error, RecipientUnreachable):
        return CATALOG[delivery.template].sensitive
    return not isinstance(error, DeviceUnregistered | DeviceOfOtherAccount)


def _recovery(claimed: ClaimedDelivery, sender: DeliverySender) -> tuple[Effect, ...]:
    """Return the effects of an acceptance or rejection; either one shows that the provider works.

    The messaging app accepts messages of a rejected account, and a status reports the fault: where statuses are
    configured, only they end its pause.
    """
    is_recovered = claimed.circuit(sender).succeeded()

    async def resume(uow: UnitOfWork) -> None:
        await resume_provider(uow, claimed.client.provider, sender.clock.now())

    async def clear(uow: UnitOfWork) -> None:
        clear_provider_alerts(uow, claimed.circuit_name)

    if claimed.is_probe:
        return () if sender.reports_statuses else (resume,)
    return (clear,) if is_recovered else ()


def _recovery_of_devices(claimed: ClaimedDelivery, sender: DeliverySender) -> tuple[Effect, ...]:
    """Return the effects of an acceptance after the provider rejected devices that registered with another account."""
    provider = claimed.client.provider

    async def clear(uow: UnitOfWork) -> None:
        clear_provider_alerts(uow, provider)

    return (clear,) if sender.circuits.of(_devices_of(provider)).succeeded() else ()


def _devices_of(provider: str) -> str:
    """Return the circuit of devices that registered with another account of the provider."""
    return f"{provider} devices"


def _attempt(
    claimed: ClaimedDelivery,
    status: Literal["sent", "failed", "unknown"],
    *,
    message_id: str | None = None,
    error: str | None = None,
    due_at: datetime | None = None,
    counted: bool = True,
) -> Attempt:
    if error is not None:
        log.warning(
            "message failed",
            delivery_id=str(claimed.delivery.id),
            channel=claimed.delivery.channel,
            provider=claimed.client.provider,
            attempt=claimed.delivery.attempts + 1,
            error=error,
        )
    return Attempt(
        claimed.delivery,
        claimed.claim_id,
        claimed.claimed_at,
        claimed.client.provider,
        status,
        message_id,
        error,
        due_at,
        counted,
    )


def _compose(claimed: ClaimedDelivery, sender: DeliverySender, secrets: dict[str, str]) -> OutboundMessage:
    """Decrypt the secrets and render the message. `secrets` is filled step by step, so that errors are redacted."""
    delivery, device = claimed.delivery, claimed.device
    for name, encrypted in encrypted_of(delivery.sealed).items():
        secrets[name] = sender.encryptor.decrypt(encrypted.text, encrypted.context)
    address = secrets.get("address", delivery.recipient) if device is None else device.address
    values = pin_values(delivery.payload, secrets)
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
        subject=delivery.subject,
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
