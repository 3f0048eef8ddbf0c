"""Responses of sales."""

from typing import Annotated

from msgspec import Meta

from common.web.response_models import ResponseModel


class SalesGroup(ResponseModel):
    key: Annotated[
        str,
        Meta(
            description="The day, the Monday of the week (`2026-11-23`), the month (`2026-11`), the category, or the "
            "id of the "
            "product, variant, campus or vendor; of the product for one without variants."
        ),
    ]
    label: Annotated[str, Meta(description="For people: the name, the ISO week (`2026-W48`), or the key.")]
    orders: Annotated[int, Meta(description="Paid orders.")]
    units: Annotated[int, Meta(description="Units of their items.")]
    gross_minor: Annotated[int, Meta(description="Kobo that buyers paid, with delivery fees.")]
    commission_minor: Annotated[int, Meta(description="Kobo of the platform's commission, after refunds.")]
    refunded_minor: Annotated[int, Meta(description="Kobo that returned to buyers, by refunds and chargebacks.")]
    net_minor: Annotated[int, Meta(description="Kobo that reached the vendors' wallets, after refunds.")]
    delivery_fee_minor: Annotated[int, Meta(description="Kobo of the platform's delivery fees, after refunds.")]
    locked_minor: Annotated[int, Meta(description="Kobo still in escrow.")]
