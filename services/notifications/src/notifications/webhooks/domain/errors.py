"""Expected errors of webhook endpoints."""

from collections.abc import Iterable

from common.primitives.problems import Conflict, InvalidParam, ValidationFailed


class UnknownEventTypes(ValidationFailed):
    """The types are not published, or not to this owner."""

    def __init__(self, unknown: Iterable[str]) -> None:
        reason = f"unknown event types: {', '.join(unknown)}"
        super().__init__(f"eventTypes: {reason}", invalid_params=[InvalidParam("eventTypes", reason)])


class TooManyWebhookEndpoints(Conflict):
    def __init__(self, endpoints_max: int) -> None:
        super().__init__(f"An owner has at most {endpoints_max} webhook endpoints: remove one first.")


class WebhookEndpointDisabled(Conflict):
    detail = "The webhook endpoint is disabled. Enable it first."


class TooManyEventsToReplay(ValidationFailed):
    def __init__(self, events_max: int) -> None:
        reason = f"more than {events_max} events: choose a later time"
        super().__init__(f"since: {reason}", invalid_params=[InvalidParam("since", reason)])
