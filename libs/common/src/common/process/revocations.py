"""Session revocations in every process: received as broadcasts, and loaded from the stored ones after a gap."""

from datetime import datetime
from typing import Final

from aio_pika.abc import AbstractIncomingMessage

from common.auth.caller import THE_SERVICE
from common.auth.tokens import REVOCATIONS_REMEMBERED
from common.database.unit_of_work import UnitOfWork
from common.messaging.bus import SETTLE_SECONDS_MAX
from common.messaging.faults import PermanentFault
from common.messaging.messages import Received, read_envelope, read_payload
from common.messaging.provenance import check_broadcast, route_of
from common.observability import telemetry
from common.observability.logging import get_logger
from common.primitives.waiting import bounded
from common.process.runtime import Runtime
from contracts.identity import SessionRevoked

log = get_logger(__name__)

# A hundred revocations a second during the lifetime of a token.
REVOCATIONS_LOADED_MAX: Final = 100_000

_STORE_REVOCATION: Final = "INSERT INTO session_revocations (user_id, session_id, not_before) VALUES ($1, $2, $3)"
# The newest first: a flood of log-outs displaces only revocations that no longer cover a valid token.
_RECENT_REVOCATIONS: Final = """
SELECT user_id, session_id, not_before FROM session_revocations
WHERE heard_at > now() - $1::interval ORDER BY heard_at DESC LIMIT $2
"""


async def on_session_revoked(event: SessionRevoked, received: Received, uow: UnitOfWork, dependencies: object) -> None:
    """Store the revocation for processes that start later. Tokens expire sooner than stored revocations."""
    await uow.execute(_STORE_REVOCATION, event.user_id, event.session_id, datetime.fromisoformat(event.not_before))


async def consume_broadcasts(runtime: Runtime, *, revocations_only: bool = False) -> None:
    """Consumes revocations and the runtime's own broadcasts on an exclusive queue, until cancelled."""
    handlers = {} if revocations_only else runtime.on_broadcast

    async def on_message(message: AbstractIncomingMessage) -> None:
        try:
            received, payload = read_envelope(message.body, 1, is_last_attempt=True)
            check_broadcast(route_of(message), received, account_required=runtime.account_required)
            if received.type == SessionRevoked.TYPE:
                revoked: SessionRevoked = read_payload(payload, SessionRevoked)
                runtime.verifier.revocations.add(
                    revoked.user_id, revoked.session_id, datetime.fromisoformat(revoked.not_before)
                )
            for event, handler in handlers.items():
                if received.type == event.TYPE:
                    handler(read_payload(payload, event))
        except PermanentFault as fault:
            log.error("broadcast rejected: malformed, or not from its publisher", error=str(fault))
        await bounded(message.ack(), SETTLE_SECONDS_MAX)

    telemetry.BROADCASTS_UNHEARD_SECONDS.set_function(runtime.bus.seconds_without_broadcasts)
    types = {SessionRevoked.TYPE, *(event.TYPE for event in handlers)}
    await runtime.bus.listen(sorted(types), on_message, on_open=lambda: load_stored_revocations(runtime))


async def load_stored_revocations(runtime: Runtime) -> None:
    """Add the stored revocations to the verifier, and removes those that no longer cover a valid token."""
    runtime.verifier.revocations.forget_old(runtime.clock.now())
    rows = await runtime.database.fetch_for(
        THE_SERVICE, _RECENT_REVOCATIONS, REVOCATIONS_REMEMBERED, REVOCATIONS_LOADED_MAX
    )
    for row in rows:
        runtime.verifier.revocations.add(row["user_id"], row["session_id"], row["not_before"])
