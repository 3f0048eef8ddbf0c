"""Run one tool call, of a model or of another program, on behalf of a user, or of none."""

from collections.abc import Sequence
from typing import Final

from common.observability.logging import get_logger
from notifications.assistant.clients.marketplace import Marketplace, MarketplaceUnavailable
from notifications.assistant.domain.assistant_tools import (
    ImmediateResult,
    RejectedCall,
    error_text,
    needs_user,
    read_call,
    result_text,
    visible_result,
)
from notifications.assistant.domain.conversations import Requester, ToolCall
from notifications.assistant.domain.documentation import Section

log: Final = get_logger(__name__)


async def run_tool(
    marketplace: Marketplace,
    call: ToolCall,
    requester: Requester | None,
    *,
    sections: Sequence[Section] = (),
    note: str | None = None,
) -> str:
    """Return the result as a JSON document: `result`, or `error`. Without a requester, orders are an error.

    `sections` are the documentation; `note` precedes a result with texts of users.
    """
    if requester is None and needs_user(call):
        return error_text("this tool needs the access token of a user")
    match read_call(call, sections):
        case RejectedCall(reason):
            return error_text(reason)
        case ImmediateResult(result):
            return result_text(result)
        case lookup:
            try:
                found = await marketplace.read(lookup, requester)
            except MarketplaceUnavailable as error:
                log.warning("assistant lookup failed", tool=lookup.tool, error=str(error))
                return error_text("the marketplace is not responding right now")
            result = visible_result(lookup, found, requester)
            return error_text("not found") if result is None else result_text(result, note)
