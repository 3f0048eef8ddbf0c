"""Conversations of buyers and vendors (contract section 11.9)."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from common.auth.caller import THE_SERVICE, Caller
from common.auth.guards import one_of, permission
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from common.web.endpoint_table import Media
from common.web.endpoints import Endpoints
from common.web.http import CurrentCaller, dependencies_of, ok, or_not_found
from common.web.pages import RequestedPage, respond_page
from common.web.schemas import EmptyRequest
from common.web.uploads import read_image
from orders.dependencies import Dependencies
from orders.domain.conversation_errors import ConversationSubjectRequired
from orders.domain.conversations import OfferTerms, Participant
from orders.domain.images import message_image_name
from orders.queries.conversations import (
    find_conversation,
    find_image,
    find_message,
    find_message_of_offer,
    has_image,
    page_of_conversations,
    page_of_messages,
)
from orders.responses.conversations import ConversationImage, VendorConversation, VendorMessage
from orders.schemas.conversations import MakeOfferRequest, OpenConversationRequest, PostMessageRequest
from orders.use_cases.conversations.add_message_image import add_message_image
from orders.use_cases.conversations.block_conversation import block_conversation as block
from orders.use_cases.conversations.check_conversation_access import check_conversation_access
from orders.use_cases.conversations.find_participant import find_participant
from orders.use_cases.conversations.make_offer import make_offer as make
from orders.use_cases.conversations.open_conversation import open_conversation as open_or_find
from orders.use_cases.conversations.post_message import post_message as post
from orders.use_cases.conversations.read_conversation import read_conversation as read
from orders.use_cases.conversations.unblock_conversation import unblock_conversation as unblock
from orders.use_cases.conversations.withdraw_offer import withdraw_offer as withdraw

endpoint = Endpoints("conversations")

CONVERSATIONS: Final = "/api/conversations"
ONE: Final = f"{CONVERSATIONS}/{{conversation_id}}"
_WEBP: Final = "image/webp"
PARTIES: Final = one_of("orders:place", "catalog:own")
READERS: Final = one_of("orders:place", "catalog:own", "disputes:prepare", "reports:decide")


@endpoint(
    "POST",
    CONVERSATIONS,
    id="conversations.open",
    returns=VendorConversation,
    status=201,
    responses={200: {"model": VendorConversation, "description": "There is a conversation about it already."}},
    allow=PARTIES,
)
async def open_conversation(request: Request, caller: CurrentCaller, body: OpenConversationRequest) -> Response:
    """Open the conversation about a product (as its buyer) or an order (as buyer or vendor), or return the one that
    exists.
    """
    if (body.product_id is None) == (body.order_id is None):
        raise ConversationSubjectRequired
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    conversation_id, is_new = await open_or_find(dependencies.database, caller, body.product_id, body.order_id, now=now)
    return await _respond(request, caller, conversation_id, 201 if is_new else 200)


@endpoint("GET", CONVERSATIONS, id="conversations.list", returns=list[VendorConversation], allow=READERS)
async def list_conversations(
    request: Request,
    caller: CurrentCaller,
    requested: RequestedPage,
    order_id: Annotated[UUID | None, Query(alias="orderId")] = None,
) -> Response:
    """Return the caller's conversations, the last opened first. With `orderId` the one about it, also for support."""
    dependencies = dependencies_of(request, Dependencies)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        page = await page_of_conversations(uow, requested, caller, order_id)
    return respond_page(request, page)


@endpoint("GET", ONE, id="conversations.get", returns=VendorConversation, allow=READERS)
async def get_conversation(request: Request, caller: CurrentCaller, conversation_id: UUID) -> Response:
    """Return a conversation to its parties; to support only through a dispute, a return or a report, and each read is
    recorded.
    """
    await _check_readable(request, caller, conversation_id)
    return await _respond(request, caller, conversation_id)


@endpoint("GET", f"{ONE}/messages", id="conversations.listMessages", returns=list[VendorMessage], allow=READERS)
async def list_messages(
    request: Request,
    caller: CurrentCaller,
    requested: RequestedPage,
    conversation_id: UUID,
) -> Response:
    """Return the messages, newest first. For support as `conversations.get`, and each read is recorded."""
    dependencies = dependencies_of(request, Dependencies)
    await _check_readable(request, caller, conversation_id)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        page = await page_of_messages(uow, requested, caller, conversation_id, dependencies.clock.now())
    return respond_page(request, page)


@endpoint("POST", f"{ONE}/messages", id="conversations.postMessage", returns=VendorMessage, status=201, allow=PARTIES)
async def post_message(
    request: Request, caller: CurrentCaller, conversation_id: UUID, body: PostMessageRequest
) -> Response:
    """Write to the other party, with an image that was added before. A number with as many digits as a delivery PIN is
    hidden, and `maskedReason` says so.
    """
    dependencies = dependencies_of(request, Dependencies)
    author = await _participant(request, caller, conversation_id)
    now = dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        message_id = await post(
            uow,
            author,
            body.text,
            image_id=body.image_id,
            pin_digits=dependencies.settings.delivery_pin_length,
            now=now,
        )
        message = await find_message(uow, caller, message_id, now)
    return ok(request, or_not_found(message), status=201)


@endpoint(
    "POST",
    f"{ONE}/images",
    id="conversations.addImage",
    returns=ConversationImage,
    status=201,
    allow=PARTIES,
    media=Media.IMAGE,
)
async def add_image(request: Request, caller: CurrentCaller, conversation_id: UUID) -> Response:
    """Add a JPEG, PNG or WebP of at most 5 MiB and 25 million pixels, and send it with a message within a day.

    It is stored re-encoded without metadata. A user adds at most 30 images an hour.
    """
    dependencies = dependencies_of(request, Dependencies)
    content = await read_image(request)
    author = await _participant(request, caller, conversation_id)
    stored = (await dependencies.image_processor.render(content)).image
    image_id = new_id()
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await add_message_image(uow, author, image_id, len(stored), now=dependencies.clock.now())
        image = await find_image(uow, image_id)
    # Outside of any transaction. A failed upload leaves a row that no message can name, because its id is unknown.
    await dependencies.media.put(message_image_name(image_id), stored)
    return ok(request, or_not_found(image), status=201)


@endpoint("GET", f"{ONE}/images/{{image_id}}", id="conversations.getImage", content=_WEBP, allow=READERS)
async def get_image(request: Request, caller: CurrentCaller, conversation_id: UUID, image_id: UUID) -> Response:
    """Return the image of a message, for readers of the conversation; it has no public address. Reads of support are
    recorded.
    """
    dependencies = dependencies_of(request, Dependencies)
    await _check_readable(request, caller, conversation_id)
    async with dependencies.database.unit_of_work(acting_as=caller) as uow:
        is_shown = await has_image(uow, caller, conversation_id, image_id)
    content = await dependencies.media.get(message_image_name(image_id)) if is_shown else None
    if content is None:
        raise NotFound
    return Response(content, headers={"Cache-Control": "private, no-store"}, media_type=_WEBP)


@endpoint(
    "POST",
    f"{ONE}/offers",
    id="conversations.makeOffer",
    returns=VendorMessage,
    status=201,
    allow=permission("catalog:own"),
)
async def make_offer(
    request: Request, caller: CurrentCaller, conversation_id: UUID, body: MakeOfferRequest
) -> Response:
    """Offer one of the vendor's products to the buyer at a price, in a message with `offer`. The buyer accepts it once,
    by a checkout or purchase with `offerId` in the item.
    """
    dependencies = dependencies_of(request, Dependencies)
    vendor = await _participant(request, caller, conversation_id)
    now = dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        message_id = await make(
            uow,
            vendor,
            OfferTerms(**body.model_dump()),
            pin_digits=dependencies.settings.delivery_pin_length,
            now=now,
        )
        message = await find_message(uow, caller, message_id, now)
    return ok(request, or_not_found(message), status=201)


@endpoint(
    "POST",
    f"{ONE}/offers/{{offer_id}}/withdraw",
    id="conversations.withdrawOffer",
    returns=VendorMessage,
    allow=permission("catalog:own"),
)
async def withdraw_offer(
    request: Request,
    caller: CurrentCaller,
    conversation_id: UUID,
    offer_id: UUID,
    body: EmptyRequest | None = None,
) -> Response:
    """Withdraw an open offer, as its vendor. 409 when it was accepted or has expired; repeating it has no further
    effect.
    """
    dependencies = dependencies_of(request, Dependencies)
    vendor = await _participant(request, caller, conversation_id)
    now = dependencies.clock.now()
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await withdraw(
            uow,
            vendor,
            offer_id,
            pin_digits=dependencies.settings.delivery_pin_length,
            now=now,
        )
        message = await find_message_of_offer(uow, caller, offer_id, now)
    return ok(request, or_not_found(message))


@endpoint("POST", f"{ONE}/read", id="conversations.read", returns=VendorConversation, allow=PARTIES)
async def read_conversation(
    request: Request, caller: CurrentCaller, conversation_id: UUID, body: EmptyRequest | None = None
) -> Response:
    """Mark all messages as read by the caller's side."""
    participant = await _participant(request, caller, conversation_id)
    async with dependencies_of(request, Dependencies).database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await read(uow, conversation_id, participant.side)
    return await _respond(request, caller, conversation_id)


@endpoint("POST", f"{ONE}/block", id="conversations.block", returns=VendorConversation, allow=PARTIES)
async def block_conversation(
    request: Request, caller: CurrentCaller, conversation_id: UUID, body: EmptyRequest | None = None
) -> Response:
    """Reject messages of the other party, in all conversations with it."""
    participant = await _participant(request, caller, conversation_id)
    async with dependencies_of(request, Dependencies).database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await block(uow, conversation_id, participant.side)
    return await _respond(request, caller, conversation_id)


@endpoint("DELETE", f"{ONE}/block", id="conversations.unblock", returns=VendorConversation, allow=PARTIES)
async def unblock_conversation(request: Request, caller: CurrentCaller, conversation_id: UUID) -> Response:
    """Accept messages of the other party again. A block of the other party stays."""
    participant = await _participant(request, caller, conversation_id)
    async with dependencies_of(request, Dependencies).database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await unblock(uow, conversation_id, participant.side)
    return await _respond(request, caller, conversation_id)


async def _participant(request: Request, caller: Caller, conversation_id: UUID) -> Participant:
    async with dependencies_of(request, Dependencies).database.unit_of_work(acting_as=caller) as uow:
        return await find_participant(uow, caller, conversation_id)


async def _check_readable(request: Request, caller: Caller, conversation_id: UUID) -> None:
    dependencies = dependencies_of(request, Dependencies)
    now = dependencies.clock.now()
    await check_conversation_access(dependencies.database, caller, conversation_id, now=now)


async def _respond(request: Request, caller: Caller, conversation_id: UUID, status: int = 200) -> Response:
    async with dependencies_of(request, Dependencies).database.unit_of_work(acting_as=caller) as uow:
        conversation = await find_conversation(uow, caller, conversation_id)
    return ok(request, or_not_found(conversation), status=status)
