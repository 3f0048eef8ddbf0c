"""What becomes due by itself: transfers whose dispatcher died, and transfers to ask the gateway about."""

from common.caller import THE_SERVICE
from common.clock import Clock
from common.database import Database
from payouts import store
from payouts.clients.gateway import Gateway
from payouts.domain.dispatch import LEASE
from payouts.use_cases.settle_transfer import settle_transfer
from payouts.use_cases.submit_transfer import submit_transfer

# One at a time and a few a round: each is a call or two to the gateway, and the lease must outlast the round.
TAKEN_AT_ONCE_MAX = 1
ROUND_MAX = 100


async def take_up_due_transfers(database: Database, gateway: Gateway, clock: Clock) -> int:
    """Sends what was written down and never sent, and asks for what is unknown or long on its way; tells how many."""
    for done in range(ROUND_MAX):
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            due = await store.take_due_transfers(uow, clock.now(), LEASE, TAKEN_AT_ONCE_MAX)
        if not due:
            return done
        for transfer_id, status in due:
            if status == "reserved":
                await submit_transfer(database, gateway, clock, transfer_id, was="reserved")
            else:
                await settle_transfer(database, gateway, clock, transfer_id)
    return ROUND_MAX
