"""What identity says of campuses and hubs."""

from common.database import UnitOfWork
from contracts.identity import CampusChanged, HubChanged
from orders import store
from orders.domain.moves import NoMove


async def learn_place(uow: UnitOfWork, event: CampusChanged | HubChanged, sequence: int) -> NoMove | None:
    """Where an order may go, and a hub's delivery fee, the newest word only. Answers STALE for an older word."""
    if isinstance(event, CampusChanged):
        newer = await store.save_campus(uow, event.campus_id, event.name, event.active, sequence)
    else:
        newer = await store.save_hub(
            uow, event.hub_id, event.campus_id, event.name, event.delivery_fee_minor, event.active, sequence
        )
    return None if newer else NoMove.STALE
