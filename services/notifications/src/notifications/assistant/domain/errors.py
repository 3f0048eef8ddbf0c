"""Expected errors of the assistant."""

from common.primitives.problems import Conflict, NotFound, RateLimited, Unavailable


class AssistantUnavailable(Unavailable):
    """The assistant's provider failed. The response names neither the provider nor its reply.

    `reason` is for our log. `is_outage` means that any request would have failed.
    """

    detail = "The assistant is temporarily unavailable. Try again."

    def __init__(
        self, reason: str, detail: str | None = None, *, retry_after_seconds: int = 10, is_outage: bool = False
    ) -> None:
        super().__init__(detail, retry_after_seconds=retry_after_seconds)
        self.reason, self.is_outage = reason, is_outage


class ConversationBusy(Conflict):
    """A message arrived while an earlier one of its conversation is in progress. Every reply needs the messages before
    it.
    """

    def __init__(self) -> None:
        super().__init__(
            "An earlier message of this conversation is being answered. Wait for its reply.",
            headers={"Retry-After": "2"},
        )


class TooManyConcurrentMessages(RateLimited):
    """The user has ASSISTANT_AT_ONCE_MAX messages in progress, over all conversations."""

    def __init__(self, concurrent_max: int) -> None:
        super().__init__(
            f"At most {concurrent_max} messages are answered at once. Wait for a reply.", headers={"Retry-After": "5"}
        )


class ConversationFull(Conflict):
    detail = "The conversation has reached its maximum length. Start a new one."


class ConversationDeleted(NotFound):
    detail = "The conversation was deleted during the reply."
