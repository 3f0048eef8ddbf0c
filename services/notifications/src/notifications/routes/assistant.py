"""The assistant: messages and their replies, in one piece or word by word, and the caller's conversations."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import Caller
from common.auth.tokens import bearer_token
from common.observability.logging import get_logger
from common.primitives import problems
from common.primitives.problems import NotFound, Problem
from common.web.event_streams import PING, EventStream, event_bytes
from common.web.http import LIMIT_DEFAULT, CurrentCaller, Cursor, Limit, dependencies_of, guarded_router, ok, signed_in
from common.web.responses import answers
from notifications import queries
from notifications.dependencies import Dependencies
from notifications.schemas import STREAM_ANSWER, AskRequest, ConversationShape, MessageShape, ReplyShape
from notifications.use_cases.assistant.answer_turn import OnReply, Reply, answer_turn
from notifications.use_cases.assistant.open_turn import Turn, open_turn
from notifications.use_cases.assistant.remove_conversation import remove_conversation

log: Final = get_logger(__name__)

router = guarded_router(tags=["assistant"])

_ASKED: Final = answers(ReplyShape, 404, 409, 422, 429)


@router.post("/api/assistant/chat", responses=_ASKED)
@signed_in
async def chat(request: Request, caller: CurrentCaller, body: AskRequest) -> Response:
    """Asks the assistant and waits for the whole reply."""
    dependencies = dependencies_of(request, Dependencies)
    turn = await _open(dependencies, caller, body)
    reply = await _unless_client_disconnects(request, _answer(dependencies, request, turn, caller, _discard))
    return ok(
        request,
        {"conversationId": str(turn.conversation_id), "reply": reply.text, "provider": reply.provider},
    )


@router.post(
    "/api/assistant/stream", status_code=200, response_class=EventStream, responses={**_ASKED, 200: STREAM_ANSWER}
)
@signed_in
async def stream(request: Request, caller: CurrentCaller, body: AskRequest) -> Response:
    """Asks the assistant and gets the reply as it is written. A client that leaves ends the work; the turn is then not kept."""
    dependencies = dependencies_of(request, Dependencies)
    turn = await _open(dependencies, caller, body)
    # One event waits at most: a slow reader slows the model down instead of filling our memory.
    events: asyncio.Queue[bytes | None] = asyncio.Queue(maxsize=1)
    working = asyncio.create_task(_tell(events, dependencies, request, turn, caller))
    dependencies.assistant.at_work.add(working)
    working.add_done_callback(dependencies.assistant.at_work.discard)

    def leave() -> None:
        working.cancel()

    return EventStream(_events(events, dependencies.assistant.ping_seconds), on_end=leave)


@router.get("/api/assistant/conversations", responses={200: {"model": list[ConversationShape]}})
@signed_in
async def list_conversations(
    request: Request, caller: CurrentCaller, limit: Limit = LIMIT_DEFAULT, cursor: Cursor = None
) -> Response:
    """The caller's conversations, the youngest first."""
    dependencies = dependencies_of(request, Dependencies)
    scope = ["conversations", caller.id]
    after = None
    if cursor is not None:
        at, conversation_id = dependencies.cursors.open(scope, cursor)
        after = (datetime.fromisoformat(at), UUID(conversation_id))
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        rows = await queries.list_conversations(uow, caller.id, after, limit + 1)
    shown, has_more = rows[:limit], len(rows) > limit
    next_cursor = dependencies.cursors.sign(scope, [shown[-1]["createdAt"], shown[-1]["id"]]) if has_more else None
    return ok(request, shown, next_cursor=next_cursor, has_more=has_more, limit=limit)


@router.get(
    "/api/assistant/conversations/{conversation_id}/messages",
    responses={**answers(MessageShape, 404, 422), 200: {"model": list[MessageShape]}},
)
@signed_in
async def list_messages(
    request: Request,
    caller: CurrentCaller,
    conversation_id: UUID,
    limit: Limit = LIMIT_DEFAULT,
    cursor: Cursor = None,
) -> Response:
    """What was said in one of the caller's conversations, in order."""
    dependencies = dependencies_of(request, Dependencies)
    scope = ["conversation messages", conversation_id, caller.id]
    after: int = dependencies.cursors.open(scope, cursor)[0] if cursor is not None else 0
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        if await queries.count_messages(uow, conversation_id) is None:
            raise NotFound
        rows = await queries.list_messages(uow, conversation_id, after, limit + 1)
    positions = [row.pop("position") for row in rows]
    has_more = len(rows) > limit
    next_cursor = dependencies.cursors.sign(scope, [positions[limit - 1]]) if has_more else None
    return ok(request, rows[:limit], next_cursor=next_cursor, has_more=has_more, limit=limit)


@router.delete(
    "/api/assistant/conversations/{conversation_id}", status_code=204, responses={204: {"description": "Removed."}}
)
@signed_in
async def delete_conversation(request: Request, caller: CurrentCaller, conversation_id: UUID) -> Response:
    """Removes one of the caller's conversations with everything said in it."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await remove_conversation(uow, conversation_id)
    return Response(status_code=204)


async def _open(dependencies: Dependencies, caller: Caller, body: AskRequest) -> Turn:
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        return await open_turn(
            uow,
            caller.id,
            body.conversation_id,
            body.message,
            dependencies.assistant.limits,
            dependencies.clock.now(),
        )


async def _answer(dependencies: Dependencies, request: Request, turn: Turn, caller: Caller, say: OnReply) -> Reply:
    """Under the token of this request: it is used for the look-ups of this turn and kept nowhere."""
    token = bearer_token(request.headers.get("authorization")) or ""
    return await answer_turn(dependencies.assistant, turn, caller, token, say)


async def _discard(_: str) -> None:
    """A reply in one piece is told at its end."""


async def _unless_client_disconnects(request: Request, work: Coroutine[Any, Any, Reply]) -> Reply:
    """The result of the work, which is cancelled when nobody waits for it any more."""
    working = asyncio.create_task(work)

    async def watch() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        working.cancel()

    watching = asyncio.create_task(watch())
    try:
        return await working
    except asyncio.CancelledError:
        if watching.done():
            # Nobody reads it: the connection is gone.
            raise Problem("The client left.", status=499) from None
        working.cancel()
        raise
    finally:
        watching.cancel()


async def _tell(
    events: "asyncio.Queue[bytes | None]", dependencies: Dependencies, request: Request, turn: Turn, caller: Caller
) -> None:
    """Puts the events of a reply into the queue, and None at the end."""

    async def say(text: str) -> None:
        await events.put(event_bytes("token", {"text": text}))

    try:
        last = _done(turn, await _answer(dependencies, request, turn, caller, say))
    except Problem as problem:
        last = _error(request, problem)
    except Exception as error:
        log.error("unhandled exception", path=request.url.path, exc_info=error)
        last = _error(request, Problem())
    await events.put(last)
    await events.put(None)


async def _events(events: "asyncio.Queue[bytes | None]", ping_seconds: float) -> AsyncGenerator[bytes]:
    """What the queue holds, and pings while it holds nothing."""
    while True:
        try:
            async with asyncio.timeout(ping_seconds):
                event = await events.get()
        except TimeoutError:
            yield PING
            continue
        if event is None:
            return
        yield event


def _done(turn: Turn, reply: Reply) -> bytes:
    told: dict[str, Any] = {"conversationId": str(turn.conversation_id), "provider": reply.provider}
    if reply.used is not None:
        told["usage"] = {
            "promptTokens": reply.used.prompt_tokens,
            "completionTokens": reply.used.completion_tokens,
        }
    return event_bytes("done", told)


def _error(request: Request, problem: Problem) -> bytes:
    document = problems.render(
        problem,
        instance=request.url.path,
        request_id=request.state.request_id,
        base_url=request.app.state.http.base_url,
    )
    return event_bytes("error", msgspec.Raw(document))
