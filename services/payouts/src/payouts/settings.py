"""What the payouts service is told by its environment."""

from pydantic import Field

from common.settings import ServiceSettings


class Settings(ServiceSettings):
    """The common settings, and the payment gateway through which money leaves."""

    gateway_api_url: str
    gateway_secret_key: str = Field(min_length=1)
    # A call that takes longer counts as unanswered, in seconds. Four of them stay below the dispatcher's lease.
    gateway_timeout_seconds: float = Field(default=15.0, gt=0, le=20)
