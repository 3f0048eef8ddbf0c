"""Record other content under a recorded key, alert, and schedule a query to the gateway (contract section 9.2)."""

from datetime import datetime

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database, UnitOfWork
from payments.clients.gateway import GatewayEvents
from payments.domain.revisions import REVISIONS_STORED_MAX, changed_fields, next_query_at
from payments.domain.webhooks import Arrival, content_hash_of
from payments.store import revisions
from payments.use_cases.alerts import raise_alert


async def record_revision(
    database: Database, events: GatewayEvents, arrival: Arrival, first: bytes, raw: bytes, now: datetime
) -> bool:
    """Return whether the content is new under this key. Bytes, count, alert and the due query commit together.

    Alerts and stored bytes are bounded for each key. A revision beyond the bound is counted, and still schedules a query.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        revised = await revisions.lock_revised_webhook(uow, arrival.id, now)
        content_hash = content_hash_of(raw)
        if await revisions.revision_is_known(uow, arrival.id, content_hash):
            return False
        is_stored = revised.stored < REVISIONS_STORED_MAX
        if is_stored:
            await revisions.record_revision(uow, arrival.id, content_hash, raw, now)
            _alert(uow, arrival, changed_fields(first, raw))
        due_at = revised.due_at
        if events.subject_of(arrival.event_type, raw) or events.subject_of(arrival.event_type, first):
            due_at = next_query_at(now, revised.queried_at, due_at)
        await revisions.save_revised_webhook(uow, arrival.id, revised.stored + is_stored, due_at, now)
    return True


def _alert(uow: UnitOfWork, arrival: Arrival, changed: list[str]) -> None:
    raise_alert(
        uow,
        "SEV-3",
        f"Revised webhook: {arrival.event_type}",
        f"{arrival.id} arrived again with other content ({', '.join(changed)}). It was stored and not processed; "
        "the gateway is queried for the present state.",
        runbook="revised-webhook",
        key=f"revised-webhook:{arrival.id}",
        about=arrival.id,
    )
