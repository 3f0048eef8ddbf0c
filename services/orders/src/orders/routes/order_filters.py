"""The filters of order lists (contract section 1.4)."""

from typing import Annotated

from fastapi import Depends, Query

from common.primitives.public_numbers import NumberKind, described_search
from common.web.http import QueryText
from common.web.schemas import QueryInstant
from orders.domain.transitions import State
from orders.queries.filters import Filters, FilterValue


async def order_filters(
    status: Annotated[State | None, Query()] = None,
    created_from: Annotated[QueryInstant | None, Query(alias="from", description="Created at or after this.")] = None,
    created_before: Annotated[QueryInstant | None, Query(alias="to", description="Created before this.")] = None,
    arrived: Annotated[
        bool | None, Query(description="Whether an agent of its hub received the order's parcel.")
    ] = None,
    q: Annotated[
        QueryText | None,
        Query(
            min_length=1,
            max_length=200,
            description=described_search(NumberKind.ORDER) + "; else every word, or its beginning, is in the name of "
            "one item. In campus orders also the buyer's exact mail address or phone number, for holders of "
            "orders:read.",
        ),
    ] = None,
) -> Filters:
    """Return the given filters by their public names."""
    return given_filters(**{"status": status, "from": created_from, "to": created_before, "arrived": arrived, "q": q})


OrderFilters = Annotated[Filters, Depends(order_filters)]


def given_filters(**filters: FilterValue) -> Filters:
    """Return the filters that have a value."""
    return {name: value for name, value in filters.items() if value is not None}
