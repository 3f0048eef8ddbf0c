"""Open a conversation."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import THE_SERVICE, Caller
from common.database.unit_of_work import Database
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from orders.domain.conversation_errors import ConversationBlocked, TooManyConversations
from orders.domain.conversations import OPENED_MAX, OPENED_WINDOW, other_side, seconds_until_free
from orders.domain.errors import OwnVendor
from orders.domain.order_roles import is_own_vendor
from orders.store import conversations


async def open_conversation(
    database: Database, caller: Caller, product_id: UUID | None, order_id: UUID | None, *, now: datetime
) -> tuple[UUID, bool]:
    """Return the conversation about the product or the order, and whether it is new.

    A buyer opens one about a listed product, either party one about their order. Raises NotFound for what the caller
    does not see, OwnVendor and ConversationBlocked (403), TooManyConversations (429) and ErasureInProgress (409).
    """
    async with database.unit_of_work(acting_as=caller) as uow:
        if product_id is not None:
            existing = await conversations.find_conversation_id(uow, caller.id, product_id, None)
            parties = await conversations.find_parties_of_product(uow, product_id, caller.id)
        else:
            parties = None if order_id is None else await conversations.find_parties_of_order(uow, order_id)
            side = None if parties is None else parties.side_of(caller)
            existing = (
                None if side is None else await conversations.find_conversation_id(uow, caller.id, None, order_id)
            )
            parties = None if side is None else parties
    if existing is not None:
        return existing, False
    if parties is None:
        raise NotFound
    if product_id is not None and is_own_vendor(caller, parties.vendor_id, parties.vendor_owner_id):
        raise OwnVendor
    side = parties.side_of(caller)
    if side is None:
        raise NotFound
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await conversations.lock_author(uow, caller.id)
        if await conversations.is_blocked_by(uow, parties, other_side(side)):
            raise ConversationBlocked
        opened = await conversations.list_opened(uow, caller.id, OPENED_WINDOW, OPENED_MAX, now)
        if (seconds := seconds_until_free(opened, OPENED_MAX, OPENED_WINDOW, now)) is not None:
            raise TooManyConversations(seconds)
        conversation_id = new_id()
        if await conversations.record_conversation_if_new(
            uow, conversation_id, parties, product_id, order_id, caller.id, now
        ):
            return conversation_id, True
        existing = await conversations.find_conversation_id(uow, parties.buyer_id, product_id, order_id)
    if existing is None:
        raise AssertionError("a conversation conflicts with another one about the same subject only")
    return existing, False
