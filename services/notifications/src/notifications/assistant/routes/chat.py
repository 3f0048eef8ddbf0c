"""The assistant: chat, streamed chat, and the caller's conversations."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from typing import Final
from uuid import UUID

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import Caller
from common.auth.guards import SIGNED_IN
from common.auth.tokens import bearer_token
from common.observability.logging import get_logger
from common.primitives import problems
from common.primitives.problems import NotFound, Problem
from common.web.endpoint_table import KIB, Idempotency, Quota
from common.web.endpoints import Endpoints
from common.web.exception_handlers import problem_of
from common.web.http import CurrentCaller, dependencies_of, ok
from common.web.pages import RequestedPage, cursor_page, respond_page
from common.web.request_path import client_path
from notifications.assistant import queries
from notifications.assistant.responses import (
    STREAM_RESPONSE,
    AssistantDone,
    AssistantToken,
    ChatReply,
    Conversation,
    ConversationMessage,
    TokenUsage,
)
from notifications.assistant.schemas import ChatRequest
from notifications.assistant.use_cases.open_turn import Turn, open_turn
from notifications.assistant.use_cases.query_model import OnText
from notifications.assistant.use_cases.remove_conversation import remove_conversation
from notifications.assistant.use_cases.run_turn import Reply, run_turn
from notifications.dependencies import Dependencies
from notifications.streams.event_streams import PING, EventStream, event_bytes

log: Final = get_logger(__name__)

endpoint = Endpoints("assistant")

# An unstreamed reply sends no byte until its end, which AI_ANSWER_SECONDS bounds. A streamed one pings.
REPLY_SECONDS_MAX: Final = 80.0


@endpoint(
    "POST",
    "/api/assistant/chat",
    id="assistant.chat",
    returns=ChatReply,
    errors=(404,),
    allow=SIGNED_IN,
    quota=Quota.ASSISTANT,
    idempotency=Idempotency.IGNORED,
    body_bytes_max=64 * KIB,
    seconds_max=REPLY_SECONDS_MAX,
)
async def chat_with_assistant(request: Request, caller: CurrentCaller, body: ChatRequest) -> Response:
    """Send a message to the assistant and return the whole reply."""
    dependencies = dependencies_of(request, Dependencies)
    turn = await _open(dependencies, caller, body)
    reply = await _until_disconnect(request, _reply(dependencies, request, turn, caller, _discard))
    return ok(
        request,
        ChatReply(conversation_id=turn.conversation_id, reply=reply.text, provider=reply.provider),
    )


@endpoint(
    "POST",
    "/api/assistant/stream",
    id="assistant.stream",
    errors=(404,),
    responses={200: STREAM_RESPONSE},
    allow=SIGNED_IN,
    response_class=EventStream,
    quota=Quota.ASSISTANT,
    idempotency=Idempotency.IGNORED,
    body_bytes_max=64 * KIB,
)
async def stream_assistant_reply(request: Request, caller: CurrentCaller, body: ChatRequest) -> Response:
    """Send a message to the assistant and stream the reply. A disconnect cancels it; the turn is not saved."""
    dependencies = dependencies_of(request, Dependencies)
    turn = await _open(dependencies, caller, body)
    # The queue holds one event: a slow client slows the model down and costs no memory.
    events: asyncio.Queue[bytes | None] = asyncio.Queue(maxsize=1)
    reply = asyncio.create_task(_produce(events, dependencies, request, turn, caller))
    dependencies.assistant.running.add(reply)
    reply.add_done_callback(dependencies.assistant.running.discard)
    return EventStream(_events(events, dependencies.assistant.ping_seconds), on_end=lambda: _cancel(reply))


@endpoint(
    "GET", "/api/assistant/conversations", id="assistant.listConversations", returns=list[Conversation], allow=SIGNED_IN
)
async def list_conversations(request: Request, caller: CurrentCaller, requested: RequestedPage) -> Response:
    """Return the caller's conversations, newest first."""
    dependencies = dependencies_of(request, Dependencies)
    scope = ["conversations", caller.id]
    after = requested.time_position(scope)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        conversations = await queries.list_conversations(uow, caller.id, after, requested.limit + 1)
    page = cursor_page(
        requested,
        scope,
        conversations,
        position_of=lambda conversation: (conversation.created_at, conversation.id),
        item_of=lambda conversation: conversation,
    )
    return respond_page(request, page)


@endpoint(
    "GET",
    "/api/assistant/conversations/{conversation_id}/messages",
    id="assistant.listMessages",
    returns=list[ConversationMessage],
    allow=SIGNED_IN,
)
async def list_messages(
    request: Request,
    caller: CurrentCaller,
    requested: RequestedPage,
    conversation_id: UUID,
) -> Response:
    """Return the messages of one of the caller's conversations, in order."""
    dependencies = dependencies_of(request, Dependencies)
    scope = ["conversation messages", conversation_id, caller.id]
    after: int = (requested.open(scope) or [0])[0]
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        if await queries.count_messages(uow, conversation_id) is None:
            raise NotFound
        messages = await queries.list_messages(uow, conversation_id, after, requested.limit + 1)
    page = cursor_page(
        requested,
        scope,
        messages,
        position_of=lambda message: message[:1],
        item_of=lambda message: message[1],
    )
    return respond_page(request, page)


@endpoint(
    "DELETE",
    "/api/assistant/conversations/{conversation_id}",
    id="assistant.deleteConversation",
    status=204,
    allow=SIGNED_IN,
)
async def delete_conversation(request: Request, caller: CurrentCaller, conversation_id: UUID) -> Response:
    """Delete one of the caller's conversations with its messages."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        await remove_conversation(uow, conversation_id)
    return Response(status_code=204)


async def _open(dependencies: Dependencies, caller: Caller, body: ChatRequest) -> Turn:
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        return await open_turn(
            uow,
            caller.id,
            body.conversation_id,
            body.message,
            dependencies.assistant.limits,
            dependencies.clock.now(),
        )


async def _reply(dependencies: Dependencies, request: Request, turn: Turn, caller: Caller, on_text: OnText) -> Reply:
    """Reply under the token of this request, which is used for the lookups of this turn only."""
    token = bearer_token(request.headers.get("authorization")) or ""
    return await run_turn(dependencies.assistant, turn, caller, token, on_text)


async def _discard(_: str) -> None:
    """Ignore the pieces of a reply that is returned whole."""


async def _until_disconnect(request: Request, work: Awaitable[Reply]) -> Reply:
    """Return the result of the work; cancel it when the client disconnects."""
    working = asyncio.ensure_future(work)

    async def watch() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        working.cancel()

    watching = asyncio.create_task(watch())
    try:
        return await working
    except asyncio.CancelledError:
        if watching.done():
            raise Problem("The client disconnected.", status=499) from None
        working.cancel()
        raise
    finally:
        watching.cancel()


def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()


async def _produce(
    events: "asyncio.Queue[bytes | None]", dependencies: Dependencies, request: Request, turn: Turn, caller: Caller
) -> None:
    """Put the events of a reply into the queue, then None."""

    async def send(text: str) -> None:
        await events.put(event_bytes("token", AssistantToken(text=text)))

    try:
        last = _done_event(turn, await _reply(dependencies, request, turn, caller, send))
    except Exception as error:
        if (problem := problem_of(error)) is None:
            log.error("unhandled exception", path=request.url.path, exc_info=error)
        last = _error_event(request, problem or Problem())
    await events.put(last)
    await events.put(None)


async def _events(events: "asyncio.Queue[bytes | None]", ping_seconds: float) -> AsyncGenerator[bytes]:
    """Yield the queued events, and pings while the queue is empty."""
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


def _done_event(turn: Turn, reply: Reply) -> bytes:
    usage = None
    if reply.usage is not None:
        usage = TokenUsage(prompt_tokens=reply.usage.prompt_tokens, completion_tokens=reply.usage.completion_tokens)
    done = AssistantDone(conversation_id=turn.conversation_id, provider=reply.provider, usage=usage)
    return event_bytes("done", done)


def _error_event(request: Request, problem: Problem) -> bytes:
    document = problems.render(
        problem,
        instance=client_path(request),
        request_id=request.state.request_id,
        base_url=request.app.state.http.base_url,
    )
    return event_bytes("error", msgspec.Raw(document))
