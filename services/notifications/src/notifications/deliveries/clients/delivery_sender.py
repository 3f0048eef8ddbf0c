"""The providers of the channels, and what is needed to send a claimed delivery."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol
from uuid import UUID

from common.database.unit_of_work import Database, UnitOfWork
from common.primitives.clock import Clock
from common.primitives.encryption import Encryptor
from common.primitives.retry import RetryLadder
from notifications.clients.circuit_breaker import Circuit, Circuits
from notifications.deliveries.domain.deliveries import OutboundMessage
from notifications.deliveries.domain.devices import Device, circuit_name
from notifications.deliveries.domain.errors import ProviderTimeout, ProviderUnavailable
from notifications.deliveries.domain.templates import CATALOG
from notifications.deliveries.store.deliveries import LockedDelivery
from notifications.deliveries.store.unsubscribe_links import UnsubscribeLinks
from notifications.deliveries.templates.renderer import MessageRenderer

# Returns the text of support's reply with this message id while the messaging app accepts free texts; else None.
FreeTextLookup = Callable[[UnitOfWork, UUID, datetime], Awaitable[str | None]]

OUTCOME_UNKNOWN: Final = "its worker ended before it recorded an outcome, and it must not be sent twice"


class ChannelProvider(Protocol):
    """A provider of one channel."""

    provider: str

    async def send(self, outbound: OutboundMessage) -> str:
        """Return the provider's id of the message. Raises ProviderUnavailable and ProviderRejected."""


@dataclass(frozen=True, slots=True)
class DeliverySender:
    """The providers, the renderer, the key of encrypted values and the delays between attempts.

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
    ladder: RetryLadder
    find_free_text: FreeTextLookup

    @property
    def channels(self) -> frozenset[str]:
        """The channels that have a provider."""
        return frozenset(name.partition(":")[0] for name in self.providers)

    @property
    def device_kinds(self) -> tuple[str, ...]:
        """The kinds of devices that a push reaches."""
        web = ("web",) if "push:web" in self.providers else ()
        return (*web, "android", "ios") if "push:native" in self.providers else web

    def providers_for(self, channel: str, device: Device | None) -> list[ChannelProvider]:
        """Return the providers of a channel, of a push those of the device's kind."""
        name = channel if device is None else f"push:{'web' if device.kind == 'web' else 'native'}"
        return list(self.providers.get(name, ()))

    def is_paused(self, channel: str) -> bool:
        """Return whether every provider of the channel is paused: its messages wait, and none is claimed."""
        circuits = [self.circuits.of(circuit_name(client.provider, None)) for client in self.providers.get(channel, ())]
        return bool(circuits) and all(circuit.is_paused for circuit in circuits)


@dataclass(frozen=True, slots=True)
class ClaimedDelivery:
    """A delivery with a committed claim for one call of `client`. `others` are the providers that may follow it."""

    delivery: LockedDelivery
    claim_id: UUID
    claimed_at: datetime
    client: ChannelProvider
    others: tuple[ChannelProvider, ...] = ()
    device: Device | None = None
    free_text: str | None = None
    is_probe: bool = False

    @property
    def circuit_name(self) -> str:
        return circuit_name(self.client.provider, self.device)

    def circuit(self, sender: DeliverySender) -> Circuit:
        return sender.circuits.of(self.circuit_name)

    def may_try_next_provider(self, error: ProviderUnavailable) -> bool:
        """Send, after a timeout that may have sent the message, only secrets by a second provider: they must arrive."""
        sensitive = CATALOG[self.delivery.template].sensitive
        return bool(self.others) and (sensitive or not isinstance(error, ProviderTimeout))
