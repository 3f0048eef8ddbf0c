"""What happens because time passed, on the injected clock."""

from datetime import timedelta
from typing import Any, Final

from common.caller import THE_SERVICE
from common.chain import SEALED_AT_ONCE, count_unsealed, seal_once
from common.logging import get_logger
from payments import store
from payments.clients.gateway import GatewayAway, GatewayRefused
from payments.domain.errors import NewsUnreadable, RefundContradiction
from payments.domain.reconciliation import LOOK_BACK, UNDER_WAY
from payments.measures import BOOK_UNSEALED
from payments.store import reconciliation
from payments.use_cases.ask_about_refund import ask_about_refund
from payments.use_cases.recheck_cases import recheck_cases
from payments.use_cases.reconcile import reconcile
from payments.use_cases.tell_of_cases import tell_of_cases
from payments.use_cases.verify_book import verify_book

log = get_logger(__name__)

ASK_EVERY_SECONDS = 30.0
# Well within the minute after which the verification misses a link.
SEAL_EVERY_SECONDS: Final = 2.0
# How often a daily run looks whether it is due: a process that died in the middle of one is replaced within the hour.
LOOK_EVERY_SECONDS: Final = 600.0
DAILY: Final = timedelta(days=1)
RUN_LEASE: Final = timedelta(hours=1)


async def settle_refunds_once(dependencies: Any) -> int:
    """Asks the gateway about the refunds that are due for a question; tells how many moved (contract section 15.11)."""
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        due = await store.list_due_refunds(uow, dependencies.clock.now())
    moved = 0
    for refund_id in due:
        try:
            moved += await ask_about_refund(dependencies.database, dependencies.gateway, dependencies.clock, refund_id)
        except (GatewayAway, GatewayRefused, NewsUnreadable, RefundContradiction) as error:
            log.warning("refund not settled by asking", refund_id=str(refund_id), error=str(error))
    return moved


async def seal_book_once(dependencies: Any) -> int:
    """Gives every committed posting its link in the chain of hashes; tells how many."""
    sealed = 0
    while (piece := await seal_once(dependencies.database)) > 0:
        sealed += piece
        if piece < SEALED_AT_ONCE:
            break
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        BOOK_UNSEALED.set(await count_unsealed(uow.fetch))
    return sealed


async def verify_book_once(dependencies: Any) -> bool:
    """Once a day, by one of the workers: whether this call walked the chain."""
    now = dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        if not await store.claim_verification(uow, now, now + RUN_LEASE):
            return False
    await verify_book(dependencies.database)
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await store.save_next_verification(uow, now + DAILY)
    return True


async def reconcile_once(dependencies: Any) -> bool:
    """Once a day the last days are reconciled, by one of the workers; in between the open cases are looked at again."""
    database, gateway, clock = dependencies.database, dependencies.gateway, dependencies.clock
    now = clock.now()
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        is_due = await reconciliation.claim_run(uow, now, now + RUN_LEASE)
    if not is_due:
        await recheck_cases(database, gateway, clock)
        await tell_of_cases(database, clock)
        return False
    await reconcile(database, gateway, clock, now - LOOK_BACK, now - UNDER_WAY)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await reconciliation.save_next_run(uow, now + DAILY)
    return True
