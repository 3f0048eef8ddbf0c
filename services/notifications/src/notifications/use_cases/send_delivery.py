"""Send one message: claim it, call the provider, record what came of it. Nothing is called inside a transaction."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from common.caller import THE_SERVICE
from common.clock import Clock
from common.database import Database
from common.sealing import SealBroken, Sealer
from notifications import store
from notifications.domain.deliveries import PROVIDER_SECONDS_MAX, Free, Message, UsedUp, judge_claim, without
from notifications.domain.errors import ProviderAway, ProviderRefused
from notifications.templates.words import Words
from notifications.use_cases.give_up_delivery import give_up_delivery
from notifications.use_cases.settle_delivery import settle_delivery


class Carrier(Protocol):
    """A provider of one channel."""

    provider: str

    async def send(self, address: str, message: Message, notification_id: UUID) -> str:
        """The provider's id of the message; raises ProviderAway and ProviderRefused."""


@dataclass(frozen=True, slots=True)
class Post:
    """What sending needs: the carriers by channel, the words, and the key of the sealed parts."""

    database: Database
    clock: Clock
    carriers: Mapping[str, Carrier]
    words: Words
    sealer: Sealer


@dataclass(frozen=True, slots=True)
class _Claimed:
    row: Any
    claim_id: UUID
    carrier: Carrier


async def send_delivery(delivery_id: UUID, post: Post) -> None:
    """Sends a delivery that is free to be sent; otherwise does nothing. Raises ProviderAway, for the retry ladder.

    The window in which a message can go out twice lies between the provider's acceptance and the commit that records it:
    a worker that dies there is followed by a second sending after CLAIM_LIFE. Better a PIN twice than never; a mail keeps
    its Message-ID, by which mail programs join the two.
    """
    claimed = await _claim(delivery_id, post)
    if claimed is None:
        return
    secrets: dict[str, str] = {}
    try:
        address, message = _write(claimed.row, post, secrets)
        provider_message_id = await _call(claimed, address, message)
    except ProviderAway as away:
        reason = without(secrets, away.reason)
        async with post.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await store.save_failed_attempt(uow, delivery_id, claimed.claim_id, reason)
        raise ProviderAway(away.provider, reason) from None
    except (ProviderRefused, SealBroken) as fault:
        reason = (
            without(secrets, fault.reason) if isinstance(fault, ProviderRefused) else "the sealed part does not open"
        )
        async with post.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await store.save_failed_attempt(uow, delivery_id, claimed.claim_id, reason)
            await give_up_delivery(uow, delivery_id, reason)
        return
    async with post.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await settle_delivery(uow, claimed.row, claimed.claim_id, provider_message_id)


async def _claim(delivery_id: UUID, post: Post) -> _Claimed | None:
    now = post.clock.now()
    async with post.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        row = await store.lock_delivery(uow, delivery_id)
        if row is None:
            return None
        verdict = judge_claim(row["status"], row["claimed_at"], row["attempts"], now)
        if isinstance(verdict, UsedUp):
            await give_up_delivery(uow, delivery_id, "it was begun too often without an outcome")
        if not isinstance(verdict, Free):
            return None
        carrier = post.carriers[row["channel"]]
        return _Claimed(row, await store.claim_delivery(uow, row, carrier.provider, now), carrier)


def _write(row: Any, post: Post, secrets: dict[str, str]) -> tuple[str, Message]:
    """The address and the words. `secrets` is filled as they are opened, so that no failure repeats one."""
    for name, sealed in store.sealed_of(row).items():
        secrets[name] = post.sealer.unseal(sealed.text, sealed.context)
    address = secrets.get("address", row["recipient"])
    return address, post.words.message(row["channel"], row["template"], {**row["payload"], **secrets})


async def _call(claimed: _Claimed, address: str, message: Message) -> str:
    try:
        async with asyncio.timeout(PROVIDER_SECONDS_MAX):
            return await claimed.carrier.send(address, message, claimed.row["notification_id"])
    except TimeoutError:
        raise ProviderAway(claimed.carrier.provider, "did not answer in time") from None
