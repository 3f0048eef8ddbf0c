"""What may be refused, and what may go wrong on the way to a person."""

from collections.abc import Iterable

from common.messaging.faults import NotYetKnown
from common.primitives.problems import (
    Conflict,
    InvalidParam,
    NotFound,
    RateLimited,
    StaleRevision,
    Unavailable,
    ValidationFailed,
)


class ContactUnknown(NotFound, NotYetKnown):
    """The user is not known here (yet): a consumer tries again by the ladder, a caller gets 404."""

    detail = "There is no such user."


class OrderUnknown(NotYetKnown):
    """News of an order came before the order itself; the ladder brings it again."""


class VendorUnknown(NotYetKnown):
    """News of a vendor came before the vendor itself; the ladder brings it again."""


class AlertUnheardOf(NotYetKnown):
    """An alert was cleared before it was raised; the ladder brings the clearing again."""


class ChannelNotConfigured(ValidationFailed):
    """Nothing is sent by this channel here (contract section 12)."""

    def __init__(self, channel: str, configured: Iterable[str]) -> None:
        reason = f"no provider is configured for {channel}; messages go by: {', '.join(sorted(configured))}"
        super().__init__(f"channel: {reason}", invalid_params=[InvalidParam("channel", reason)])


class AddressMissing(ValidationFailed):
    """The user is known, but has no address on this channel."""

    def __init__(self, channel: str) -> None:
        reason = "the user has no address on this channel"
        super().__init__(f"channel: {reason}", invalid_params=[InvalidParam("channel", reason)])


class NotificationIdTaken(Conflict):
    detail = "This notification id belongs to a notification of another user."


class DeliveryFault(Exception):
    """Why a message did not go out, in words that hold neither the message nor the address."""

    def __init__(self, provider: str, reason: str) -> None:
        super().__init__(f"{provider}: {reason}")
        self.provider, self.reason = provider, reason


class ProviderUnavailable(DeliveryFault):
    """The provider did not answer, or not for now: try again by the ladder."""


class ProviderTimeout(ProviderUnavailable):
    """The provider was asked and did not answer: it may have taken the message all the same."""


class ProviderRefused(DeliveryFault):
    """The provider will never take this message: no retry mends it."""


class DeviceGone(ProviderRefused):
    """The app was removed, or the browser took its permission back: the device is never reached again."""


class TooManyDevices(Conflict):
    """One more device than a person may have."""

    def __init__(self, devices_max: int) -> None:
        super().__init__(f"At most {devices_max} devices may be registered: remove one first.")


class PreferencesChanged(StaleRevision):
    detail = "The preferences were changed meanwhile: read them again."


class MessageUnderWay(Conflict):
    detail = "This message is on its way already."


class SecretOver(Conflict):
    detail = "The PIN or code of this message is used, replaced or too old: it is not sent again."


class RecipientGone(Conflict):
    detail = "The recipient of this message is gone."


class MessageUnknown(NotYetKnown):
    """News of a message came before we wrote down its provider's id of it; the ladder brings it again."""


class TooManyStreams(RateLimited):
    """One more open stream of the feed than a person may have in one process."""

    def __init__(self, streams_max: int) -> None:
        super().__init__(f"At most {streams_max} streams may be open: close one first.", headers={"Retry-After": "30"})


class WebhookUnknown(Exception):
    """A work item came without the row that was written with it."""


class TicketClosed(Conflict):
    detail = "This ticket was closed: open a new one."


class TicketChanged(StaleRevision):
    detail = "The ticket was changed meanwhile: read it again."


class TooManyAttachments(Conflict):
    detail = "The ticket has as many pictures as it can hold."


class OrderNotYours(ValidationFailed):
    """Unknown, or of other people: the two look the same."""

    def __init__(self) -> None:
        reason = "must be an order that you bought or sell"
        super().__init__(f"orderId: {reason}", invalid_params=[InvalidParam("orderId", reason)])


class AssigneeUnknown(ValidationFailed):
    def __init__(self) -> None:
        reason = "there is no such user"
        super().__init__(f"assigneeId: {reason}", invalid_params=[InvalidParam("assigneeId", reason)])


class AssigneeNotStaff(ValidationFailed):
    def __init__(self) -> None:
        reason = "this person handles no tickets"
        super().__init__(f"assigneeId: {reason}", invalid_params=[InvalidParam("assigneeId", reason)])


class AssistantUnavailable(Unavailable):
    """The assistant's provider did not answer, or not with what can be used. Says neither who it is nor what it said.

    `reason` is for our log, in words of our own. `is_outage`: whatever had been asked, it would have failed.
    """

    detail = "The assistant is not available for the moment. Try again."

    def __init__(
        self, reason: str, detail: str | None = None, *, retry_after_seconds: int = 10, is_outage: bool = False
    ) -> None:
        super().__init__(detail, retry_after_seconds=retry_after_seconds)
        self.reason, self.is_outage = reason, is_outage


class MessageBeingAnswered(Conflict):
    """Two messages at once in one conversation: the second is not taken, so that every reply has read what stands before it."""

    def __init__(self) -> None:
        super().__init__(
            "An earlier message of this conversation is being answered. Wait for its reply.",
            headers={"Retry-After": "2"},
        )


class TooManyQuestions(RateLimited):
    """One more message in work than a person may have, over all conversations."""

    def __init__(self, at_once_max: int) -> None:
        super().__init__(f"At most {at_once_max} messages are answered at once.", headers={"Retry-After": "5"})


class ConversationFull(Conflict):
    detail = "This conversation has reached its greatest length. Begin a new one."


class ConversationGone(NotFound):
    detail = "The conversation was removed while the reply was written."
