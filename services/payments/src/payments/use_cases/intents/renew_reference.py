"""Renew the reference of an intent whose account the gateway does not show (decision 145)."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from payments.domain.errors import OrderNotPayable
from payments.domain.identifiers import charge_reference
from payments.store import intents
from payments.store.intents import Intent
from payments.use_cases.intents.prepare_intent import OPENING_LEASE


async def renew_reference(uow: UnitOfWork, intent: Intent, buyer_id: UUID, now: datetime) -> Intent:
    """Give the intent a new reference for another call, and the whole lease again.

    Raises OrderNotPayable when it was closed meanwhile.
    """
    reference = charge_reference(new_id())
    if not await intents.renew_reference(uow, intent, reference, now + OPENING_LEASE):
        raise OrderNotPayable
    settlement = str(intent.gateway_minor)
    await intents.record_reference(uow, reference, intent.id, buyer_id, settlement, now, intent.gateway)
    return intent._replace(reference=reference)
