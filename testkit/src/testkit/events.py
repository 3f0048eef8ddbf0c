"""Events as their services publish them, with values for what a test does not read."""

from typing import Any, TypeVar
from uuid import UUID

from common.primitives.ids import new_id
from contracts.event import Event
from contracts.identity import ReferralOutcome, UserProvisioned

EventT = TypeVar("EventT", bound=Event)


def provisioned(user_id: UUID, email: str = "buyer@unilag.edu.ng", **changes: Any) -> UserProvisioned:
    """Return a new buyer without a referral."""
    referral = ReferralOutcome(applied=False, reward_minor=0)
    return UserProvisioned(user_id=user_id, email=email, role="buyer", referral=referral, **changes)


def vendor_event(event: type[EventT], vendor_id: UUID, owner_user_id: UUID, **changes: Any) -> EventT:
    """Return an event with the profile of a vendor: its approval, or a change."""
    values = {
        "vendor_id": vendor_id,
        "owner_user_id": owner_user_id,
        "business_name": "Ada's Kitchen",
        "legal_name": "Ada Obi Ventures",
        "campus_id": new_id(),
        **changes,
    }
    return event(**values)
