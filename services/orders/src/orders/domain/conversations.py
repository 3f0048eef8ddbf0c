"""Parties, limits and push intervals of conversations (contract section 11.9)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal
from uuid import UUID

from common.auth.caller import Caller

Side = Literal["buyer", "vendor"]
TEXT_CHARACTERS_MAX: Final = 2_000
# A person types fewer; a program that floods a conversation sends more.
MESSAGES_MAX: Final = 30
MESSAGES_WINDOW: Final = timedelta(minutes=1)
OPENED_MAX: Final = 10
OPENED_WINDOW: Final = timedelta(hours=1)
# The photographs of one product from all sides, several times an hour.
IMAGES_MAX: Final = 30
IMAGES_WINDOW: Final = timedelta(hours=1)
PUSH_INTERVAL: Final = timedelta(minutes=1)
# The contract's twelve months.
KEPT: Final = timedelta(days=365)

OfferStatus = Literal["open", "withdrawn", "expired", "accepted"]
OFFER_VALID_MAX: Final = timedelta(hours=48)


@dataclass(frozen=True, slots=True)
class Parties:
    """The two parties; the owner of the vendor reads its messages."""

    buyer_id: UUID
    vendor_id: UUID
    vendor_owner_id: UUID | None = None

    def side_of(self, caller: Caller) -> Side | None:
        """Return the side that the caller writes for; None for everyone else."""
        if caller.user_id == self.buyer_id:
            return "buyer"
        is_vendor = caller.vendor_id == self.vendor_id and caller.may("catalog:own")
        return "vendor" if is_vendor else None


@dataclass(frozen=True, slots=True)
class Participant:
    """A user who writes in a conversation, for one of its two sides."""

    user_id: UUID
    conversation_id: UUID
    parties: Parties
    side: Side

    @property
    def reader_id(self) -> UUID | None:
        """The user who reads what this side writes."""
        return self.parties.vendor_owner_id if self.side == "buyer" else self.parties.buyer_id


@dataclass(frozen=True, slots=True)
class OfferTerms:
    """This quantity of a product or its variant at this price a unit (kobo), until `expires_at` if given."""

    product_id: UUID
    variant_id: UUID | None
    quantity: int
    unit_price_minor: int
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class ConversationOffer:
    """A vendor's offer to the buyer: this quantity of a product, at this price a unit (kobo)."""

    id: UUID
    product_id: UUID
    variant_id: UUID | None
    quantity: int
    unit_price_minor: int
    expires_at: datetime
    withdrawn_at: datetime | None = None
    order_id: UUID | None = None

    def status_at(self, now: datetime) -> OfferStatus:
        if self.order_id is not None:
            return "accepted"
        if self.withdrawn_at is not None:
            return "withdrawn"
        return "expired" if self.expires_at <= now else "open"


def other_side(side: Side) -> Side:
    return "vendor" if side == "buyer" else "buyer"


def seconds_until_free(times: Sequence[datetime], most: int, window: timedelta, now: datetime) -> int | None:
    """Return the seconds until one more is allowed; None while fewer than `most` are within the window.

    `times` are those within the window, newest first, at most `most`.
    """
    if len(times) < most:
        return None
    return max(1, -(-(times[most - 1] + window - now) // timedelta(seconds=1)))


def is_push_due(notified_at: datetime | None, now: datetime) -> bool:
    """Return whether the reader may be notified again of this conversation."""
    return notified_at is None or now - notified_at >= PUSH_INTERVAL
