"""A POST with an idempotency key: claim, run, store or release (contract section 3).

**A POST with a key runs to its end after a client disconnect.** Its response is stored for the next attempt. When a
service times out, the key stays claimed until the lease ends. When a service was unreachable or failed, the key is
released.

**A key whose lease ended without a response** may be claimed by the same request only; another one is 422.

**A record that cannot be written after the response** does not withhold it from the client, and is written when the
database is back. The service's own unique key covers a repetition before that.

**A response over 1 MiB with a key** is streamed to its client and not stored. The key stays bound to the operation,
and a repetition is 409.
"""

from collections.abc import AsyncIterator
from typing import Final

from api_gateway.call import Call
from api_gateway.connection import Connection, UpstreamFailed
from api_gateway.forwarding import Forwarder, read_up_to_limit
from api_gateway.headers import content_type_of
from api_gateway.idempotency import (
    HEADER,
    InProgress,
    Leased,
    OperationInProgress,
    OtherRequest,
    ResponseNotStored,
    Stored,
    fingerprint_of,
    is_stored,
)
from api_gateway.metrics import Metrics
from api_gateway.store import IdempotencyClaim, IdempotencyRecords
from common.observability.logging import get_logger
from common.primitives.ids import new_id
from common.primitives.problems import Unauthorized, ValidationFailed
from common.web.endpoint_table import Idempotency, Route

log = get_logger(__name__)

_HIT: Final = (b"x-cache-lookup", b"HIT")
# Clients retry after this long whatever the lease has left: most operations end within a second.
_POLL_SECONDS: Final = 2


class IdempotentExecutor:
    """Run each request with a key once."""

    def __init__(self, records: IdempotencyRecords, forwarder: Forwarder, metrics: Metrics) -> None:
        self._records, self._forwarder, self._metrics = records, forwarder, metrics

    async def run(
        self, call: Call, route: Route, key_hash: bytes, body: bytes | AsyncIterator[bytes], *, comparable: bytes
    ) -> None:
        """Respond to the call. `comparable` are the bytes of the body that identify the request.

        A stored response is replayed only to a caller whom the service would admit now: a permission may be revoked, a
        second factor expired. Raises Forbidden, StepUpRequired, OperationInProgress, ValidationFailed,
        DatabaseUnavailable, UpstreamFailed.
        """
        if call.caller is None:
            raise Unauthorized
        fingerprint = fingerprint_of(call.method, call.path, call.scope["query_string"], comparable)
        is_bound = route.idempotency is Idempotency.REQUIRED
        claim = IdempotencyClaim(call.caller.id, key_hash, fingerprint, new_id(), is_bound_by_service=is_bound)
        claimed = await self._records.claim(claim)
        self._metrics.idempotency[type(claimed).__name__] += 1
        match claimed:
            case Stored():
                route.guard.check(call.caller, call.instant)
                if not claimed.is_stored:
                    raise ResponseNotStored
                headers = [(b"content-type", claimed.content_type.encode()), _HIT]
                await call.respond(claimed.status, headers, claimed.body)
            case InProgress():
                raise OperationInProgress(max(1, min(round(claimed.seconds_left), _POLL_SECONDS)))
            case OtherRequest():
                raise ValidationFailed.of(HEADER, "was used for another request")
            case Leased():
                await self._run_leased(call, route, claim, body)

    async def _run_leased(
        self, call: Call, route: Route, claim: IdempotencyClaim, body: bytes | AsyncIterator[bytes]
    ) -> None:
        """Store the response, then send it. A client disconnect does not stop the operation: the client will retry."""
        try:
            response = await self._forwarder.send_request(call, route, body, watch_client=False)
            try:
                content, is_whole = await read_up_to_limit(response)
                status, headers = response.status, response.headers
                if not is_whole:
                    await self._relay_unstored(call, claim, response, content)
                    return
            finally:
                response.release()
        except UpstreamFailed as failure:
            # A service may still process the request after its timeout: the key stays claimed until the lease ends.
            if not failure.still_running:
                await self._records.settle(claim, None)
            raise
        media = content_type_of(headers).decode("latin-1") or "application/json"
        stored = Stored(status, media, content) if is_stored(status) else None
        await self._records.settle(claim, stored)
        await self._forwarder.relay_body(call, status, headers, content)

    async def _relay_unstored(self, call: Call, claim: IdempotencyClaim, response: Connection, prefix: bytes) -> None:
        """Relay a response that is too long to be stored; a repetition gets 409."""
        log.warning("response too long to be stored: repetitions get 409", path=call.path)
        await self._records.settle(claim, Stored.too_long(response.status) if is_stored(response.status) else None)
        await self._forwarder.relay_rest(call, response, prefix)
