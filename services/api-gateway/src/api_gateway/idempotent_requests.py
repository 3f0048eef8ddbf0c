"""A POST under an idempotency key: lease, run, keep or release (contract section 3)."""

from collections.abc import AsyncIterator, Sequence
from typing import Final

from api_gateway.call import Call
from api_gateway.connection import Connection, UpstreamFailed
from api_gateway.forwarding import Forwarder, read_beginning
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
from api_gateway.routing import Route
from api_gateway.store import IdempotencyClaim, IdempotencyRecords
from common.database.unit_of_work import DatabaseUnavailable
from common.observability.logging import get_logger
from common.primitives.ids import new_id
from common.primitives.problems import Unauthorized, ValidationFailed

log = get_logger(__name__)

_HIT: Final = (b"x-cache-lookup", b"HIT")
# What still runs is asked for again after this long, whatever is left of its lease: mostly it ends in well under a second.
_POLL_SECONDS: Final = 2


class IdempotentExecutor:
    """Runs a request once under its key, whoever asks again."""

    def __init__(self, records: IdempotencyRecords, forwarder: Forwarder, metrics: Metrics) -> None:
        self._records, self._forwarder, self._metrics = records, forwarder, metrics

    async def run(
        self, call: Call, route: Route, key_hash: bytes, body: bytes | AsyncIterator[bytes], *, compared: bytes
    ) -> None:
        """Answers the call; `compared` is what of its body makes it the same request again.

        A stored answer is replayed to a caller whom the service would admit now: the permission may be gone, the second factor old.
        Raises Forbidden, StepUpRequired, OperationInProgress, ValidationFailed, DatabaseAway, UpstreamFailed.
        """
        if call.caller is None:
            raise Unauthorized
        fingerprint = fingerprint_of(call.method, call.path, call.scope["query_string"], compared)
        ask = IdempotencyClaim(call.caller.id, key_hash, fingerprint, new_id())
        begun = await self._records.begin(ask)
        self._metrics.idempotency[type(begun).__name__] += 1
        match begun:
            case Stored():
                route.guard.check(call.caller, call.instant)
                if not begun.is_stored:
                    raise ResponseNotStored
                headers = [(b"content-type", begun.content_type.encode()), _HIT]
                await call.answer(begun.status, headers, begun.body)
            case InProgress():
                raise OperationInProgress(max(1, min(round(begun.seconds_left), _POLL_SECONDS)))
            case OtherRequest():
                raise ValidationFailed.of(HEADER, "was used for another request")
            case Leased():
                await self._run_leased(call, route, ask, body)

    async def _run_leased(
        self, call: Call, route: Route, ask: IdempotencyClaim, body: bytes | AsyncIterator[bytes]
    ) -> None:
        """The answer is stored before it is sent. A client that leaves does not stop the work: it will ask again."""
        try:
            answer = await self._forwarder.ask(call, route, body, watch_client=False)
            try:
                content, is_whole = await read_beginning(answer)
                status, headers = answer.status, answer.headers
                if not is_whole:
                    await self._pass_long(call, ask, answer, content)
                    return
            finally:
                answer.release()
        except UpstreamFailed as failure:
            # A service that is silent may still be at work: its key stays taken until the lease ends.
            if not failure.still_running:
                await self._settle(call, ask, None)
            raise
        kept = Stored(status, _content_type(headers), content) if is_stored(status) else None
        await self._settle(call, ask, kept)
        await self._forwarder.relay_whole(call, status, headers, content)

    async def _pass_long(self, call: Call, ask: IdempotencyClaim, answer: Connection, beginning: bytes) -> None:
        """What was done was done: its answer reaches the client though it is not kept, and a repeat is told so (409)."""
        log.warning("answer too long to be kept", path=call.path)
        await self._settle(call, ask, Stored.too_long(answer.status) if is_stored(answer.status) else None)
        await self._forwarder.relay_rest(call, answer, beginning)

    async def _settle(self, call: Call, ask: IdempotencyClaim, kept: Stored | None) -> None:
        """Keeps the answer, or frees the key. A store that is away does not take the answer from who waits for it."""
        try:
            if kept is None:
                await self._records.release(ask)
            elif not await self._records.finish(ask, kept):
                log.warning("lease ended before its answer")
        except DatabaseUnavailable as error:
            log.error("idempotency record not settled", error=repr(error))


def _content_type(headers: Sequence[tuple[bytes, bytes]]) -> str:
    return next((value.decode("latin-1") for name, value in headers if name == b"content-type"), "application/json")
