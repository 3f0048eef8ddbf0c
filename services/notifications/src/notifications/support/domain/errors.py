"""Expected errors of support."""

from common.primitives.problems import Conflict, Forbidden, InvalidParam, StaleRevision, ValidationFailed


class WebhookUnknown(Exception):
    """A work item has no matching row."""


class TicketClosed(Conflict):
    detail = "The ticket is closed. Open a new one."


class OwnTicket(Forbidden):
    detail = "This is your own ticket. Its notes are for the staff who answer it."


class TicketChanged(StaleRevision):
    detail = "The ticket was changed in the meantime. Read it again."


class TooManyAttachments(Conflict):
    detail = "The ticket has the maximum number of images. Send further ones in a new ticket."


class OrderNotOwn(ValidationFailed):
    """The order is unknown or belongs to other users; both get the same response."""

    def __init__(self) -> None:
        reason = "must be an order that you bought or sell"
        super().__init__(f"orderId: {reason}", invalid_params=[InvalidParam("orderId", reason)])


class AssigneeUnknown(ValidationFailed):
    def __init__(self) -> None:
        reason = "there is no such user"
        super().__init__(f"assigneeId: {reason}", invalid_params=[InvalidParam("assigneeId", reason)])


class AssigneeNotStaff(ValidationFailed):
    def __init__(self) -> None:
        reason = "the user may not manage tickets"
        super().__init__(f"assigneeId: {reason}", invalid_params=[InvalidParam("assigneeId", reason)])
