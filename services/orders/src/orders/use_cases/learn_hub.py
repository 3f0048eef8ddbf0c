"""What identity says of a hub."""

from common.database import UnitOfWork
from orders import store
from orders.domain.moves import NoMove
from orders.domain.places import HubPlace


async def learn_hub(uow: UnitOfWork, hub: HubPlace, sequence: int) -> NoMove | None:
    """Whether an order may go to this hub, and its delivery fee, the newest word only. Answers STALE for an older word."""
    return None if await store.save_hub(uow, hub, sequence) else NoMove.STALE
