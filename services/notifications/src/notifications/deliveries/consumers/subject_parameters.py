"""The parameters that name the subject of a message: its id for links, its number for people."""

from typing import Protocol
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.json_records import JsonObject
from notifications.deliveries.queries.contacts import find_order_number


class _AboutOrder(Protocol):
    @property
    def order_id(self) -> UUID | None: ...
    @property
    def number(self) -> str | None: ...


class _AboutPayout(Protocol):
    @property
    def payout_id(self) -> UUID: ...
    @property
    def number(self) -> str | None: ...


async def order_parameters(uow: UnitOfWork, event: _AboutOrder) -> JsonObject:
    """Return the order of an event; nothing for an event without an order.

    An event of an earlier version has no number: the order's summary may.
    """
    if event.order_id is None:
        return {}
    number = event.number or await find_order_number(uow, event.order_id)
    parameters: JsonObject = {"orderId": str(event.order_id)}
    return parameters if number is None else {**parameters, "orderNumber": number}


def payout_parameters(event: _AboutPayout) -> JsonObject:
    """Return the payout of an event; an event of an earlier version has no number."""
    number = {} if event.number is None else {"payoutNumber": event.number}
    return {"payoutId": str(event.payout_id), **number}
