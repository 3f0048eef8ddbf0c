"""Names and telephone numbers of the parties of orders, and who sees them (contract section 6.7).

**Names and contacts are joined from projections**, so earlier orders show them as soon as identity's event is known.
`user_contacts` holds the short name, and name and proven number encrypted under `PIN_KEY`. Its row policy shows users
of visible orders only; `domain/contacts.py` decides who sees a decrypted contact. The policy calls a function with
the owner's rights: under the policies of `orders` planning a page of orders took thirty times as long.
"""

import unicodedata
from typing import Final, Literal, NamedTuple, Protocol
from uuid import UUID

from orders.domain.order_roles import Actor, OrderParties, roles_of

ContactParty = Literal["buyer", "vendor"]
# The products are on their way, or both sides explain why they are not.
CONTACT_STATES: Final = ("paid_escrow", "dispatched", "disputed")


class UserContact(NamedTuple):
    """A user's full name, and their number if they have proven it."""

    name: str | None
    phone: str | None


class ContactDecryption(Protocol):
    """Decrypts contacts; None for an empty text."""

    def decrypt(self, user_id: UUID, text: str) -> UserContact | None: ...


class OrderWithStatus(OrderParties, Protocol):
    """The parties of an order and its status."""

    @property
    def status(self) -> str: ...


def short_name(full_name: str | None) -> str | None:
    """Return the first name and the initial of the last one ("Ada O."); a single name stays, and None for no name."""
    words = unicodedata.normalize("NFC", full_name or "").split()
    if len(words) < 2:
        return words[0] if words else None
    return f"{words[0]} {words[-1][0].upper()}."


def visible_contact(actor: Actor, order: OrderWithStatus) -> ContactParty | None:
    """Return the party whose contact the caller sees: the other side, or None.

    A hub agent sees the buyer's. Staff see the buyer's of a disputed order, with `orders:read`.
    """
    if order.status not in CONTACT_STATES:
        return None
    roles = roles_of(actor, order)
    if "buyer" in roles:
        return "vendor"
    if roles & {"vendor", "hub_agent"} or (order.status == "disputed" and "orders:read" in actor.permissions):
        return "buyer"
    return None
