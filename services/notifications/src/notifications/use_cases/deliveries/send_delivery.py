"""Send one message: claim it, call the provider, record what came of it. Nothing is called inside a transaction."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Protocol
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database, UnitOfWork, is_unavailable
from common.primitives.circuit_breaker import Circuits
from common.primitives.clock import Clock
from common.primitives.encryption import DecryptionFailed, Encryptor, UnknownKey
from notifications import queries, store
from notifications.domain.channels import redelivery_policy
from notifications.domain.deliveries import (
    PROVIDER_SECONDS_MAX,
    Device,
    Doubtful,
    Free,
    Message,
    OutboundMessage,
    UsedUp,
    evaluate_claim,
    without,
)
from notifications.domain.errors import DeviceGone, ProviderRefused, ProviderTimeout, ProviderUnavailable
from notifications.domain.templates import CATALOG
from notifications.domain.tickets import may_write_freely
from notifications.queries.tickets import find_free_text
from notifications.templates.renderer import MessageRenderer
from notifications.use_cases.deliveries.alert_provider_paused import alert_provider_paused
from notifications.use_cases.deliveries.fail_delivery import fail_delivery
from notifications.use_cases.deliveries.record_delivery_sent import record_delivery_sent

# What came of a call is worth a minute's patience with a database that is away: forgotten, it would be a message in doubt.
RECORD_SECONDS_MAX: Final = 60
_RECORD_AGAIN_SECONDS: Final = 0.5
UNKNOWN_KEY: Final = "it is encrypted under a key that this process does not hold yet"
IN_DOUBT: Final = "its worker ended before it could record whether it went out, and it must not go out twice"


class ChannelProvider(Protocol):
    """A provider of one channel."""

    provider: str

    async def send(self, message_out: OutboundMessage) -> str:
        """The provider's id of the message; raises ProviderAway and ProviderRefused."""


@dataclass(frozen=True, slots=True)
class DeliverySender:
    """What sending needs: the carriers, the words, and the key of the sealed parts.

    `carriers` are by channel, the first of a channel first; those of push stand under `push:web` and `push:native`.
    `hears_statuses`: whether the messaging app's statuses reach us, by which a message in doubt is known.
    """

    database: Database
    clock: Clock
    carriers: Mapping[str, Collection[ChannelProvider]]
    words: MessageRenderer
    sealer: Encryptor
    circuits: Circuits
    reports_statuses: bool

    @property
    def channels(self) -> frozenset[str]:
        """The channels that have a provider here."""
        return frozenset(name.partition(":")[0] for name in self.carriers)

    @property
    def device_kinds(self) -> tuple[str, ...]:
        """The kinds of devices that a push reaches."""
        web = ("web",) if "push:web" in self.carriers else ()
        return (*web, "android", "ios") if "push:native" in self.carriers else web


@dataclass(frozen=True, slots=True)
class _Claimed:
    row: Any
    claim_id: UUID
    provider_client: ChannelProvider
    device: Device | None
    has_another: bool
    free_text: str | None = None

    @property
    def counterpart(self) -> str:
        """Whose failures count together: the provider's, or the one push service's of a browser."""
        return _counterpart(self.provider_client, self.device)

    def may_try_next_provider(self, away: ProviderUnavailable) -> bool:
        """A second provider sends what the first surely did not; what it may have sent goes twice only when it is a secret."""
        sensitive = CATALOG[self.row["template"]].sensitive
        return self.has_another and (sensitive or not isinstance(away, ProviderTimeout))


async def send_delivery(delivery_id: UUID, post: DeliverySender) -> None:
    """Sends a delivery that is free to be sent; otherwise does nothing. Raises ProviderAway, for the retry ladder.

    A channel's second provider is asked when the first rests or does not take the message. When all of them rest, the
    delivery waits for the clock and uses up no step of the ladder.
    Its claim is committed before the call. A worker that dies before it commits what came of it leaves a message in doubt: what
    may go out twice does (`doubt_about`), the rest is given up, for support to look at.
    """
    asked: list[str] = []
    while True:
        claimed = await _claim(delivery_id, post, asked)
        if claimed is None:
            return
        try:
            await _attempt(claimed, post)
        except ProviderUnavailable as away:
            if not claimed.may_try_next_provider(away):
                raise
            asked.append(claimed.provider_client.provider)
            continue
        return


async def _attempt(claimed: _Claimed, post: DeliverySender) -> None:
    secrets: dict[str, str] = {}
    circuit = post.circuits.of(claimed.counterpart)
    delivery_id = claimed.row["id"]
    try:
        message_out = _write(claimed, post, secrets)
        provider_message_id = await _call(claimed.provider_client, message_out)
    except ProviderUnavailable as away:
        reason, opened = without(secrets, away.reason), circuit.failed()
        # A status of the messaging app may yet say that it was taken: then the ladder finds nothing to send.
        may_be_notified = (
            isinstance(away, ProviderTimeout) and claimed.row["channel"] == "messaging" and post.reports_statuses
        )
        status = "unknown" if may_be_notified else "failed"

        async def record_unavailable(uow: UnitOfWork) -> None:
            await store.save_failed_attempt(uow, delivery_id, claimed.claim_id, reason, status)
            if opened:
                alert_provider_paused(uow, claimed.provider_client.provider, reason)

        await _record(post, record_unavailable)
        raise type(away)(away.provider, reason) from None
    except UnknownKey:
        # The provider was not asked. Another process encrypted under a key that this one gets with its next start.
        circuit.succeeded()

        async def record_unknown_key(uow: UnitOfWork) -> None:
            await store.save_failed_attempt(uow, delivery_id, claimed.claim_id, UNKNOWN_KEY)

        await _record(post, record_unknown_key)
        raise ProviderUnavailable(claimed.provider_client.provider, UNKNOWN_KEY) from None
    except (ProviderRefused, DecryptionFailed) as fault:
        reason = (
            without(secrets, fault.reason) if isinstance(fault, ProviderRefused) else "the sealed part does not open"
        )
        circuit.succeeded()
        gone = isinstance(fault, DeviceGone)

        async def record_rejection(uow: UnitOfWork) -> None:
            if gone and claimed.device is not None:
                await store.forget_dead_device(uow, claimed.device.device_id, claimed.device.address)
            await store.save_failed_attempt(uow, delivery_id, claimed.claim_id, reason)
            await fail_delivery(uow, delivery_id, reason, alert=not gone)

        await _record(post, record_rejection)
        return
    circuit.succeeded()
    await _record(post, lambda uow: record_delivery_sent(uow, claimed.row, claimed.claim_id, provider_message_id))


async def _record(post: DeliverySender, record: Callable[[UnitOfWork], Awaitable[None]]) -> None:
    """Commits what came of a call, again while the database is away: recorded twice it is the same."""
    loop = asyncio.get_running_loop()
    until = loop.time() + RECORD_SECONDS_MAX
    while True:
        try:
            async with post.database.unit_of_work(acting_as=THE_SERVICE) as uow:
                await record(uow)
            return
        except Exception as error:
            if not is_unavailable(error) or loop.time() > until:
                raise
        await asyncio.sleep(_RECORD_AGAIN_SECONDS)


async def _claim(delivery_id: UUID, post: DeliverySender, asked: Collection[str]) -> _Claimed | None:
    now = post.clock.now()
    async with post.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        row = await store.lock_delivery(uow, delivery_id)
        if row is None:
            return None
        redelivery = redelivery_policy(row["template"], row["channel"], reports_statuses=post.reports_statuses)
        verdict = evaluate_claim(row["status"], row["claimed_at"], row["attempts"], now, redelivery, row["due_at"])
        if isinstance(verdict, UsedUp):
            await fail_delivery(uow, delivery_id, "it was begun too often without an outcome")
        if isinstance(verdict, Doubtful):
            await fail_delivery(uow, delivery_id, IN_DOUBT)
        if not isinstance(verdict, Free):
            return None
        device = await _device(uow, row)
        if row["channel"] == "push" and device is None:
            await fail_delivery(uow, delivery_id, "the device is gone", alert=False)
            return None
        return await _claim_by(uow, row, device, post, asked, now)


async def _claim_by(
    uow: UnitOfWork, row: Any, device: Device | None, post: DeliverySender, asked: Collection[str], now: datetime
) -> _Claimed | None:
    """The claim for the first provider that may be asked; without one the delivery waits until one of them may."""
    name = row["channel"] if device is None else f"push:{'web' if device.kind == 'web' else 'native'}"
    carriers = [
        provider_client for provider_client in post.carriers.get(name, ()) if provider_client.provider not in asked
    ]
    rests: list[datetime] = []
    for place, provider_client in enumerate(carriers, start=1):
        until = post.circuits.of(_counterpart(provider_client, device)).admit()
        if until is None:
            claim_id = await store.claim_delivery(uow, row, provider_client.provider, now)
            free_text = await _free_text(uow, row, now)
            return _Claimed(
                row, claim_id, provider_client, device, has_another=place < len(carriers), free_text=free_text
            )
        rests.append(until)
    if rests:
        await store.postpone_delivery(uow, row["id"], min(rests))
    else:
        await fail_delivery(uow, row["id"], "no provider is configured")
    return None


async def _device(uow: UnitOfWork, row: Any) -> Device | None:
    if row["channel"] != "push" or row["recipient"].startswith("erased:"):
        return None
    return await queries.find_device(uow, UUID(row["recipient"]), row["user_id"])


async def _free_text(uow: UnitOfWork, row: Any, now: datetime) -> str | None:
    """What support wrote, while the messaging app lets it go out as it stands; None for what goes as an approved text."""
    message_id = row["payload"].get("messageId") if row["channel"] == "messaging" else None
    told = None if message_id is None else await find_free_text(uow, UUID(message_id))
    if told is None or not told["body"] or not may_write_freely(told["heard_at"], now):
        return None
    return str(told["body"])


def _counterpart(provider_client: ChannelProvider, device: Device | None) -> str:
    return (
        provider_client.provider
        if device is None or device.kind != "web"
        else f"{provider_client.provider} {device.origin}"
    )


def _write(claimed: _Claimed, post: DeliverySender, secrets: dict[str, str]) -> OutboundMessage:
    """The address and the words. `secrets` is filled as they are opened, so that no failure repeats one."""
    row, device = claimed.row, claimed.device
    for name, sealed in store.encrypted_of(row).items():
        secrets[name] = post.sealer.decrypt(sealed.text, sealed.context)
    address = secrets.get("address", row["recipient"]) if device is None else device.address
    values = {**row["payload"], **secrets}
    free = None if claimed.free_text is None else Message(text=claimed.free_text)
    return OutboundMessage(
        delivery_id=row["id"],
        notification_id=row["notification_id"],
        template=row["template"],
        address=address,
        message=free or post.words.message(row["channel"], row["template"], values),
        sensitive=bool(secrets),
        device=device,
    )


async def _call(provider_client: ChannelProvider, message_out: OutboundMessage) -> str:
    try:
        async with asyncio.timeout(PROVIDER_SECONDS_MAX):
            return await provider_client.send(message_out)
    except TimeoutError:
        raise ProviderTimeout(provider_client.provider, "did not answer in time") from None
