"""Releases of escrow by staff, and what a resolution of a dispute does with it."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from common.web.response_models import ResponseModel
from payments.responses.ledger import PlannedEntry


class EscrowRelease(ResponseModel):
    released_minor: Annotated[int, Meta(description="Kobo that were released.")]
    remaining_locked_minor: Annotated[int, Meta(description="Kobo still in escrow.")]


class ResolutionPlan(ResponseModel):
    """The shares of a resolution, if it were approved at this moment. The four amounts sum to what the order has less
    what earlier releases paid.
    """

    order_id: UUID
    buyer_minor: Annotated[int, Meta(description="Kobo that return to the buyer.")]
    vendor_minor: Annotated[
        int, Meta(description="Kobo for the vendor's wallet, below zero where an earlier release is taken back.")
    ]
    commission_minor: Annotated[int, Meta(description="Kobo of the platform's commission, with sign as before.")]
    delivery_fee_minor: Annotated[int, Meta(description="Kobo of the platform's delivery fee, with sign as before.")]
    entries: Annotated[
        list[PlannedEntry],
        Meta(description="Its postings with the balances before them; empty without `ledger:read`."),
    ]
