"""Query the gateway for the state of a revised webhook's subject, and file its response (contract section 9.2)."""

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from payments.clients.gateway import Gateways
from payments.domain.revisions import query_again_at
from payments.store import revisions
from payments.use_cases.webhooks.steps import file_gateway_response


async def query_revised_webhook(database: Database, gateways: Gateways, clock: Clock, webhook_id: str) -> int:
    """Return the number of new responses. Safe to repeat: a response of the same content is filed once.

    The query stays due until its responses are filed, and when the key has been revised. Raises GatewayUnavailable and
    GatewayRejected.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        revised = await revisions.claim_query(uow, webhook_id, clock.now(), query_again_at)
        if revised is None:
            return 0
        bodies = await revisions.list_bodies(uow, webhook_id)
    gateway = gateways.of(revised.gateway)
    # A revision may have another reference than the first body: query both.
    subjects = dict.fromkeys(
        subject for raw in bodies if (subject := gateway.subject_of(revised.event_type, raw)) is not None
    )
    recorded = 0
    for subject in subjects:
        event = await gateway.find_event(subject)
        recorded += event is not None and await file_gateway_response(database, gateway.name, event)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await revisions.save_queried(uow, webhook_id, revised.revisions, clock.now())
    return recorded
