"""What the payments service is told by its environment."""

from typing import Annotated

from pydantic import Field, field_validator
from pydantic_settings import NoDecode

from common.settings import ServiceSettings


class Settings(ServiceSettings):
    """The payment gateway's address and secrets, and the origins that a payer may be sent back to."""

    gateway_api_url: str
    gateway_secret_key: str = ""
    gateway_secret_key_previous: str = ""
    allowed_origins: Annotated[tuple[str, ...], NoDecode] = ()
    webhooks_keep_days: int = Field(
        default=90,
        ge=7,
        description="Webhooks that are done with, and their bodies; longer than the gateway sends again",
    )

    @field_validator("allowed_origins", mode="before")
    @classmethod
    def split_origins(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        return tuple(part.strip() for part in value.split(",") if part.strip())

    @property
    def webhook_secrets(self) -> tuple[str, ...]:
        """Both valid while a rotation runs; none means that every webhook is refused (contract section 9)."""
        return tuple(key for key in (self.gateway_secret_key, self.gateway_secret_key_previous) if key)
