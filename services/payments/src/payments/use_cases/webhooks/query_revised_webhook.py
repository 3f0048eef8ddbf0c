"""Query the gateway for the present state of what a revised webhook is about, and record its answer (contract section 9.2)."""

from collections.abc import Mapping
from typing import Any

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from payments.clients.gateway import PaymentGateway
from payments.domain.revisions import GatewaySubject, event_of_answer, query_again_at, subject_of
from payments.store import revisions
from payments.use_cases.webhooks.process_gateway_answer import process_gateway_answer


async def query_revised_webhook(database: Database, gateway: PaymentGateway, clock: Clock, webhook_id: str) -> int:
    """How many new answers were recorded. Safe to repeat: an answer of the same content is recorded once.

    The query stays due until its answers are recorded, and when the key was revised meanwhile. Raises GatewayAway and GatewayRefused.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        revised = await revisions.claim_query(uow, webhook_id, clock.now(), query_again_at)
        if revised is None:
            return 0
        bodies = await revisions.list_bodies(uow, webhook_id)
    # A revision may name another reference than the first body: the gateway is queried for each.
    subjects = dict.fromkeys(subject for raw in bodies if (subject := subject_of(revised.event_type, raw)) is not None)
    recorded = 0
    for subject in subjects:
        answer = await _find(gateway, subject)
        event_type = None if answer is None else event_of_answer(subject.kind, answer)
        if answer is not None and event_type is not None:
            recorded += await process_gateway_answer(database, event_type, answer)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await revisions.save_answered(uow, webhook_id, revised.revisions, clock.now())
    return recorded


async def _find(gateway: PaymentGateway, subject: GatewaySubject) -> Mapping[str, Any] | None:
    find = {
        "charge": gateway.find_transaction,
        "transfer": gateway.find_transfer,
        "refund": gateway.find_refund,
        "dispute": gateway.find_dispute,
    }[subject.kind]
    return await find(subject.key)
