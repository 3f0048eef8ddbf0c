"""Steps of campuses that several operations share."""

from common.database.unit_of_work import UnitOfWork
from contracts.identity import HubChanged
from contracts.opening_hours import OpeningPeriod
from identity.queries.campuses import Hub


def publish_hub(uow: UnitOfWork, hub: Hub) -> None:
    """Publish the hub as this transaction changed it."""
    hours = tuple(
        OpeningPeriod(day=period["day"], opens=period["from"], closes=period["to"]) for period in hub.opening_hours
    )
    uow.publish(
        HubChanged(
            hub_id=hub.id,
            campus_id=hub.campus_id,
            name=hub.name,
            delivery_fee_minor=hub.delivery_fee_minor,
            active=hub.active,
            address=hub.address,
            opening_hours=hours,
        )
    )
