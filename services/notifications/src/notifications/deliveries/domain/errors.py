"""Expected errors of deliveries and faults of providers."""

from collections.abc import Iterable

from common.messaging.faults import NotYetKnown
from common.primitives.problems import Conflict, InvalidParam, NotFound, RateLimited, StaleRevision, ValidationFailed


class ContactUnknown(NotFound, NotYetKnown):
    """The user has not been received yet: a consumer retries, a caller gets 404."""

    detail = "There is no such user."


class OrderUnknown(NotYetKnown):
    """An event of an order arrived before the order itself; it is retried."""


class VendorUnknown(NotYetKnown):
    """An event of a vendor arrived before the vendor itself; it is retried."""


class AlertNotRaisedYet(NotYetKnown):
    """A clearing arrived before its alert; it is retried."""


class AlertClosed(Conflict):
    detail = "The alert is closed. A note can still be added."


class AlertNotDiscardable(Conflict):
    detail = "This alert closes when its cause ends. Only an alert about messages that were not delivered is discarded."


class DrillInProduction(Conflict):
    detail = "A drill plants faults. It runs with ENVIRONMENT=staging or development only."


class DrillRunning(Conflict):
    detail = "Another drill runs. Wait for its end, or end it: campusctl drill --undo"


class DrillEnded(Conflict):
    detail = "The drill ended before. Its times stay as they were recorded."


class AssigneeNotOnCall(ValidationFailed):
    """The assignee is unknown, or may not acknowledge alerts."""

    def __init__(self) -> None:
        reason = "must be a member of staff who may acknowledge alerts"
        super().__init__(f"assigneeId: {reason}", invalid_params=[InvalidParam("assigneeId", reason)])


class ChannelNotConfigured(ValidationFailed):
    """The channel has no provider in this deployment (contract section 12)."""

    def __init__(self, channel: str, configured: Iterable[str]) -> None:
        reason = f"no provider is configured for {channel}; messages go by: {', '.join(sorted(configured))}"
        super().__init__(f"channel: {reason}", invalid_params=[InvalidParam("channel", reason)])


class AddressMissing(ValidationFailed):
    """The user has no address on the channel."""

    def __init__(self, channel: str) -> None:
        reason = "the user has no address on this channel"
        super().__init__(f"channel: {reason}", invalid_params=[InvalidParam("channel", reason)])


class NotificationIdConflict(Conflict):
    detail = "This notification id belongs to another user's notification. Use a new id."


class DeliveryError(Exception):
    """A failed call of a provider. The reason contains neither message nor address."""

    def __init__(self, provider: str, reason: str) -> None:
        super().__init__(f"{provider}: {reason}")
        self.provider, self.reason = provider, reason


class ProviderUnavailable(DeliveryError):
    """A transient failure; the work item is retried. `retry_after_seconds` is the provider's Retry-After."""

    def __init__(self, provider: str, reason: str, *, retry_after_seconds: int | None = None) -> None:
        super().__init__(provider, reason)
        self.retry_after_seconds = retry_after_seconds


class ProviderTimeout(ProviderUnavailable):
    """The request was sent without a response: the provider may have accepted the message."""


class AccountFault(ProviderUnavailable):
    """The provider rejects every message of our account until an operator acts: its key, payment, sender or policy."""


class ProviderRejected(DeliveryError):
    """A permanent rejection; retries cannot succeed."""


class RecipientUnreachable(ProviderRejected):
    """This recipient cannot receive messages of this provider. Others can."""


class FreeTextRejected(ProviderRejected):
    """The messaging app accepts only an approved template for this recipient now."""


class DeviceUnregistered(ProviderRejected):
    """The app was uninstalled or the browser permission revoked."""


class DeviceOfOtherAccount(ProviderRejected):
    """The device registered with another account of the provider. It stays, and an operator is alerted."""


class DeviceOfAnotherAccount(Conflict):
    detail = "This device is registered for another account. Remove it there, or register a new push token."


class TooManyDevices(Conflict):
    """The user has DEVICES_MAX registered devices."""

    def __init__(self, devices_max: int) -> None:
        super().__init__(f"At most {devices_max} devices may be registered: remove one first.")


class PreferencesChanged(StaleRevision):
    detail = "The preferences were changed in the meantime. Read them again."


class DeliveryInProgress(Conflict):
    detail = "The delivery is in progress. Wait for its outcome."


class SecretExpired(Conflict):
    detail = "The PIN or code of this message is used, replaced or expired. Request a new one."


class RecipientDeleted(Conflict):
    detail = "The user was erased or the device removed. The message cannot be sent again."


class MessageUnknown(NotYetKnown):
    """A delivery status arrived before the provider's message id was recorded; it is retried."""


class TooManyStreams(RateLimited):
    """The user has FEED_STREAMS_MAX open streams in this process."""

    def __init__(self, streams_max: int) -> None:
        super().__init__(f"At most {streams_max} streams may be open: close one first.", headers={"Retry-After": "30"})
